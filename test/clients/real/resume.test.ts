import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'
import type { Client } from '../../../src/model/client.ts'
import { agentSdk, clientProgram } from '../../helpers/install.ts'
import { inStorm } from '../../helpers/storm.ts'
import { tempSpace } from '../../helpers/temp.ts'
import { anthropic } from './anthropic.ts'
import { type ClientAtHome, clientAtHome, spaceDirOf } from './at-home.ts'
import { type ClientHome, clientHome, type RunningClient } from './claude.ts'
import { geminiApi } from './gemini-api.ts'
import { clientTimeoutMs, isAside } from './mail-stage.ts'
import { openai } from './openai.ts'
import { postTo, promptOver, serveWords } from './opencode.ts'
import { type Dialect, scriptedModel } from './scripted-model.ts'
import { openTerminal } from './terminal.ts'

interface Session {
  home: ClientHome
  client: ClientAtHome
  id: string
  /** What to say to it: in words of its own, because those of before are in the session as well. */
  prompt: string
  /** Settles when the model has read the mail. */
  isRead: Promise<unknown>
}

/** A way to resume a session; ends when that is over. */
type Resume = (session: Session) => Promise<unknown>

/** Runs it to its end. */
async function run(client: RunningClient): Promise<string> {
  client.end()
  expect(await client.exit, client.stderr()).toBe(0)
  return client.stdout()
}

/** Runs it in a terminal until the model has read the mail. */
async function inTerminal({ home, client, prompt, isRead }: Session, ...args: string[]): Promise<void> {
  const terminal = openTerminal(client.words(...args), {
    cwd: home.project,
    env: client.env,
    temp: home.temp,
  })
  await terminal.shows(/❯|›|Type your message|ctrl\+p commands/)
  await terminal.type(prompt)
  await isRead
  await terminal.close()
}

/** Runs it as a program of the SDK does, with the settings of its user. */
async function inSdk({ home, client, id, prompt }: Session): Promise<void> {
  const { query } = (await import(pathToFileURL(join(agentSdk(), 'sdk.mjs')).href)) as {
    query: (input: { prompt: string; options: object }) => AsyncIterable<object>
  }
  const options = {
    ...{ cwd: home.project, env: client.env, resume: id, settingSources: ['user'] },
    pathToClaudeCodeExecutable: clientProgram('claude'),
  }
  for await (const _ of query({ prompt, options }));
}

/** Runs it as a server, and ends that as its user does. */
async function inServer({ client, id, prompt }: Session): Promise<void> {
  const server = client.start(...serveWords)
  await promptOver(await postTo(server), id, prompt)
  server.process.kill('SIGTERM')
  await server.exit
}

async function streaming({ client, id, prompt, isRead }: Session): Promise<void> {
  const format = ['--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']
  const running = client.start('-p', '--resume', id, ...format)
  running.prompt(prompt)
  await isRead
  await run(running)
}

const trusting = '--dangerously-bypass-hook-trust'
const exec = ['exec', '--json', '--skip-git-repo-check', trusting]

const ways: Record<Client, { api: Dialect; first: string[]; id: RegExp; resume: Record<string, Resume> }> = {
  claude: {
    api: anthropic,
    first: ['-p', 'FIRST-PROMPT', '--output-format', 'json'],
    id: /"session_id":"([^"]+)"/,
    resume: {
      'by its id': ({ client, id, prompt }) => run(client.start('-p', prompt, '--resume', id)),
      // It starts with another id, and changes it later.
      'the last one': ({ client, prompt }) => run(client.start('-p', prompt, '--continue')),
      'as a stream': streaming,
      'in the SDK': inSdk,
      'in a terminal': (session) =>
        inTerminal(session, '--permission-mode', 'default', '--resume', session.id),
    },
  },
  codex: {
    api: openai,
    first: [...exec, 'FIRST-PROMPT'],
    id: /"thread_id":"([^"]+)"/,
    resume: {
      'by its id': ({ client, id, prompt }) => run(client.start(...exec, 'resume', id, prompt)),
      'the last one': ({ client, prompt }) => run(client.start(...exec, 'resume', '--last', prompt)),
      'in a terminal': (session) => inTerminal(session, trusting, 'resume', session.id),
    },
  },
  gemini: {
    api: geminiApi,
    first: ['-p', 'FIRST-PROMPT', '--output-format', 'json'],
    id: /"session_id": "([^"]+)"/,
    resume: {
      'by its id': ({ client, id, prompt }) => run(client.start('-p', prompt, '--resume', id)),
      'by its number': ({ client, prompt }) => run(client.start('-p', prompt, '--resume', '1')),
      'the last one': ({ client, prompt }) => run(client.start('-p', prompt, '--resume', 'latest')),
      'in a terminal': (session) => inTerminal(session, '--resume', 'latest'),
    },
  },
  opencode: {
    api: openai,
    first: ['run', '--format', 'json', 'FIRST-PROMPT'],
    id: /"sessionID":"([^"]+)"/,
    resume: {
      'by its id': ({ client, id, prompt }) => run(client.start('run', '--session', id, prompt)),
      'the last one': ({ client, prompt }) => run(client.start('run', '--continue', prompt)),
      'in a server': inServer,
      'in a terminal': (session) => inTerminal(session, '--session', session.id),
    },
  },
}

/** All of them in `npm run storm`; each is a start of the client, which takes seconds. */
const waysTried = inStorm(Number.POSITIVE_INFINITY, 2)

it.each(Object.entries(ways))(
  'a session of %s is told who it is when it is the first ever, and keeps its name and its mail when it is resumed',
  async (name, { api, first, id: idPattern, resume }) => {
    const home = clientHome()
    let mayAnswer = () => {}
    const mailIsThere = new Promise<void>((resolve) => (mayAnswer = resolve))
    const model = await scriptedModel(api, async (request) => {
      if (!isAside(request)) await mailIsThere
      return { text: 'Done.' }
    })
    const client = clientAtHome(name as Client, home, model.url)
    const running = client.start(...first)
    running.end()
    // Its home was empty but for what `init` has written.
    expect((await model.until('FIRST-PROMPT')).text).toBeDefined()
    const agent = `${name}-1`
    expect((await model.until(`You are \`${agent}\` in a mailbox`)).text).toContain('FIRST-PROMPT')
    const space = await tempSpace({ dir: spaceDirOf(home) })
    const ada = await space.mailbox('ada')
    // One without any mail leaves for good when its session ends.
    await ada.send({ to: agent, subject: 'Keep me', body: '-', priority: 'low' })
    mayAnswer()
    const id = idPattern.exec(await run(running))?.[1] ?? ''
    expect(id).not.toBe('')
    // Nothing of it is ever left out of the conversation.
    const said = ['FIRST-PROMPT']
    for (const [way, start] of Object.entries(resume).slice(0, waysTried)) {
      const mark = `MAIL ${way}`
      await ada.send({ to: agent, subject: mark, body: '-' })
      const prompt = `GO-ON ${way}`
      await start({ home, client, id, prompt, isRead: model.until(mark) })
      const { text } = await model.until(mark)
      said.push(prompt, mark)
      for (const words of said) expect(text, way).toContain(words)
      const known = (await space.agents()).filter(({ session }) => session.client === name)
      expect(
        known.filter(({ gone }) => gone !== 'left').map((one) => one.name),
        way,
      ).toEqual([agent])
    }
  },
  clientTimeoutMs,
)
