import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clientProgram } from '../../helpers/install.ts'
import { cli } from './claude.ts'
import { setUpCodex, startCodex } from './codex.ts'
import { codexHooks } from './hook-settings.ts'
import {
  clientTimeoutMs,
  interruptedTurn,
  isAside,
  type MailStage,
  mailStage,
  timesIn,
} from './mail-stage.ts'
import { openai } from './openai.ts'
import { scriptedModel } from './scripted-model.ts'
import { openTerminal } from './terminal.ts'

const exec = ['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-hook-trust']

/** Its hooks, or some of them. */
function putHooks({ home }: MailStage, only?: readonly string[]): void {
  const { hooks } = codexHooks()
  const chosen = Object.entries(hooks).filter(([event]) => only === undefined || only.includes(event))
  mkdirSync(join(home.home, '.codex'), { recursive: true })
  writeFileSync(
    join(home.home, '.codex', 'hooks.json'),
    JSON.stringify({ hooks: Object.fromEntries(chosen) }),
  )
}

const server = ({ space }: MailStage): string => `[mcp_servers.mailbox]
command = "${process.execPath}"
args = ["${cli}", "--space", "${space.dir}", "mcp"]
startup_timeout_sec = 120
default_tools_approval_mode = "approve"`

describe('hooks in the real Codex', () => {
  it(
    'show mail at the start, after a tool and at the end of a turn, to the agent that its tools speak for',
    async () => {
      const stage = await mailStage()
      putHooks(stage)
      await stage.mail('START-MAIL', 'all')
      const tool = (name: string) => name.endsWith('mailbox.agents')
      const script = interruptedTurn(stage, 'codex-1', ({ tools }) => ({
        name: tools.find(tool)!,
        input: {},
      }))
      const model = await scriptedModel(openai, script)
      const codex = startCodex({
        ...{ home: stage.home, modelUrl: model.url, config: server(stage) },
        args: [...exec, 'FIRST-PROMPT'],
      })
      const first = await model.until('FIRST-PROMPT')
      expect(first.text).toContain('You are `codex-1` in a mailbox')
      expect(first.text).toContain('START-MAIL')
      expect((await model.until('TOOL-MAIL')).text).not.toContain('STOP-MAIL')
      expect(timesIn(await model.until('STOP-MAIL'), 'the body of STOP-MAIL')).toBe(1)
      expect(await codex.exit).toBe(0)
      for (const mark of ['START-MAIL', 'TOOL-MAIL', 'STOP-MAIL'])
        expect(await stage.stepsOf(mark, 'codex-1')).toContain('shown')
      const agents = (await stage.space.agents()).filter(({ session }) => session.client === 'codex')
      expect(agents).toMatchObject([{ name: 'codex-1', state: 'frozen' }])
    },
    clientTimeoutMs,
  )

  it(
    'show mail at a prompt',
    async () => {
      const stage = await mailStage()
      putHooks(stage, ['UserPromptSubmit'])
      await stage.mail('PROMPT-MAIL', 'all', { priority: 'low' })
      const model = await scriptedModel(openai, () => ({ text: 'Done.' }))
      const codex = startCodex({ home: stage.home, modelUrl: model.url, args: [...exec, 'SECOND-PROMPT'] })
      expect((await model.until('PROMPT-MAIL')).text).toContain('SECOND-PROMPT')
      expect(await codex.exit).toBe(0)
      expect(model.requests.filter((request) => !isAside(request))).toHaveLength(1)
      expect(await stage.stepsOf('PROMPT-MAIL', 'codex-1')).toContain('shown')
    },
    clientTimeoutMs,
  )

  it(
    'wake an idle one',
    async () => {
      const stage = await mailStage()
      putHooks(stage)
      const { home, mail, stepsOf } = stage
      const model = await scriptedModel(openai, () => ({ text: 'Ready.' }))
      const args = ['--dangerously-bypass-hook-trust']
      const env = setUpCodex({ home, modelUrl: model.url })
      const codex = openTerminal([clientProgram('codex'), ...args], {
        cwd: home.project,
        env,
        temp: home.temp,
      })
      await codex.shows('Ask Codex')
      await codex.type('Be ready.')
      await codex.shows('Worked for')
      await mail('WAKE-MAIL', 'codex-1', { awaitingResponse: true })
      expect((await model.until('WAKE-MAIL')).text).toContain('You have 1 new message in the mailbox')
      expect(await stepsOf('WAKE-MAIL', 'codex-1')).toEqual(['stored', 'notified', 'shown'])
    },
    clientTimeoutMs,
  )
})
