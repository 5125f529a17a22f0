import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Validator } from '@seriousme/openapi-schema-validator'
import { rolldown } from 'rolldown'
import { expect, it } from 'vitest'
import type { Reading } from '../../src/api/reading.ts'
import { readings } from '../../src/api/readings.ts'
import { operations } from '../../src/hub/operations.ts'
import { stageHub } from '../helpers/hub.ts'
import { installed } from '../helpers/install.ts'
import { tempDir } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'

interface Document {
  openapi: string
  paths: Record<string, Record<string, { operationId: string }>>
}

it('describes itself in a document that validates and leaves nothing out', async () => {
  const stage = await stageHub()
  const { json, status } = await stage.ask('/api/openapi.json')
  expect(status).toBe(200)
  const result = await new Validator().validate(structuredClone(json))
  expect(result.errors ?? []).toEqual([])
  expect(result.valid).toBe(true)
  const document = json as Document
  expect(document.openapi).toBe('3.1.0')
  const paths = [
    ...[...operations.keys()].map((path) => `/api/mailboxes/{mailbox}/${path}`),
    ...Object.values(readings).map(({ path }) => path),
    ...['/api/stream', '/health', '/metrics', '/ready'],
  ]
  expect(Object.keys(document.paths).sort()).toEqual(paths.sort())
  const ids = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map((one) => one.operationId),
  )
  expect(new Set(ids).size).toBe(ids.length)
  for (const reference of JSON.stringify(json).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    expect((json as { components: { schemas: object } }).components.schemas).toHaveProperty(reference[1]!)
})

/** A day in which everything happens once, told over HTTP; every answer is held against its own schema. */
it('answers every operation in the shape that its document promises', async () => {
  const stage = await stageHub()
  const { space, token } = stage
  const tokens: Record<string, string> = { user: token }
  for (const name of ['ada', 'bob']) tokens[name] = stage.agentToken(name)
  const told = new Set<string>()
  // biome-ignore lint/suspicious/noExplicitAny: answers have every shape
  const act = async (name: string, path: string, input: object = {}): Promise<any> => {
    const answer = await stage.act(name, path, input, { token: tokens[name]! })
    expect([path, answer.status, answer.json.error]).toEqual([path, 200, undefined])
    const { output } = operations.get(path)!
    expect([path, output.safeParse(answer.json).error?.issues]).toEqual([path, undefined])
    told.add(path)
    return answer.json
  }
  await act('ada', 'join', { roles: ['lead', 'reviewer'], note: 'first', session: { client: 'test' } })
  await act('bob', 'open', { join: { tags: ['project:x'] } })
  await act('ada', 'heartbeat')
  await act('bob', 'update', { addRoles: ['builder'], state: 'idle' })
  expect(await act('bob', 'lead')).toEqual({ result: 'role:lead' })
  expect(await act('bob', 'template', { name: 'none' })).toEqual({ result: null })

  const everything = {
    ...{
      to: ['bob', 'project:x'],
      subject: 's',
      body: 'words',
      type: 'text',
      priority: 'high',
      tags: ['concern:y'],
    },
    ...{
      payload: [1, { a: null }],
      context: { a: [1] },
      attachments: ['/tmp/a'],
      requiresAck: true,
      key: 'k',
    },
    ...{ ttlMs: 60_000, swarm: 'dev', awaitingResponse: true },
  }
  const sent = await act('ada', 'send', everything)
  await act('ada', 'broadcast', { body: 'hello' })
  const doomed = await act('ada', 'send', { to: 'bob', ttlMs: 1 })
  await expect.poll(async () => (await space.deadLetters()).letters.length).toBe(1)
  await act('ada', 'resend', { id: doomed.id, to: 'bob' })
  const withdrawn = await act('ada', 'send', { to: 'bob' })
  await act('ada', 'withdraw', { id: withdrawn.id })
  expect((await act('bob', 'count')).unread).toBe(3)
  await act('bob', 'inbox', { unread: true, minPriority: 'high', tag: 'project:x' })
  const unread = await act('bob', 'unread')
  await act('bob', 'notified', { ids: [sent.id] })
  expect((await act('bob', 'peek', { seq: sent.seq })).message.id).toBe(sent.id)
  expect((await act('bob', 'take', { id: sent.id })).message).toMatchObject({ id: sent.id, state: 'shown' })
  expect(await act('bob', 'take', { id: sent.id })).toEqual({ message: null })
  expect(unread.messages).toHaveLength(3)
  await act('bob', 'ack', { id: sent.id, note: 'have it' })
  expect(await act('ada', 'wait-for-ack', { id: sent.id, timeoutMs: 5_000 })).toEqual({ result: true })
  await act('bob', 'read', { id: sent.id })
  await act('bob', 'start', { id: sent.id })
  await act('bob', 'fail', { id: sent.id, reason: 'no luck' })
  await act('bob', 'retry', { id: sent.id })
  await act('bob', 'check', { budgetTokens: 10_000 })
  await act('bob', 'release', { id: sent.id })
  await act('bob', 'check', {})
  const reply = await act('bob', 'reply', { id: sent.id, body: 'an answer' })
  const answer = { replyTo: sent.id, type: 'response', timeoutMs: 0 }
  expect((await act('ada', 'wait', answer)).message.id).toBe(reply.id)
  expect(await act('ada', 'wait', { type: 'none', timeoutMs: 0 })).toEqual({ message: null })
  const more = await act('bob', 'reply', { id: sent.id, body: 'and another' })
  const several = { ...answer, replyTo: [sent.id], from: ['bob'], count: 2 }
  expect((await act('ada', 'wait-for-messages', several)).messages).toMatchObject([{ id: more.id }])
  expect(await act('ada', 'wait-until-settled', { ids: [sent.id], timeoutMs: 0 })).toMatchObject({
    matters: expect.arrayContaining([expect.objectContaining({ id: sent.id, kind: 'question' })]),
  })
  await act('bob', 'done', { id: sent.id, archive: false })
  await act('bob', 'archive', { id: sent.id })
  const forRole = await act('bob', 'send', { to: 'role:reviewer' })
  await act('ada', 'claim', { id: forRole.id, ttlMs: 60_000 })
  await act('bob', 'send', { to: 'role:reviewer' })
  expect((await act('ada', 'claim-next', { role: 'reviewer' })).result.claim.agent).toBe('ada')
  expect(await act('ada', 'claim-next', { role: 'reviewer' })).toEqual({ result: null })
  await act('bob', 'thread', { id: reply.id })
  await act('bob', 'show', { id: reply.id })
  await act('bob', 'sent', { limit: 2 })
  const later = await act('bob', 'send', { to: 'ada', at: '1h' })
  expect((await act('bob', 'scheduled', {})).messages).toMatchObject([{ id: later.id }])
  await act('bob', 'withdraw', { id: later.id })
  await act('bob', 'search', { query: 'answer' })

  await act('ada', 'hand-off', {
    to: 'bob',
    subject: 'Parser',
    workCompleted: 'all of it',
    nextSteps: ['rest'],
  })
  const plan = await act('bob', 'submit-plan', { subject: 'Plan', body: 'first this', taskId: 'T-1' })
  await act('ada', 'reject-plan', { id: plan.id, feedback: 'too large' })
  const revised = await act('bob', 'submit-plan', {
    subject: 'Plan',
    body: '',
    revises: plan.id,
    taskId: 'T-1',
  })
  await act('ada', 'approve-plan', { id: revised.id })
  await act('bob', 'ask-for-help', { body: 'stuck' })
  await act('bob', 'escalate', { reason: 'blocked', about: plan.id })
  const status = await act('ada', 'request-status', { to: 'bob' })
  await act('bob', 'respond-status', { id: status.id, status: 'working', progress: 0.5 })
  await act('ada', 'assign-task', { to: 'bob', subject: 'T', taskId: 'T-2' })
  await act('bob', 'update-status', { status: 'completed', taskId: 'T-2' })
  await act('ada', 'report-ci-failure', { to: 'bob', check: 'lint' })
  await act('ada', 'report-review', { to: 'bob', comments: [{ body: 'nit', path: 'a.ts', line: 3 }] })
  const stop = await act('ada', 'request-shutdown', { to: 'bob', reason: 'enough' })
  expect((await act('bob', 'owed')).owed.length).toBeGreaterThan(1)
  expect((await act('ada', 'awaited')).owed.length).toBeGreaterThan(1)
  expect(await act('bob', 'agent')).toMatchObject({ name: 'bob', roles: ['builder'] })
  await act('bob', 'come-in')
  const fresh = await act('ada', 'send', { to: 'bob' })
  expect((await act('bob', 'take-all', { ids: [fresh.id] })).messages).toMatchObject([{ state: 'shown' }])
  await act('bob', 'defer-shutdown', { id: stop.id, reason: 'nearly done' })
  await act('bob', 'accept-shutdown', { id: stop.id })
  expect(await act('bob', 'test-route', { to: 'ada' })).toMatchObject({ rule: null, to: ['ada'] })
  await act('bob', 'end-run', { frozen: true })
  await act('bob', 'leave', { frozen: true })
  await act('user', 'snooze', { ids: [stop.id], until: '2099-01-01' })
  await act('user', 'save-view', { name: 'plans', query: 'type:plan_submission' })
  // A bridge, for somebody in its folder.
  tokens['ao-1'] = stage.agentToken('ao-bridge', { scopes: ['read-all', 'bridge'] })
  const origin = { format: 'ao', path: 'there:/x', id: 'm1' }
  await act('ao-1', 'bridge-join', { tags: ['project:x'] })
  await act('ao-1', 'bridge-update', { addTags: ['project:y'] })
  const brought = await act('ao-1', 'bring', { to: 'ada', body: 'x', key: 'k1', origin })
  const forIt = await act('ada', 'send', { to: 'ao-1', body: 'y' })
  await act('ao-1', 'bridge-step', { ids: [forIt.id], step: 'ack' })
  expect(await act('ao-1', 'bridge-keyed', { keys: ['k1', 'k2'] })).toEqual({ ids: [brought.id, null] })
  expect(await act('ao-1', 'bridge-import', { lines: [{}] })).toMatchObject({
    imported: 0,
    refused: [{ line: 1 }],
  })
  await act('ao-1', 'bridge-leave')
  expect([...operations.keys()].filter((path) => !told.has(path))).toEqual([])

  const queries: Record<string, string> = { search: '?q=words', replay: '?at=20', series: '?buckets=5' }
  for (const [name, { path, output }] of Object.entries(readings) as [string, Reading][]) {
    const answer = await stage.ask(path.replace('{id}', sent.id as string) + (queries[name] ?? ''))
    expect([name, answer.status, output.safeParse(answer.json).error?.issues]).toEqual([name, 200, undefined])
  }
})

it('lets a generated client in TypeScript send, wait, answer and finish', { timeout: 300_000 }, async () => {
  const stage = await stageHub()
  await stage.space.join('ada')
  await stage.space.join('bob')
  const dir = tempDir()
  const input = join(dir, 'openapi.json')
  writeFileSync(input, (await stage.ask('/api/openapi.json')).text)
  const program = join(installed('openapiGenerator'), 'node_modules/@hey-api/openapi-ts/bin/run.js')
  const made = spawnSync(
    process.execPath,
    [program, '-i', input, '-o', join(dir, 'client'), '-c', '@hey-api/client-fetch'],
    {
      cwd: dir,
      encoding: 'utf8',
    },
  )
  expect(made.status, made.stderr + made.stdout).toBe(0)
  const entry = join(dir, 'main.ts')
  writeFileSync(entry, "export * from './client/sdk.gen'\nexport { client } from './client/client.gen'\n")
  const bundle = await rolldown({ cwd: dir, input: entry, platform: 'node', logLevel: 'silent' })
  await bundle.write({ file: join(dir, 'client.mjs'), format: 'esm' })
  await bundle.close()
  interface Answered<T> {
    data?: T
    error?: { error: { code: string } }
  }
  type Call = <T>(options?: object) => Promise<Answered<T>>
  type Generated = Record<
    'send' | 'inbox' | 'read' | 'reply' | 'wait' | 'done' | 'getAgents' | 'getThreads',
    Call
  > & {
    client: { setConfig(config: object): void }
  }
  const sdk = (await import(join(dir, 'client.mjs'))) as Generated
  const as = (name: string, token: string, body: object) => ({ path: { mailbox: name }, auth: token, body })
  sdk.client.setConfig({ baseUrl: stage.url })
  const [ada, bob] = [stage.agentToken('ada'), stage.agentToken('bob')]
  const sent = await sdk.send<{ id: string }>(
    as('ada', ada, { to: 'bob', subject: 'made by machine', body: 'hello' }),
  )
  expect(sent.error).toBeUndefined()
  const inbox = await sdk.inbox<{ messages: { id: string }[] }>(as('bob', bob, { unread: true }))
  expect(inbox.data?.messages.map(({ id }) => id)).toEqual([sent.data!.id])
  const read = await sdk.read<object>(as('bob', bob, { id: sent.data!.id }))
  expect(read.data).toMatchObject({ from: 'ada', body: 'hello', state: 'shown' })
  await sdk.reply(as('bob', bob, { id: sent.data!.id, body: '7337' }))
  const wanted = { replyTo: sent.data!.id, timeoutMs: 50_000 }
  const answer = await sdk.wait<{ message: { body: string } }>(as('ada', ada, wanted))
  expect(answer.data?.message.body).toBe('7337')
  expect((await sdk.done<object>(as('bob', bob, { id: sent.data!.id }))).data).toMatchObject({
    state: 'archived',
  })
  const threads = await sdk.getThreads<{ threads: object[] }>({
    auth: ada,
    query: { agent: 'bob', limit: 5 },
  })
  expect(threads.data?.threads).toMatchObject([{ subject: 'made by machine' }])
  const refused = await sdk.read<object>(as('bob', ada, { id: sent.data!.id }))
  expect(refused.error?.error.code).toBe('not_permitted')
})

it('lets a generated client in Perl send, wait, answer and finish', async () => {
  needTool('perl -MOpenAPI::Client')
  const stage = await stageHub()
  await stage.space.join('ada')
  await stage.space.join('bob')
  const dir = tempDir()
  const file = join(dir, 'openapi.json')
  writeFileSync(file, (await stage.ask('/api/openapi.json')).text)
  // It would get the schema of such documents from the network. The first test holds the document against it.
  const schemaUrl = 'https://spec.openapis.org/oas/3.1/schema/2021-05-20'
  writeFileSync(join(dir, createHash('md5').update(schemaUrl).digest('hex')), '{}')
  const env = { ...process.env, JSON_VALIDATOR_CACHE_PATH: dir }
  const program = fileURLToPath(new URL('./generated.pl', import.meta.url))
  const words = [program, file, stage.url, stage.agentToken('ada'), stage.agentToken('bob')]
  const { stdout, stderr } = await promisify(execFile)('perl', words, { env })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    ...{ inbox: [1], read: 'shown', answer: '7337', done: 'archived', threads: 'made by machine' },
    ...{ refused: 'not_found', bad: '/body/subject' },
  })
})
