import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Client } from '../../../src/model/client.ts'
import { tempSpace } from '../../helpers/temp.ts'
import { anthropic } from './anthropic.ts'
import { clientAtHome, spaceDirOf } from './at-home.ts'
import { type ClientHome, clientHome } from './claude.ts'
import { geminiApi } from './gemini-api.ts'
import { clientTimeoutMs, isAside } from './mail-stage.ts'
import { openai } from './openai.ts'
import {
  type Dialect,
  type ModelRequest,
  type ScriptedModel,
  scriptedModel,
  type Turn,
} from './scripted-model.ts'
import { openTerminal } from './terminal.ts'

interface Staff {
  api: Dialect
  args: string[]
  /** What the main agent calls, one after the other, before it looks into its mailbox. */
  delegate: ((request: ModelRequest) => Turn)[]
  /** How a subagent says that it is done. */
  report?: Turn
  prepare?(home: ClientHome): void
}

const hasTool = ({ tools }: ModelRequest, ending: RegExp): boolean => tools.some((name) => ending.test(name))
const toolOf = ({ tools }: ModelRequest, ending: RegExp): string => {
  const found = tools.find((name) => ending.test(name))
  if (found === undefined) throw new Error(`none of ${tools.join(', ')} is ${String(ending)}`)
  return found
}
const mailboxTool = /mailbox.+check$/
const call = (name: string, input: Record<string, unknown> = {}): Turn => ({ calls: [{ name, input }] })
const isSubagent = ({ text }: ModelRequest): boolean =>
  text.includes('SUBAGENT-TASK') && !text.includes('FIRST-PROMPT')

const claudeTask = { description: 'a task', prompt: 'SUBAGENT-TASK', subagent_type: 'general-purpose' }

const staffs: Record<Client, Staff> = {
  claude: {
    api: anthropic,
    args: ['-p', 'FIRST-PROMPT', '--allowedTools', 'mcp__mailbox,Agent,Task'],
    delegate: [
      (request) => call(toolOf(request, /^(Agent|Task)$/), { ...claudeTask, run_in_background: false }),
    ],
  },
  codex: {
    api: openai,
    args: [
      ...[
        'exec',
        '--skip-git-repo-check',
        '--dangerously-bypass-hook-trust',
        '-c',
        'features.multi_agent=true',
      ],
      ...['-c', 'mcp_servers.mailbox.startup_timeout_sec=120'],
      ...['-c', 'mcp_servers.mailbox.default_tools_approval_mode="approve"', 'FIRST-PROMPT'],
    ],
    delegate: [
      (request) => call(toolOf(request, /spawn_agent$/), { message: 'SUBAGENT-TASK', fork_context: false }),
      (request) => {
        const answer = request.text.slice(request.text.lastIndexOf('function_call_output'))
        const [id] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(answer)!
        return call(toolOf(request, /wait_agent$/), { targets: [id], timeout_ms: 60_000 })
      },
    ],
  },
  gemini: {
    api: geminiApi,
    args: ['-p', 'FIRST-PROMPT', '--yolo'],
    delegate: [() => call('invoke_agent', { agent_name: 'helper', prompt: 'SUBAGENT-TASK' })],
    report: call('complete_task', { result: 'I was refused.' }),
    prepare({ home }) {
      mkdirSync(join(home, '.gemini', 'agents'), { recursive: true })
      const head = '---\nname: helper\ndescription: helps\ntools:\n  - "*"\n---\n'
      writeFileSync(join(home, '.gemini', 'agents', 'helper.md'), `${head}You help.\n`)
    },
  },
  opencode: {
    api: openai,
    args: ['run', 'FIRST-PROMPT'],
    delegate: [() => call('task', { ...claudeTask, subagent_type: 'general' })],
  },
}

/** A model whose main agent has a subagent look into the mailbox, and then looks itself. */
async function office({ api, delegate, report = { text: 'I was refused.' } }: Staff) {
  let mayAnswer = () => {}
  const mailIsThere = new Promise<void>((resolve) => (mayAnswer = resolve))
  let steps = 0
  let hasLooked = false
  const model = await scriptedModel(api, async (request) => {
    if (isAside(request)) return { text: 'a title' }
    if (request.text.includes('WAIT-FOR-TOOLS') && !request.text.includes('FIRST-PROMPT'))
      return hasTool(request, mailboxTool) ? { text: 'READY' } : call('ListAgents')
    await mailIsThere
    const check = () => call(toolOf(request, mailboxTool))
    if (isSubagent(request)) {
      if (hasLooked) return report
      hasLooked = true
      return check()
    }
    const turns = [...delegate, check]
    return turns[steps++]?.(request) ?? { text: 'Done.' }
  })
  return { model, mayAnswer }
}

/** Somebody writes to the agent while its model thinks. Resolves when the model has read that. */
async function writeTo(agent: string, home: ClientHome, model: ScriptedModel): Promise<void> {
  await model.until('FIRST-PROMPT')
  const space = await tempSpace({ dir: spaceDirOf(home) })
  const ada = await space.mailbox('ada')
  // It asks for nothing, so nobody is shown it unasked.
  await ada.send({ to: agent, subject: 'News', body: 'FOR-THE-MAIN-AGENT' })
}

/** The subagent was refused, and the main agent has its mail. */
async function expectRefused(model: ScriptedModel): Promise<void> {
  const refused = await model.until('Tell that agent in your report')
  expect(isSubagent(refused)).toBe(true)
  expect(isSubagent(await model.until('FOR-THE-MAIN-AGENT'))).toBe(false)
}

it.each(Object.entries(staffs))(
  'a subagent of %s does not take the mail of the main agent',
  async (name, staff) => {
    const home = clientHome()
    const { model, mayAnswer } = await office(staff)
    const client = clientAtHome(name as Client, home, model.url)
    staff.prepare?.(home)
    const running = client.start(...staff.args)
    running.end()
    await writeTo(`${name}-1`, home, model)
    mayAnswer()
    await expectRefused(model)
    expect(await running.exit, running.stderr()).toBe(0)
  },
  clientTimeoutMs,
)

it(
  'neither does a teammate in the same process',
  async () => {
    const home = clientHome()
    const mate = () => call('Agent', { ...claudeTask, name: 'alice' })
    const { model, mayAnswer } = await office({ api: anthropic, args: [], delegate: [mate] })
    const teams = { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' }
    const { env, words } = clientAtHome('claude', home, model.url, teams)
    const args = ['--permission-mode', 'default', '--allowedTools', 'mcp__mailbox,Agent,ListAgents']
    const terminal = openTerminal(words(...args), { cwd: home.project, env, temp: home.temp })
    await terminal.shows('❯')
    // In a terminal the first turn begins before its MCP servers are there, and a teammate has the tools that its lead
    // had when the turn began.
    await terminal.type('WAIT-FOR-TOOLS')
    await terminal.shows('READY')
    await terminal.type('FIRST-PROMPT')
    await writeTo('claude-1', home, model)
    mayAnswer()
    await expectRefused(model)
  },
  clientTimeoutMs,
)
