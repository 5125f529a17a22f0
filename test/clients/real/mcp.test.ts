import { describe, expect, it } from 'vitest'
import type { LocalSpace } from '../../../src/mod.ts'
import { tempSpace } from '../../helpers/temp.ts'
import { anthropic } from './anthropic.ts'
import { cli, clientHome, startClaude } from './claude.ts'
import { startCodex } from './codex.ts'
import { openai } from './openai.ts'
import { type ModelRequest, type Script, scriptedModel } from './scripted-model.ts'

/** Installing a client takes a while the first time. */
const timeout = 240_000

const mailboxServer = (dir: string) => ({
  command: process.execPath,
  args: [cli, '--space', dir, 'mcp'],
  alwaysLoad: true,
})

const named = (request: ModelRequest, tool: string): string =>
  request.tools.find((name) => name.endsWith(`mailbox__${tool}`) || name.endsWith(`mailbox.${tool}`)) ??
  `mcp__mailbox__${tool}`

/** A model that takes its mail, answers the first message, and says that it is done. */
function secretary(): Script {
  let step = 0
  return (request) => {
    if (request.tools.length === 0) return { text: 'a title' }
    const id = /Message ([0-9a-f-]{36}) from/.exec(request.text)?.[1]
    const calls = [
      ['check', {}],
      ['send', { replyTo: id, body: 'It is 8080.' }],
      ['handle', { id, step: 'done', note: 'answered' }],
    ] as const
    const call = calls[step++]
    if (call === undefined || (step > 1 && id === undefined)) return { text: 'All is dealt with.' }
    return { calls: [{ name: named(request, call[0]), input: call[1] }] }
  }
}

/** Somebody who waits for an answer from whoever takes the role. */
async function ask(space: LocalSpace): Promise<{ id: string; answered: Promise<string> }> {
  const ada = await space.mailbox('ada')
  const { id } = await ada.send({ to: 'all', subject: 'Port', body: 'PORT-QUESTION which port?' })
  const answered = ada.wait({ replyTo: id, timeoutMs: 60_000 }).then((message) => message?.body ?? '')
  return { id, answered }
}

describe('the real Claude Code', () => {
  it(
    'calls the tools and gets its mail',
    async () => {
      const space = await tempSpace()
      const { id, answered } = await ask(space)
      const model = await scriptedModel(anthropic, secretary())
      const claude = startClaude({
        ...{ home: clientHome(), modelUrl: model.url },
        mcpServers: { mailbox: mailboxServer(space.dir) },
        allowedTools: ['mcp__mailbox'],
        args: ['-p', 'Deal with your mail.', '--output-format', 'json'],
      })
      claude.end()
      await answered
      console.log(
        claude.stdout(),
        claude.stderr(),
        model.requests.map((r) => [r.tools.length, r.turns, r.text.slice(-600)]),
      )
      expect(await answered).toBe('It is 8080.')
      expect(await claude.exit).toBe(0)
      expect((await model.until('PORT-QUESTION')).text).toContain('<<<mail ')
      expect(await agentOf(space, 'claude-1')).toMatchObject({ session: { client: 'claude' } })
      expect(await stateOf(space, id, 'claude-1')).toBe('archived')
    },
    timeout,
  )

  it(
    'is woken when it is idle and mail comes',
    async () => {
      const space = await tempSpace()
      const dealWithMail = secretary()
      const model = await scriptedModel(anthropic, (request) =>
        /You have \d+ new message/.test(request.text) ? dealWithMail(request) : { text: 'Ready.' },
      )
      const claude = startClaude({
        ...{ home: clientHome(), modelUrl: model.url },
        mcpServers: { mailbox: mailboxServer(space.dir) },
        allowedTools: ['mcp__mailbox'],
        args: ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose'],
      })
      claude.prompt('Be ready.')
      await model.until('Be ready.')
      const { id, answered } = await ask(space)
      expect(await answered).toBe('It is 8080.')
      const steps = (await space.show(id)).receipts.find(({ recipient }) => recipient === 'claude-1')!.steps
      expect(steps.map(({ state }) => state)).toEqual(expect.arrayContaining(['notified', 'shown']))
      claude.end()
    },
    timeout,
  )
})

describe('the real Codex', () => {
  it(
    'calls the tools and gets its mail, under the name of its session',
    async () => {
      const space = await tempSpace()
      const { id, answered } = await ask(space)
      const model = await scriptedModel(openai, secretary())
      const codex = startCodex({
        ...{ home: clientHome(), modelUrl: model.url },
        config: `[mcp_servers.mailbox]
command = "${process.execPath}"
args = ["${cli}", "--space", "${space.dir}", "mcp"]
default_tools_approval_mode = "approve"`,
        args: ['exec', '--json', '--skip-git-repo-check', 'Deal with your mail.'],
      })
      expect(await answered).toBe('It is 8080.')
      expect(await codex.exit).toBe(0)
      expect((await model.until('PORT-QUESTION')).text).toContain('<<<mail ')
      expect(await agentOf(space, 'codex-1')).toMatchObject({
        session: { client: 'codex', id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      })
      expect(await stateOf(space, id, 'codex-1')).toBe('archived')
    },
    timeout,
  )
})

const agentOf = async (space: LocalSpace, name: string) =>
  (await space.agents()).find((agent) => agent.name === name)

const stateOf = async (space: LocalSpace, id: string, recipient: string) =>
  (await space.show(id)).receipts.find((receipt) => receipt.recipient === recipient)?.state
