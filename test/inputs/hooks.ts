import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { onTestFinished } from 'vitest'
import { dialects } from '../../src/clients/hook/dialects.ts'
import { runHook } from '../../src/clients/hook/run.ts'
import { openDisk } from '../../src/space/open.ts'
import { corpora, expectWhole, parsed } from '../helpers/corpora.ts'
import { Sleeper } from '../helpers/sleeper.ts'
import { tempDir, tempSpace, testSettings } from '../helpers/temp.ts'
import { type Ended, enter } from './command-line.ts'
import { inputsFrom, sample } from './generate.ts'
import { Judge } from './judge.ts'

const program = fileURLToPath(new URL('../../dist/hook.sh', import.meta.url))
const inputsPerSpace = 500
/** A letter comes with every so many. */
const lettersEvery = 4

const clients = Object.keys(dialects)
/** Events that answer at once; those that wait in the background, or start something that does, are left out. */
const events = [
  'UserPromptSubmit',
  'PostToolUse',
  'PreToolUse',
  'SubagentStop',
  'PreCompact',
  'BeforeAgent',
  'BeforeTool',
  'AfterTool',
  'chat.message',
  'tool.execute.after',
]

/** What a client tells its hooks. */
async function told() {
  const { text, json, document } = inputsFrom(await corpora(), fc.jsonValue({ maxDepth: 2 }))
  const fields = fc.record(
    {
      session_id: fc.oneof(
        { weight: 5, arbitrary: fc.constantFrom('one', 'two') },
        { weight: 1, arbitrary: json },
      ),
      ...{ prompt: fc.oneof(text, json), tool_name: fc.oneof(text, json), tool_input: json, cwd: text },
      ...{ agent_id: json, trigger: text, hook_event_name: text, transcript_path: text },
    },
    { requiredKeys: ['session_id'] },
  )
  return fc.record({
    client: fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...clients) }, { weight: 1, arbitrary: text }),
    event: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...events) },
      { weight: 1, arbitrary: text.filter((one) => !/Rewake|Stop|Start/.test(one)) },
    ),
    input: fc.oneof(
      { weight: 4, arbitrary: fields.map((one) => JSON.stringify(one)) },
      { weight: 1, arbitrary: document },
    ),
    letter: text,
  })
}

/** Events of clients, one after another in this process. */
export async function hooks(count: number, seed: number, progress: (judge: Judge) => void): Promise<Judge> {
  const judge = new Judge('hooks')
  const event = await told()
  // The process of the client, which is not this one.
  const client = new Sleeper()
  onTestFinished(() => client.kill())
  for (let done = 0; done < count; done += inputsPerSpace) {
    const home = tempDir()
    const dir = join(home, 'space')
    await using space = await openDisk({ dir, settings: testSettings })
    const person = await space.mailbox('user')
    const inside = enter({ HOME: home, MAILBOX_SPACE: dir, MAILBOX_HOOK_INPUT: '' }, home)
    try {
      for (const [at, one] of sample(event, Math.min(inputsPerSpace, count - done), seed + done).entries()) {
        if (at % lettersEvery === 0) await send(person, one.letter)
        process.env['MAILBOX_HOOK_INPUT'] = one.input.replaceAll('\0', '').toWellFormed()
        const hook = {
          client: one.client,
          event: one.event,
          space: dir,
          pid: client.pid,
          argsFor: () => ['-e', '0'],
        }
        judgeHook(await inside.call(() => runHook(hook)), one, judge)
        progress(judge)
      }
    } finally {
      inside.leave()
    }
    judgeLog(dir, judge)
  }
  return judge
}

/** The same, each in the processes that a client would start. */
export async function hookProcesses(
  count: number,
  seed: number,
  progress: (judge: Judge) => void,
): Promise<Judge> {
  const judge = new Judge('processes of hooks')
  const space = await tempSpace()
  const client = new Sleeper()
  onTestFinished(() => client.kill())
  const env = { CLAUDE_PID: String(client.pid), MAILBOX_SPACE: space.dir, CLAUDE_PROJECT_DIR: '' }
  const person = await space.mailbox('user')
  for (const [at, one] of sample(await told(), count, seed).entries()) {
    if (at % lettersEvery === 0) await send(person, one.letter)
    const event = events.slice(0, 5)[at % 5]!
    const ran = spawnSync(program, ['claude', event], {
      ...{ input: one.input.toWellFormed(), encoding: 'utf8', timeout: 60_000 },
      env: { ...process.env, ...env },
    })
    judgeHook({ ...ran, code: ran.status }, one, judge)
    progress(judge)
  }
  judgeLog(space.dir, judge)
  return judge
}

/** A letter that is refused is none. */
const send = (person: { send(input: object): Promise<unknown> }, body: string) =>
  person.send({ to: 'all', subject: body.slice(0, 400), body }).catch(() => undefined)

/** A hook never fails, and what it says is JSON, or a text, in which every fence is whole. */
function judgeHook({ code, stdout, stderr }: Ended, input: object, judge: Judge): void {
  judge.accept()
  if (code !== 0 || stderr !== '') judge.fail('untyped', `exit ${code}: ${stderr.slice(0, 300)}`, input)
  const said = parsed(stdout)
  try {
    if (stdout !== '') expectWhole(JSON.stringify(said).includes('with the code') ? textIn(said) : '')
  } catch (error) {
    judge.fail('changed', `a fence is broken: ${(error as Error).message.slice(0, 200)}`, { input, stdout })
  }
}

/** The longest text in what a hook said: what goes into the context. */
function textIn(said: unknown): string {
  if (typeof said === 'string') return said
  if (said === null || typeof said !== 'object') return ''
  return Object.values(said)
    .map(textIn)
    .reduce((longest, one) => (one.length > longest.length ? one : longest), '')
}

/** What went wrong in a hook is in its log, not in the client: nothing may be of our making. */
function judgeLog(dir: string, judge: Judge): void {
  let log = ''
  try {
    log = readFileSync(join(dir, 'hooks.log'), 'utf8')
  } catch {
    // Nothing went wrong.
  }
  for (const line of log
    .split('\n')
    .filter((one) => /TypeError|RangeError|ReferenceError|internal/.test(one)))
    judge.fail('untyped', line.slice(0, 300), {})
}
