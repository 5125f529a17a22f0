import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { type AgentMailState, askForHelp, type MailboxHooks, mailboxHooks } from '../../../src/mod.ts'
import { agentSdk, clientProgram } from '../../helpers/install.ts'
import { anthropic } from './anthropic.ts'
import { claudeEnv, cli } from './claude.ts'
import {
  clientTimeoutMs,
  interruptedTurn,
  isAside,
  type MailStage,
  mailStage,
  timesIn,
} from './mail-stage.ts'
import { type Script, type ScriptedModel, scriptedModel } from './scripted-model.ts'

interface SdkMessage {
  type: string
  subtype?: string
}

type Query = (input: { prompt: AsyncIterable<object>; options: object }) => AsyncIterable<SdkMessage>

async function sdk(): Promise<Query> {
  const { query } = (await import(pathToFileURL(join(agentSdk(), 'sdk.mjs')).href)) as { query: Query }
  return query
}

const userMessage = (content: string) => ({
  ...{ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' },
})

/** Runs a session with these prompts, each after the turn before; gives everything it said. */
async function converse(
  { home, space }: MailStage,
  model: ScriptedModel,
  hooks: MailboxHooks,
  prompts: readonly ((() => Promise<void>) | string)[],
): Promise<SdkMessage[]> {
  const query = await sdk()
  const said: SdkMessage[] = []
  let turnIsOver = () => {}
  async function* input() {
    for (const prompt of prompts) {
      if (typeof prompt !== 'string') {
        await prompt()
        continue
      }
      const turn = new Promise<void>((resolve) => (turnIsOver = resolve))
      yield userMessage(prompt)
      await turn
    }
  }
  const options = {
    ...{ cwd: home.project, env: claudeEnv({ home, modelUrl: model.url }), settingSources: [], hooks },
    mcpServers: {
      mailbox: { command: process.execPath, args: [cli, '--space', space.dir, 'mcp', '--as', 'worker'] },
    },
    ...{
      allowedTools: ['Agent', 'Task', 'Read', 'mcp__mailbox'],
      pathToClaudeCodeExecutable: clientProgram('claude'),
    },
  }
  for await (const message of query({ prompt: input(), options })) {
    said.push(message)
    if (message.type === 'result') turnIsOver()
  }
  return said
}

describe('mailboxHooks in the real agent SDK', () => {
  it(
    'shows mail at the start, after a tool, at the end of a turn and on resuming, and keeps count',
    async () => {
      const stage = await mailStage()
      const { home, mail, space } = stage
      const worker = await space.mailbox('worker')
      const file = join(home.project, 'notes.txt')
      writeFileSync(file, 'nothing of interest\n')
      await mail('START-MAIL', 'worker')
      const states: AgentMailState[] = []
      const read = () => ({ name: 'Read', input: { file_path: file } })
      const model = await scriptedModel(anthropic, interruptedTurn(stage, 'worker', read))
      const hooks = mailboxHooks(worker, { onState: (state) => states.push(state) })
      await converse(stage, model, hooks, [
        'FIRST-PROMPT',
        () => mail('RESUME-MAIL', 'worker', { priority: 'low' }),
        'SECOND-PROMPT',
      ])
      const first = await model.until('FIRST-PROMPT')
      expect(first.text).toContain('You are `worker` in a mailbox')
      expect(first.text).toContain('START-MAIL')
      expect((await model.until('TOOL-MAIL')).text).not.toContain('STOP-MAIL')
      expect(timesIn(await model.until('STOP-MAIL'), 'the body of STOP-MAIL')).toBe(1)
      expect((await model.until('RESUME-MAIL')).text).toContain('SECOND-PROMPT')
      for (const mark of ['START-MAIL', 'TOOL-MAIL', 'STOP-MAIL', 'RESUME-MAIL'])
        expect(await stage.stepsOf(mark, 'worker')).toContain('shown')
      expect(states.map(({ unread }) => unread.unread)).toContain(1)
      expect(states.at(-1)).toMatchObject({ unread: { unread: 0 }, waitingForResponse: false })
    },
    clientTimeoutMs,
  )

  it(
    'tells the coordinator when a subagent stops over a question, and brings the answer when it resumes',
    async () => {
      const stage = await mailStage()
      const { space } = stage
      const worker = await space.mailbox('worker')
      const lead = await space.mailbox('lena', { join: { roles: ['lead'] } })
      let helpId = ''
      const script: Script = async (request) => {
        if (isAside(request)) return { text: 'a title' }
        if (request.text.includes('SUBAGENT-TASK') && !request.text.includes('FIRST-PROMPT')) {
          if (request.turns === 0) return { calls: [{ name: 'mcp__mailbox__check', input: {} }] }
          // The subagent asks for help and can do no more.
          helpId ||= (await askForHelp(worker, { to: 'ada', body: 'Which database?' })).id
          return { text: 'I am blocked.' }
        }
        if (request.turns > 0) return { text: 'Done.' }
        const input = { description: 'a task', prompt: 'SUBAGENT-TASK', subagent_type: 'general-purpose' }
        const name = request.tools.find((tool) => tool === 'Agent' || tool === 'Task')!
        return { calls: [{ name, input: { ...input, run_in_background: false } }] }
      }
      const model = await scriptedModel(anthropic, script)
      const states: AgentMailState[] = []
      const hooks = mailboxHooks(worker, { onState: (state) => states.push(state) })
      const notices: string[] = []
      const [stop] = hooks.SubagentStop
      const [callback] = stop!.hooks
      stop!.hooks[0] = async (...words) => {
        const output = await callback!(...words)
        if (output.systemMessage !== undefined) notices.push(output.systemMessage)
        return output
      }
      await converse(stage, model, hooks, [
        'FIRST-PROMPT',
        async () => {
          expect(states.at(-1)).toMatchObject({ waitingFor: [helpId], waitingForResponse: true })
          expect((await space.agents()).find(({ name }) => name === 'worker')).toMatchObject({
            state: 'waiting',
          })
          await stage.ada.reply(helpId, { body: 'THE-ANSWER: the small one' })
        },
        'SECOND-PROMPT',
      ])
      expect((await model.until('Tell that agent in your report')).text).not.toContain('FIRST-PROMPT')
      expect(notices).toEqual([expect.stringContaining(`mailbox reply ${helpId}`)])
      const { messages } = await lead.inbox({ unread: true })
      expect(messages).toMatchObject([{ from: 'worker', type: 'notification', priority: 'urgent' }])
      expect((await model.until('THE-ANSWER')).text).toContain('SECOND-PROMPT')
      expect(states.at(-1)).toMatchObject({ waitingForResponse: false })
    },
    clientTimeoutMs,
  )
})
