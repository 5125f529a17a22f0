import { expect, it } from 'vitest'
import type { Mailbox } from '../../../src/mod.ts'
import { tempSpace } from '../../helpers/temp.ts'
import { anthropic } from './anthropic.ts'
import { clientAtHome, spaceDirOf } from './at-home.ts'
import { type ClientHome, clientHome } from './claude.ts'
import { clientTimeoutMs, isAside } from './mail-stage.ts'
import { openai } from './openai.ts'
import { type Dialect, type ScriptedModel, scriptedModel } from './scripted-model.ts'

/** A model that answers its first request only when it may, and has nothing to say. */
async function patientModel(api: Dialect) {
  let mayAnswer = () => {}
  const isReady = new Promise<void>((resolve) => (mayAnswer = resolve))
  const model = await scriptedModel(api, async (request) => {
    if (!isAside(request)) await isReady
    return { text: 'Done.' }
  })
  return { model, mayAnswer }
}

const requestsOf = ({ requests }: ScriptedModel) => requests.filter((request) => !isAside(request))

/** Somebody who writes to whoever has just begun its first turn. */
async function writer(home: ClientHome, model: ScriptedModel): Promise<Mailbox> {
  await model.until('FIRST-PROMPT')
  return (await tempSpace({ dir: spaceDirOf(home) })).mailbox('ada')
}

/** Mail that asks for nothing. */
async function sendLetters(ada: Mailbox, to: string, count: number): Promise<void> {
  for (let n = 1; n <= count; n++)
    await ada.send({ to: n % 2 ? to : 'all', subject: `LETTER-${n}`, body: '-' })
}

const streaming = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']

/** A turn of Claude Code during which letters come; more come while it is idle, and at last a question. */
async function claudeWith(letters: number): Promise<ScriptedModel> {
  const home = clientHome()
  const { model, mayAnswer } = await patientModel(anthropic)
  const claude = clientAtHome('claude', home, model.url).start(...streaming)
  claude.prompt('FIRST-PROMPT')
  const ada = await writer(home, model)
  await sendLetters(ada, 'claude-1', letters)
  mayAnswer()
  await claude.said('"type":"result"')
  await sendLetters(ada, 'claude-1', letters)
  await ada.send({ to: 'claude-1', subject: 'QUESTION', body: '?', awaitingResponse: true })
  await model.until('QUESTION')
  claude.end()
  expect(await claude.exit).toBe(0)
  return model
}

it(
  'five letters that ask for nothing cost Claude Code no request, at work or idle',
  async () => {
    const [without, among] = [await claudeWith(0), await claudeWith(5)]
    expect(requestsOf(without)).toHaveLength(2)
    expect(requestsOf(among)).toHaveLength(2)
    // They came with the prompt that announced the question.
    expect(requestsOf(among)[1]!.text).toContain('# LETTER-5')
  },
  clientTimeoutMs,
)

it(
  'five letters that ask for nothing cost Codex no request',
  async () => {
    const counts: number[] = []
    for (const letters of [0, 5]) {
      const home = clientHome()
      const { model, mayAnswer } = await patientModel(openai)
      const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-hook-trust', 'FIRST-PROMPT']
      const codex = clientAtHome('codex', home, model.url).start(...args)
      codex.end()
      await sendLetters(await writer(home, model), 'codex-1', letters)
      mayAnswer()
      expect(await codex.exit).toBe(0)
      counts.push(requestsOf(model).length)
    }
    expect(counts).toEqual([1, 1])
  },
  clientTimeoutMs,
)

it(
  'mail that a killed Claude Code was shown is told to the next one under the name, once',
  async () => {
    const home = clientHome()
    const model = await scriptedModel(anthropic, async (request) => {
      // The first one never gets beyond its mail.
      if (request.text.includes('FIRST-PROMPT') && request.text.includes('LOST-MAIL'))
        return new Promise<never>(() => {})
      if (request.text.includes('FIRST-PROMPT')) {
        await mailIsThere
        return { calls: [{ name: 'mcp__mailbox__agents', input: {} }] }
      }
      return { text: 'Done.' }
    })
    let mailHasCome = () => {}
    const mailIsThere = new Promise<void>((resolve) => (mailHasCome = resolve))
    const client = clientAtHome('claude', home, model.url, { MAILBOX_AGENT: 'bea' })
    const start = (prompt: string) => {
      const claude = client.start('-p', prompt, '--allowedTools', 'mcp__mailbox')
      claude.end()
      return claude
    }
    const first = start('FIRST-PROMPT')
    const ada = await writer(home, model)
    await ada.send({ to: 'bea', subject: 'LOST-MAIL', body: 'the body', priority: 'high' })
    mailHasCome()
    await model.until('LOST-MAIL')
    first.process.kill('SIGKILL')
    await first.exit
    expect(await start('SECOND-PROMPT').exit).toBe(0)
    const second = await model.until('SECOND-PROMPT')
    expect(second.text).toContain('## Shown to your earlier run')
    expect(second.text).toContain('LOST-MAIL')
    expect(await start('THIRD-PROMPT').exit).toBe(0)
    expect((await model.until('THIRD-PROMPT')).text).not.toContain('LOST-MAIL')
  },
  clientTimeoutMs,
)
