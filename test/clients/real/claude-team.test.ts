import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { until } from '../../helpers/wait.ts'
import { anthropic } from './anthropic.ts'
import { bareEnv, claudeEnv, cli, setUpClaude, startClient } from './claude.ts'
import { clientTimeoutMs, isAside, mailStage } from './mail-stage.ts'
import { type ModelRequest, type Script, scriptedModel, type Turn } from './scripted-model.ts'
import { openTerminal } from './terminal.ts'

type Call = { name: string; input: Record<string, unknown> }

/** A model that makes each call once, when it has read the word for it. `{ID}` in an input is the id of a request. */
function caller(moves: Record<string, (request: ModelRequest) => Call>): Script {
  const made = new Set<string>()
  return (request): Turn => {
    if (isAside(request)) return { text: 'a title' }
    // The lead has the words for its mate in its own conversation as well.
    const isMate = request.text.includes('MATE-PROMPT') && !request.text.includes('STEP-')
    const isMeant = (word: string) => word.startsWith('MATE-') === isMate && request.text.includes(word)
    const word = Object.keys(moves).find((one) => !made.has(one) && isMeant(one))
    if (word === undefined) return { text: 'Nothing more to do.' }
    made.add(word)
    return { calls: [moves[word]!(request)] }
  }
}

const send = (to: string, message: unknown, summary = 'a note'): Call => ({
  name: 'SendMessage',
  input: { to, message, ...(typeof message === 'string' ? { summary } : {}) },
})

interface Roster {
  leadSessionId: string
  leadProcess?: { pid: number }
  members: { name: string }[]
}

/** It is written in place, so it may be half there. */
function readTeam(path: string): Roster {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Roster
  } catch {
    return { leadSessionId: '', members: [] }
  }
}

it(
  'an agent of the mailbox is a member of a team of the real Claude Code, until it is asked to stop and after a resume',
  async () => {
    const { home, space } = await mailStage()
    const config = join(home.home, '.claude')
    const list = () => ({ name: 'ListAgents', input: {} })
    const planId = ({ text }: ModelRequest) => /plan_approval-[^"\s<>,\\]+/.exec(text)![0]
    const model = await scriptedModel(
      anthropic,
      caller({
        'MATE-PROMPT work': () => send('zoe', 'ALICE-TO-ZOE hi'),
        'STEP-LIST': list,
        'STEP-HELLO': () => send('zoe', 'LEAD-TO-ZOE hi'),
        'ZOE-PLAN': (request) =>
          send('zoe', {
            ...{ type: 'plan_approval_response', request_id: planId(request), approve: true },
            feedback: 'looks fine',
          }),
        'STEP-MATE': () => ({
          name: 'Agent',
          input: {
            ...{ description: 'mate', name: 'alice', subagent_type: 'general-purpose' },
            prompt: 'MATE-PROMPT work',
          },
        }),
        'STEP-STOP': () => send('zoe', { type: 'shutdown_request', reason: 'all done' }),
        'STEP-AGAIN': list,
      }),
    )
    const options = { home, modelUrl: model.url, env: { CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS: '1' } }
    const open = (...args: string[]) =>
      openTerminal(
        setUpClaude({
          ...options,
          args: ['--permission-mode', 'default', ...args],
          allowedTools: ['Agent', 'SendMessage', 'ListAgents', 'ToolSearch'],
        }),
        { cwd: home.project, env: claudeEnv(options), temp: home.temp },
      )
    const zoe = await space.mailbox('zoe')
    const lead = open()
    await lead.shows('❯')
    const team = await until(() =>
      readdirSync(join(config, 'teams')).find((name) => name.startsWith('session-')),
    )
    const words = [cli, '--space', space.dir, 'bridge', 'claude-teams', config]
    startClient(process.execPath, words, { cwd: home.project, env: bareEnv(home) })
    const rosters = () =>
      readdirSync(join(config, 'teams')).map((name) => readTeam(join(config, 'teams', name, 'config.json')))
    const roster = () => rosters().flatMap(({ members }) => members.map(({ name }) => name))
    await until('zoe is on the roster', () => roster().includes('zoe'))

    await lead.type('STEP-LIST')
    await model.until('agent-mailbox')
    await lead.type('STEP-MATE')
    expect(await zoe.wait({ from: `${team}/alice`, timeoutMs: 60_000 })).toMatchObject({
      body: 'ALICE-TO-ZOE hi',
    })
    await zoe.send({ to: `${team}/alice`, body: 'ZOE-TO-ALICE welcome' })
    const told = await model.until('ZOE-TO-ALICE welcome')
    expect(told.text).toContain('MATE-PROMPT work')

    await lead.type('STEP-HELLO')
    const hello = await zoe.wait({ from: `${team}/team-lead`, timeoutMs: 60_000 })
    expect(hello).toMatchObject({ body: 'LEAD-TO-ZOE hi', type: 'text' })
    await zoe.reply(hello!.id, { body: 'ZOE-ANSWER' })
    const { text } = await model.until('ZOE-ANSWER')
    expect(text).toContain('<teammate-message teammate_id="zoe"')
    expect(text).not.toContain('verified="false"')

    const plan = await zoe.send({
      ...{
        to: `${team}/team-lead`,
        type: 'plan_submission',
        subject: 'ZOE-PLAN',
        body: 'step 1',
        payload: {},
      },
    })
    const { settled } = await zoe.waitUntilSettled(plan.id, { timeoutMs: 60_000 })
    expect(settled).toBe(true)
    expect(await zoe.wait({ replyTo: plan.id, timeoutMs: 60_000 })).toMatchObject({
      payload: { approved: true, feedback: 'looks fine' },
    })

    await lead.type('STEP-STOP')
    const stop = await zoe.wait({ type: 'shutdown_request', timeoutMs: 60_000 })
    await zoe.reply(stop!.id, { type: 'shutdown_response', body: 'bye', payload: { accepted: true } })
    await model.until('shutdown_approved')
    await until('zoe has left the roster', () => !roster().includes('zoe'))

    const [before] = rosters()
    await lead.close()
    const resumed = open('--resume', before!.leadSessionId)
    // A resumed session may have its team in a new folder; here it is the same team.
    await until('zoe is on the roster again', () =>
      rosters().some(
        ({ leadProcess, members }) =>
          leadProcess?.pid !== before!.leadProcess!.pid && members.some(({ name }) => name === 'zoe'),
      ),
    )
    await resumed.shows('❯')
    await resumed.type('STEP-AGAIN')
    expect((await space.agents()).filter(({ name }) => name.endsWith('/team-lead'))).toHaveLength(1)
    await until(() => model.requests.some((one) => one.text.split('agent-mailbox').length > 2))
  },
  clientTimeoutMs,
)
