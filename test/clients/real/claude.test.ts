import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { countingNode } from '../../helpers/counting-node.ts'
import { letPass } from '../../helpers/wait.ts'
import { anthropic } from './anthropic.ts'
import { claudeEnv, setUpClaude, startClaude } from './claude.ts'
import { claudeHooks } from './hook-settings.ts'
import {
  interruptedTurn,
  isAside,
  mailStage,
  clientTimeoutMs as timeout,
  timesIn,
  untilWaiting,
} from './mail-stage.ts'
import { scriptedModel } from './scripted-model.ts'
import { openTerminal } from './terminal.ts'

const streaming = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']

describe('hooks in the real Claude Code', () => {
  it(
    'show mail at the start, after a tool, at the end of a turn and at a prompt',
    async () => {
      const stage = await mailStage()
      const { home, space, mail } = stage
      const file = join(home.project, 'notes.txt')
      writeFileSync(file, 'nothing of interest\n')
      await mail('START-MAIL', 'all')
      const read = () => ({ name: 'Read', input: { file_path: file } })
      const model = await scriptedModel(anthropic, interruptedTurn(stage, 'claude-1', read))
      const claude = startClaude({ home, modelUrl: model.url, settings: claudeHooks(), args: streaming })
      claude.prompt('FIRST-PROMPT')

      const first = await model.until('FIRST-PROMPT')
      expect(first.text).toContain('You are `claude-1` in a mailbox')
      expect(first.text).toContain('START-MAIL')
      const afterTool = await model.until('TOOL-MAIL')
      expect(afterTool.text).toContain('nothing of interest')
      expect(afterTool.text).not.toContain('STOP-MAIL')
      const goingOn = await model.until('STOP-MAIL')
      expect(timesIn(goingOn, 'the body of STOP-MAIL')).toBe(1)
      await claude.said('"type":"result"')

      await mail('PROMPT-MAIL', 'claude-1', { priority: 'low' })
      claude.prompt('SECOND-PROMPT')
      expect((await model.until('PROMPT-MAIL')).text).toContain('SECOND-PROMPT')
      for (const mark of ['START-MAIL', 'TOOL-MAIL', 'STOP-MAIL', 'PROMPT-MAIL'])
        expect(await stage.stepsOf(mark, 'claude-1')).toContain('shown')

      claude.end()
      expect(await claude.exit).toBe(0)
      const agents = (await space.agents()).filter(({ session }) => session.client === 'claude')
      expect(agents).toMatchObject([{ name: 'claude-1', state: 'frozen' }])
    },
    timeout,
  )

  it(
    'start no Node after a tool while nothing has come, however much the tool has said',
    async () => {
      const { home, mail } = await mailStage()
      const { env, starts } = countingNode()
      const counts: number[] = []
      const model = await scriptedModel(anthropic, async (request) => {
        if (isAside(request)) return { text: 'a title' }
        counts.push(starts())
        if (counts.length > 8) return { text: 'Done.' }
        // The journal must have been at rest for a second before that can be relied on.
        if (counts.length < 3) await letPass(1_200)
        if (counts.length === 8) await mail('TOOL-MAIL', 'claude-1', { priority: 'high' })
        return { calls: [{ name: 'Bash', input: { command: `seq 1 200000; true ${counts.length}` } }] }
      })
      const args = ['-p', 'FIRST-PROMPT', '--output-format', 'json']
      const settings = claudeHooks()
      const claude = startClaude({ home, modelUrl: model.url, settings, env, args, allowedTools: ['Bash'] })
      claude.end()
      await model.until('TOOL-MAIL')
      expect(await claude.exit).toBe(0)
      const [start, ...rest] = counts.slice(2)
      expect(rest).toEqual([start, start, start, start, start, start! + 1])
    },
    timeout,
  )

  it(
    'wake an idle one that somebody sits at and nobody else can ring for',
    async () => {
      const { home, mail, stepsOf } = await mailStage()
      const model = await scriptedModel(anthropic, () => ({ text: 'Ready.' }))
      const words = setUpClaude({
        home,
        modelUrl: model.url,
        settings: claudeHooks({ rewake: true }),
        args: ['--permission-mode', 'default'],
      })
      const env = claudeEnv({ home, modelUrl: model.url })
      const claude = openTerminal(words, { cwd: home.project, env, temp: home.temp })
      await claude.shows('❯')
      await claude.type('Be ready.')
      await claude.shows('Ready.')
      await untilWaiting(home.project, 'claude-1')
      await mail('WAKE-MAIL', 'claude-1', { awaitingResponse: true })
      expect((await model.until('WAKE-MAIL')).text).toContain('<<<mail ')
      expect(await stepsOf('WAKE-MAIL', 'claude-1')).toEqual(['stored', 'shown'])
    },
    timeout,
  )

  it(
    'do not hold up one that was started for a single prompt',
    async () => {
      const { home } = await mailStage()
      const model = await scriptedModel(anthropic, () => ({ text: 'Ready.' }))
      const settings = claudeHooks({ rewake: true })
      const args = ['-p', 'Be quick.', '--output-format', 'json']
      const claude = startClaude({ home, modelUrl: model.url, settings, args })
      claude.end()
      expect(await claude.exit).toBe(0)
      expect(model.requests.filter((request) => !isAside(request))).toHaveLength(1)
    },
    timeout,
  )
})
