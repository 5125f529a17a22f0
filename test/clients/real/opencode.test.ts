import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ClientHome, cli } from './claude.ts'
import { clientTimeoutMs, interruptedTurn, mailStage, timesIn } from './mail-stage.ts'
import { openai } from './openai.ts'
import { postTo, promptOver, serveWords, startOpencode } from './opencode.ts'
import { scriptedModel } from './scripted-model.ts'

/** A server of OpenCode and one session in it. */
async function serve(home: ClientHome, modelUrl: string) {
  const opencode = startOpencode({
    home,
    modelUrl,
    args: serveWords,
    servers: { mailbox: { type: 'local', command: [process.execPath, cli, 'mcp'], enabled: true } },
  })
  const post = await postTo(opencode)
  /** Begins a session. */
  return async () => {
    const { id } = await post('/session', {})
    return (text: string) => promptOver(post, id, text)
  }
}

describe('the plugin in the real OpenCode', () => {
  it(
    'shows mail at the start, after a tool, at the end of a turn and at a prompt, and wakes an idle session',
    async () => {
      const stage = await mailStage()
      const { mail, stepsOf, home } = stage
      const file = join(home.project, 'notes.txt')
      writeFileSync(file, 'nothing of interest\n')
      await mail('START-MAIL', 'all')
      const read = () => ({ name: 'read', input: { filePath: file } })
      const script = interruptedTurn(stage, 'opencode-1', read)
      const model = await scriptedModel(openai, (request) =>
        // Asked who it is, it looks once.
        timesIn(request, 'WHO-AM-I') > timesIn(request, 'you are opencode-')
          ? { calls: [{ name: 'mailbox_agents', input: {} }] }
          : script(request),
      )
      const begin = await serve(home, model.url)
      const prompt = await begin()

      await prompt('FIRST-PROMPT')
      const first = await model.until('You are `opencode-1` in a mailbox')
      expect(first.text).toContain('FIRST-PROMPT')
      expect(first.text).toContain('START-MAIL')
      expect((await model.until('TOOL-MAIL')).text).not.toContain('STOP-MAIL')
      expect((await model.until('STOP-MAIL')).text).toContain('You have 1 new message in the mailbox')

      await mail('WAKE-MAIL', 'opencode-1', { awaitingResponse: true })
      await model.until('WAKE-MAIL')
      await mail('PROMPT-MAIL', 'opencode-1', { priority: 'low' })
      await prompt('SECOND-PROMPT')
      expect((await model.until('PROMPT-MAIL')).text).toContain('SECOND-PROMPT')

      for (const mark of ['START-MAIL', 'TOOL-MAIL', 'STOP-MAIL', 'WAKE-MAIL', 'PROMPT-MAIL'])
        expect(await stepsOf(mark, 'opencode-1')).toContain('shown')
      // Another session in the same process is another agent, for its tools as well.
      const other = await begin()
      await other('WHO-AM-I, the other?')
      expect((await model.until('you are opencode-2')).text).toContain('the other?')
      await prompt('WHO-AM-I, the first?')
      expect((await model.until('you are opencode-1')).text).toContain('the first?')

      for (const mark of ['STOP-MAIL', 'WAKE-MAIL'])
        expect(await stepsOf(mark, 'opencode-1')).toEqual(['stored', 'notified', 'shown'])
    },
    clientTimeoutMs,
  )
})
