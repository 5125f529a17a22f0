import { describe, expect, it } from 'vitest'
import type { InboxMessage, LocalSpace } from '../../../src/mod.ts'
import { inputFields, optionName } from '../../../src/model/fields.ts'
import { tempSpace } from '../../helpers/temp.ts'
import { until } from '../../helpers/wait.ts'
import { anthropic } from './anthropic.ts'
import { cli, clientHome, type RunningClient, startClaude } from './claude.ts'
import { startCodex } from './codex.ts'
import { clientTimeoutMs } from './mail-stage.ts'
import { openai } from './openai.ts'
import { type ModelRequest, type Script, scriptedModel } from './scripted-model.ts'

const mailboxServer = (dir: string) => ({
  command: process.execPath,
  args: [cli, '--space', dir, 'mcp'],
  alwaysLoad: true,
})

const named = (request: ModelRequest, tool: string): string =>
  request.tools.find((name) => name.endsWith(`mailbox__${tool}`) || name.endsWith(`mailbox.${tool}`)) ??
  `mcp__mailbox__${tool}`

/** Fields of a message, as a tool is given them and as they are stored. */
const given = {
  ...{ subject: 'The port', type: 'response', priority: 'high', ack: true, await: true, key: 'once' },
  ...{ tags: ['concern:ports'], payload: { port: 8080 }, context: { asked: ['twice'] }, swarm: 'dev' },
  ...{ attachments: [cli], ttlMs: 3_600_000, threadId: 'ports' },
}
const { ack: requiresAck, await: awaitingResponse, ttlMs: _, ...same } = given
const stored = { ...same, requiresAck, awaitingResponse, expiresAt: expect.any(String) }
/** What does not go together with those. */
const draft = {
  ...{ to: 'ada', body: 'A draft', thread: 'drafts', encrypt: true, generation: 1 },
  ...{ expiresAt: '2030-01-01T00:00:00.000Z', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
}
const final = { to: 'ada', body: 'The final text', thread: 'drafts', supersede: true }
const later = { to: 'ada', body: 'For later', at: '2h' }
const toOthers = { to: 'ada, bob, team:x', body: 'To several', exclude: ['cy'], hold: true }

it('is tried with every field of a message', () => {
  const tried = Object.keys({ ...given, replyTo: '', ...draft, ...final, ...toOthers, ...later })
  const all = inputFields.filter(
    (field) => ![field.name, optionName(field)].some((name) => tried.includes(name)),
  )
  expect(all.map(({ name }) => name)).toEqual([])
})

/** A model that takes its mail, answers the first message with all there is to say, and says that it is done. */
function secretary(space: LocalSpace): Script {
  let step = 0
  return async (request) => {
    if (request.tools.length === 0) return { text: 'a title' }
    if (!request.tools.some((name) => name.includes('mailbox'))) {
      // A busy client asks before its servers are up. A call that it does not know yet makes it ask again.
      await until('the server is up', async () =>
        (await space.agents()).some(({ name }) => name.endsWith('-1')),
      )
      return { calls: [{ name: named(request, 'check'), input: {} }] }
    }
    const id = /Message ([0-9a-f-]{36}) from/.exec(request.text)?.[1]
    const calls = [
      ['check', {}],
      ['send', { replyTo: id, body: 'It is 8080.', ...given }],
      ['send', draft],
      ['send', final],
      ['send', toOthers],
      ['send', later],
      ['handle', { id, step: 'done', note: 'answered' }],
    ] as const
    const call = calls[step++]
    if (call === undefined || (step > 1 && id === undefined)) return { text: 'All is dealt with.' }
    return { calls: [{ name: named(request, call[0]), input: call[1] }] }
  }
}

/** Somebody who waits for an answer from whoever takes the role. */
async function ask(space: LocalSpace): Promise<{ id: string; answered: Promise<InboxMessage | null> }> {
  const ada = await space.mailbox('ada')
  await space.mailbox('bob')
  await space.mailbox('cy', { join: { tags: ['team:x'] } })
  const question = { subject: 'Port', body: 'PORT-QUESTION which port?', awaitingResponse: true }
  const { id } = await ada.send({ to: 'all', ...question })
  const answered = ada.wait({ replyTo: id, timeoutMs: clientTimeoutMs })
  return { id, answered }
}

describe('the real Claude Code', () => {
  it(
    'calls the tools and gets its mail',
    async () => {
      const space = await tempSpace()
      const { id, answered } = await ask(space)
      const model = await scriptedModel(anthropic, secretary(space))
      const claude = startClaude({
        ...{ home: clientHome(), modelUrl: model.url },
        mcpServers: { mailbox: mailboxServer(space.dir) },
        allowedTools: ['mcp__mailbox'],
        args: ['-p', 'Deal with your mail.', '--output-format', 'json'],
      })
      claude.end()
      expect(await answerBefore(claude, answered)).toMatchObject({ body: 'It is 8080.', ...stored })
      expect(await claude.exit).toBe(0)
      await expectOthers(space, 'claude-1')
      expect((await model.until('PORT-QUESTION')).text).toContain('<<<mail ')
      expect(await agentOf(space, 'claude-1')).toMatchObject({ session: { client: 'claude' } })
      expect(await stateOf(space, id, 'claude-1')).toBe('archived')
    },
    clientTimeoutMs,
  )

  it(
    'is woken when it is idle and mail comes',
    async () => {
      const space = await tempSpace()
      const dealWithMail = secretary(space)
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
      expect(await answered).toMatchObject({ body: 'It is 8080.', ...stored })
      const steps = (await space.show(id)).receipts.find(({ recipient }) => recipient === 'claude-1')!.steps
      expect(steps.map(({ state }) => state)).toEqual(expect.arrayContaining(['notified', 'shown']))
      claude.end()
    },
    clientTimeoutMs,
  )
})

describe('the real Codex', () => {
  it(
    'calls the tools and gets its mail, under the name of its session',
    async () => {
      const space = await tempSpace()
      const { id, answered } = await ask(space)
      const model = await scriptedModel(openai, secretary(space))
      const codex = startCodex({
        ...{ home: clientHome(), modelUrl: model.url },
        config: `[mcp_servers.mailbox]
command = "${process.execPath}"
args = ["${cli}", "--space", "${space.dir}", "mcp"]
startup_timeout_sec = 120
default_tools_approval_mode = "approve"`,
        args: ['exec', '--json', '--skip-git-repo-check', 'Deal with your mail.'],
      })
      expect(await answerBefore(codex, answered)).toMatchObject({ body: 'It is 8080.', ...stored })
      expect(await codex.exit).toBe(0)
      await expectOthers(space, 'codex-1')
      expect((await model.until('PORT-QUESTION')).text).toContain('<<<mail ')
      expect(await agentOf(space, 'codex-1')).toMatchObject({
        session: { client: 'codex', id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
      })
      expect(await stateOf(space, id, 'codex-1')).toBe('archived')
    },
    clientTimeoutMs,
  )
})

/** What an agent has sent besides its answer. */
async function expectOthers(space: LocalSpace, name: string): Promise<void> {
  const mailbox = await space.mailbox(name, { join: false })
  const { messages } = await mailbox.sent()
  const { to, encrypt, thread: threadId, ...fields } = draft
  const [several, last, first] = messages
  expect(first).toMatchObject({ ...fields, to: [to], threadId, encrypted: 'recipients' })
  expect(last).toMatchObject({ body: final.body, to: ['ada'], threadId })
  expect(several).toMatchObject({ body: toOthers.body, to: ['ada', 'bob', 'team:x'] })
  expect(several!.to).not.toContain('cy')
  expect(encrypt).toBe(true)
  expect(await mailbox.scheduled()).toMatchObject([{ to: ['ada'], body: later.body }])
  // Nobody had seen it.
  expect((await space.show(first!.id)).receipts[0]!.state).toMatch(/superseded|withdrawn|dead/)
}

/** The answer; a client that ends without one says why. */
async function answerBefore(
  client: RunningClient,
  answered: Promise<InboxMessage | null>,
): Promise<InboxMessage | null> {
  const ended = client.exit.then(() => 'ended' as const)
  const first = await Promise.race([answered, ended])
  if (first !== 'ended') return first
  throw new Error(`it ended without an answer: ${client.stdout()} ${client.stderr()}`)
}

const agentOf = async (space: LocalSpace, name: string) =>
  (await space.agents()).find((agent) => agent.name === name)

const stateOf = async (space: LocalSpace, id: string, recipient: string) =>
  (await space.show(id)).receipts.find((receipt) => receipt.recipient === recipient)?.state
