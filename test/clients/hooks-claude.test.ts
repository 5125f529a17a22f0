import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Mailbox, Space } from '../../src/mod.ts'
import { tempSpace } from '../helpers/temp.ts'
import { anthropic } from './anthropic.ts'
import { clientHome, startClaude } from './claude.ts'
import { claudeHooks } from './hook-settings.ts'
import { type ModelRequest, type Script, scriptedModel } from './scripted-model.ts'

/** Installing a client takes a while the first time. */
const timeout = 240_000

const streaming = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']

/** The model is asked for titles and such beside the conversation. */
const isAside = ({ tools }: ModelRequest) => tools.length === 0

async function stage() {
  const home = clientHome()
  const space = await tempSpace({ dir: join(home.project, '.mailbox') })
  return { home, space, ada: await space.mailbox('ada') }
}

const stepsOf = async (space: Space, id: string, name: string) =>
  (await space.show(id)).receipts.find(({ recipient }) => recipient === name)?.steps.map(({ state }) => state)

describe('hooks in the real Claude Code', () => {
  it(
    'show mail at the start, at a prompt, after a tool and at the end of a turn',
    async () => {
      const { home, space, ada } = await stage()
      writeFileSync(join(home.project, 'notes.txt'), 'nothing of interest\n')
      const sent: Record<string, string> = {}
      const mail = async (mark: string, to: string, input: Partial<Parameters<Mailbox['send']>[0]> = {}) => {
        sent[mark] = (await ada.send({ to, subject: mark, body: `the body of ${mark}`, ...input })).id
      }
      await mail('START-MAIL', 'all')
      const script: Script = async (request) => {
        if (isAside(request)) return { text: 'a title' }
        if (request.turns > 0) return { text: 'Done.' }
        await mail('STOP-MAIL', 'claude-1')
        await mail('TOOL-MAIL', 'claude-1', { priority: 'high' })
        return { calls: [{ name: 'Read', input: { file_path: join(home.project, 'notes.txt') } }] }
      }
      const model = await scriptedModel(anthropic, script)
      const claude = startClaude({ home, modelUrl: model.url, settings: claudeHooks(), args: streaming })
      claude.prompt('FIRST-PROMPT')

      const first = await model.until('FIRST-PROMPT')
      expect(first.text).toContain('You are `claude-1` in a mailbox')
      expect(first.text).toContain('START-MAIL')
      const afterTool = await model.until('TOOL-MAIL')
      expect(afterTool.text).toContain('nothing of interest')
      expect(afterTool.text).not.toContain('STOP-MAIL')
      await model.until('STOP-MAIL')
      await claude.said('"type":"result"')

      await mail('PROMPT-MAIL', 'claude-1', { priority: 'low' })
      claude.prompt('SECOND-PROMPT')
      expect((await model.until('PROMPT-MAIL')).text).toContain('SECOND-PROMPT')
      for (const id of Object.values(sent)) expect(await stepsOf(space, id, 'claude-1')).toContain('shown')

      claude.end()
      expect(await claude.exit).toBe(0)
      const agent = (await space.agents()).find(({ name }) => name === 'claude-1')
      expect(agent).toMatchObject({ state: 'frozen', session: { client: 'claude' } })
    },
    timeout,
  )

  it(
    'wake an idle one that has nobody else to ring for it',
    async () => {
      const { home, space, ada } = await stage()
      const model = await scriptedModel(anthropic, () => ({ text: 'Ready.' }))
      const settings = claudeHooks({ rewake: true })
      const env = { MAILBOX_REWAKE: '1' }
      const claude = startClaude({ home, modelUrl: model.url, settings, args: streaming, env })
      claude.prompt('Be ready.')
      await claude.said('"type":"result"')
      const { id } = await ada.send({ to: 'claude-1', subject: 'Wake up', body: 'WAKE-MAIL' })
      expect((await model.until('WAKE-MAIL')).text).toContain('<<<mail ')
      expect(await stepsOf(space, id, 'claude-1')).toEqual(['stored', 'shown'])
    },
    timeout,
  )

  it(
    'do not hold up one that was started for a single prompt',
    async () => {
      const { home } = await stage()
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
