import { InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { Calls } from '../../src/mcp/calls.ts'
import { steps } from '../../src/mcp/handle.ts'
import { Identity } from '../../src/mcp/identity.ts'
import { createMailboxServer } from '../../src/mcp/server.ts'
import { Tasks } from '../../src/mcp/tasks.ts'
import { workOf } from '../../src/mcp/wait-tool.ts'
import { openDisk } from '../../src/space/open.ts'
import { corpora } from '../helpers/corpora.ts'
import { tempDir, testSettings } from '../helpers/temp.ts'
import { inputsFrom, resolveIds, sample } from './generate.ts'
import { Accepted, Judge } from './judge.ts'

const inputsPerSpace = 4_000
const atOnce = 32
/** Only ends what hangs. */
const patienceMs = 60_000

type Params = Record<string, unknown>
interface Answer {
  result?: { isError?: boolean; content?: { text: string }[]; structuredContent?: Params }
  error?: { code: number; message: string }
}

/** What the protocol calls an internal error. */
const internalError = -32_603

/** Calls of tools, resources and prompts, through the server's own transport. */
export async function mcp(count: number, seed: number, progress: (judge: Judge) => void): Promise<Judge> {
  const judge = new Judge('MCP')
  const wild = fc.jsonValue({ maxDepth: 2 })
  const { message, text, json } = inputsFrom(await corpora(), wild)
  const id = fc.oneof(
    { weight: 6, arbitrary: fc.nat(999).map((n) => `#${n}`) },
    { weight: 1, arbitrary: text },
  )
  const tool = (name: string, args: fc.Arbitrary<unknown>, orElse = true) =>
    fc.record({
      method: fc.constant('tools/call'),
      params: fc.record({
        name: fc.constant(name),
        arguments: orElse ? fc.oneof({ weight: 30, arbitrary: args }, { weight: 1, arbitrary: wild }) : args,
      }),
    })
  const generated = fc.oneof(
    { weight: 24, arbitrary: tool('send', message) },
    { weight: 2, arbitrary: tool('check', fc.record({ limit: fc.nat(5), full: fc.boolean() })) },
    { weight: 3, arbitrary: tool('read', fc.record({ id, thread: fc.boolean() })) },
    {
      weight: 5,
      arbitrary: tool(
        'handle',
        fc.record({ id, step: fc.oneof(fc.constantFrom(...steps), text), note: text }),
      ),
    },
    { weight: 2, arbitrary: tool('search', fc.record({ query: text, limit: fc.nat(3) })) },
    { weight: 1, arbitrary: tool('agents', fc.record({ tags: fc.array(text, { maxLength: 2 }) })) },
    { weight: 1, arbitrary: tool('owed', fc.record({ all: fc.boolean() })) },
    {
      weight: 1,
      arbitrary: tool(
        'wait',
        fc.record({ seconds: fc.constantFrom(0, -1), from: text, count: fc.nat(2) }),
        false,
      ),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        method: fc.constant('resources/read'),
        params: fc.record({
          uri: fc
            .tuple(fc.constantFrom('mailbox://message/', 'mailbox://thread/', ''), text)
            .map((parts) => parts.join('')),
        }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        method: fc.constantFrom(
          'resources/list',
          'prompts/list',
          'tools/list',
          'prompts/get',
          'resources/subscribe',
          'completion/complete',
          'ping',
        ),
        params: fc.dictionary(fc.constantFrom('name', 'uri', 'cursor', 'arguments'), json, { maxKeys: 3 }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ method: text, params: fc.dictionary(text, json, { maxKeys: 2 }) }) },
  )
  for (let done = 0; done < count; done += inputsPerSpace) {
    await using space = await openDisk({ dir: tempDir(), settings: testSettings })
    for (const name of ['ada', 'bob', 'cleo'])
      await space.join(name, { roles: ['worker'], tags: ['project:x'] })
    const connection = await connect(space)
    const accepted = new Accepted(judge)
    const left = Math.min(inputsPerSpace, count - done)
    for (let at = 0; at < left; at += atOnce) {
      const batch = sample(generated, Math.min(atOnce, left - at), seed + done + at)
      await Promise.all(
        batch.map(async ({ method, params }) => {
          const given = named(params as Params, accepted.ids)
          judgeAnswer(await connection.ask(method, given), method, given, accepted, judge)
        }),
      )
      progress(judge)
    }
    await connection.close()
    await accepted.compare(space)
  }
  return judge
}

/** With ids of messages in the arguments of a tool. */
function named(params: Params, ids: readonly string[]): Params {
  const args = params['arguments']
  if (args === null || typeof args !== 'object' || Array.isArray(args)) return params
  return {
    ...params,
    arguments: Object.fromEntries(
      Object.entries(args).map(([name, value]) => [name, resolveIds(value, ids)]),
    ),
  }
}

function judgeAnswer(
  { result, error }: Answer,
  method: string,
  params: Params,
  accepted: Accepted,
  judge: Judge,
): void {
  const said = result?.content?.[0]?.text ?? error?.message ?? ''
  if (error !== undefined || result?.isError === true) judge.refuse()
  else judge.accept()
  // The SDK answers parameters that are not of the protocol's shape like that, with a list of what is wrong.
  const isMisshapen = said.startsWith('[') && said.includes('"path"')
  if (
    (error?.code === internalError && !isMisshapen) ||
    (result?.isError === true && said.startsWith('internal:'))
  )
    judge.fail('untyped', said, { method, params })
  const isSent = params['name'] === 'send' && method === 'tools/call' && result?.isError !== true
  const sent = result?.structuredContent?.['id']
  // Some kinds of messages have words of their own put in.
  if (isSent && typeof sent === 'string') accepted.noteId(params['arguments'] as Params, sent)
}

/** A client of `ada` that speaks the protocol by itself, so that nothing is checked before it is sent. */
async function connect(space: Awaited<ReturnType<typeof openDisk>>) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  const server = createMailboxServer(space, {
    version: '0.0.0-test',
    identity: new Identity(space, { name: 'ada' }),
    calls: new Calls(),
    tasks: new Tasks(workOf),
  })
  const waiting = new Map<number, (answer: Answer) => void>()
  let last = 0
  ours.onmessage = (message: JSONRPCMessage) => {
    if ('id' in message && !('method' in message)) waiting.get(Number(message.id))?.(message as Answer)
  }
  await server.connect(theirs)
  await ours.start()
  const ask = (method: string, params: Params) =>
    new Promise<Answer>((resolve, reject) => {
      const id = ++last
      const answered = (answer: Answer) => {
        clearTimeout(patience)
        waiting.delete(id)
        resolve(answer)
      }
      const patience = setTimeout(
        () => answered({ error: { code: internalError, message: 'no answer' } }),
        patienceMs,
      )
      waiting.set(id, answered)
      ours.send({ jsonrpc: '2.0', id, method, params } as JSONRPCMessage).catch(reject)
    })
  await ask('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'inputs', version: '1' },
  })
  await ours.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return { ask, close: () => server.close() }
}
