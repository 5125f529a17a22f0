import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startGemini } from './gemini.ts'
import { geminiApi } from './gemini-api.ts'
import { geminiHooks } from './hook-settings.ts'
import { clientTimeoutMs, interruptedTurn, mailStage, timesIn } from './mail-stage.ts'
import { scriptedModel } from './scripted-model.ts'

describe('hooks in the real Gemini CLI', () => {
  it(
    'show mail at the start, after a tool and at the end of a turn',
    async () => {
      const stage = await mailStage()
      const file = join(stage.home.project, 'notes.txt')
      writeFileSync(file, 'nothing of interest\n')
      await stage.mail('START-MAIL', 'all')
      const call = () => ({ name: 'read_file', input: { file_path: file, absolute_path: file } })
      const model = await scriptedModel(geminiApi, interruptedTurn(stage, 'gemini-1', call))
      const gemini = startGemini({
        ...{ home: stage.home, modelUrl: model.url, settings: geminiHooks() },
        args: ['-p', 'FIRST-PROMPT'],
      })
      const first = await model.until('FIRST-PROMPT')
      expect(first.text).toContain('You are `gemini-1` in a mailbox')
      expect(first.text).toContain('START-MAIL')
      expect((await model.until('TOOL-MAIL')).text).not.toContain('STOP-MAIL')
      expect(timesIn(await model.until('STOP-MAIL'), 'the body of STOP-MAIL')).toBe(1)
      expect(await gemini.exit).toBe(0)
      for (const mark of ['START-MAIL', 'TOOL-MAIL', 'STOP-MAIL'])
        expect(await stage.stepsOf(mark, 'gemini-1')).toContain('shown')
      const agents = (await stage.space.agents()).filter(({ session }) => session.client === 'gemini')
      expect(agents).toMatchObject([{ name: 'gemini-1', state: 'frozen' }])
    },
    clientTimeoutMs,
  )

  it(
    'show mail at a prompt',
    async () => {
      const stage = await mailStage()
      await stage.mail('PROMPT-MAIL', 'all', { priority: 'low' })
      const model = await scriptedModel(geminiApi, () => ({ text: 'Done.' }))
      const { BeforeAgent } = geminiHooks().hooks
      const gemini = startGemini({
        ...{ home: stage.home, modelUrl: model.url, settings: { hooks: { BeforeAgent } } },
        args: ['-p', 'SECOND-PROMPT'],
      })
      expect((await model.until('PROMPT-MAIL')).text).toContain('SECOND-PROMPT')
      expect(await gemini.exit).toBe(0)
      expect(await stage.stepsOf('PROMPT-MAIL', 'gemini-1')).toContain('shown')
    },
    clientTimeoutMs,
  )
})
