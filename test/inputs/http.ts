import { Agent, request } from 'node:http'
import fc from 'fast-check'
import { toPath } from '../../src/api/operation.ts'
import { readings } from '../../src/api/readings.ts'
import { operations } from '../../src/hub/operations.ts'
import { corpora } from '../helpers/corpora.ts'
import { stageHub } from '../helpers/hub.ts'
import { type Call, inputsFrom, resolveIds, sample } from './generate.ts'
import { Accepted, Judge } from './judge.ts'

const inputsPerHub = 20_000
const atOnce = 32
/** How long we wait for an operation that waits. */
const patienceMs = 5

/** A request as it goes out. */
interface Asked {
  method: string
  path: string
  body?: string | Buffer | undefined
  headers?: Record<string, string>
  /** What was sent, if it was a message. */
  message?: Record<string, unknown> | undefined
}

const agents = ['ada', 'bob', 'cleo']
const methods = ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH']

/** Requests to a hub, over a few connections that stay open. */
export async function http(count: number, seed: number, progress: (judge: Judge) => void): Promise<Judge> {
  const judge = new Judge('HTTP')
  const { call, text, document } = inputsFrom(await corpora(), fc.jsonValue({ maxDepth: 2 }))
  const part = text.map((one) => encodeURIComponent(one.toWellFormed()).slice(0, 2_000))
  const query = fc.array(
    fc.tuple(fc.constantFrom('q', 'after', 'limit', 'from', 'to', 'id', 'kind', 'bucket', 'mailbox'), part),
    { maxLength: 3 },
  )
  const reading = fc
    .tuple(fc.constantFrom(...Object.values(readings).map(({ path }) => path)), part, query)
    .map(
      ([path, id, words]): Asked => ({
        method: 'GET',
        path: `${path.replace(/\{\w+\}/, id || 'x')}?${words.map((pair) => pair.join('=')).join('&')}`,
      }),
    )
  const raw = fc
    .tuple(
      fc.constantFrom(...operations.keys()),
      fc.oneof(
        document,
        fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      ),
    )
    .map(([operation, body]): Asked => ({ method: 'POST', path: `/api/mailboxes/ada/${operation}`, body }))
  const odd = fc
    .tuple(
      fc.constantFrom(...methods),
      fc.constantFrom('/', '/api/', '/api/mailboxes/', '/mcp', '/metrics', '/health', '/assets/'),
      part,
      text,
    )
    .map(
      ([method, path, rest, header]): Asked => ({
        method,
        path: `${path}${rest}`,
        headers: { 'x-odd': encodeURIComponent(header.toWellFormed()).slice(0, 500), accept: '*/*' },
      }),
    )
  const generated = fc.oneof(
    { weight: 14, arbitrary: call },
    { weight: 3, arbitrary: reading },
    { weight: 2, arbitrary: raw },
    { weight: 1, arbitrary: odd },
  )
  for (let done = 0; done < count; done += inputsPerHub) {
    const stage = await stageHub({ limits: { requestsPerSecond: 1e9, requestBurst: 1e9 } })
    const tokens: string[] = []
    for (const name of agents) {
      await stage.space.join(name, { roles: ['worker'], tags: ['project:x'] })
      tokens.push(stage.agentToken(name, name === 'ada' ? { scopes: ['act', 'read-all'] } : {}))
    }
    const accepted = new Accepted(judge)
    const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
    const left = Math.min(inputsPerHub, count - done)
    for (let at = 0; at < left; at += atOnce) {
      const batch = sample(generated, Math.min(atOnce, left - at), seed + done + at)
      await Promise.all(
        batch.map((one, n) => {
          const who = n % agents.length
          const asked = 'operation' in one ? toRequest(one, agents[who]!, accepted.ids) : one
          return ask(stage.url, tokens[who]!, agent, asked, accepted, judge)
        }),
      )
      progress(judge)
    }
    for (const line of stage.lines.filter(({ msg }) => msg === 'failed'))
      judge.fail('untyped', 'the hub logged a failure', line)
    agent.destroy()
    await accepted.compare(stage.space)
    await stage.stop()
  }
  return judge
}

function toRequest({ operation, first, options }: Call, name: string, ids: readonly string[]): Asked {
  const fields = options !== null && typeof options === 'object' && !Array.isArray(options)
  const given: Record<string, unknown> = fields
    ? Object.fromEntries(
        Object.entries(options as object).map(([key, value]) => [key, resolveIds(value, ids)]),
      )
    : {}
  if (first !== undefined) given[first.name] = resolveIds(first.value, ids)
  const isMessage = ['send', 'reply', 'broadcast'].includes(operation)
  return {
    method: 'POST',
    path: `/api/mailboxes/${name}/${toPath(operation)}`,
    body: JSON.stringify(fields ? given : options),
    message: isMessage ? given : undefined,
  }
}

/** Sends a request and judges its answer. */
function ask(
  url: string,
  token: string,
  agent: Agent,
  { method, path, body, headers = {}, message }: Asked,
  accepted: Accepted,
  judge: Judge,
): Promise<void> {
  return new Promise((resolve) => {
    const waits = /\/wait/.test(path)
    const outgoing = request(`${url}${path}`, {
      ...{ method, agent },
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    })
    let isGone = false
    const end = (work: () => void) => {
      clearTimeout(patience)
      work()
      resolve()
    }
    const patience =
      waits || path.startsWith('/mcp')
        ? setTimeout(() => {
            isGone = true
            outgoing.destroy()
          }, patienceMs)
        : undefined
    outgoing.on('error', (error) =>
      end(() => (isGone ? judge.accept() : judge.broke(error.message, { method, path, body: String(body) }))),
    )
    outgoing.on('response', (response) => {
      const parts: Buffer[] = []
      response.on('data', (data: Buffer) => parts.push(data))
      response.on('error', () => end(() => judge.accept()))
      response.on('end', () => {
        const { statusCode = 0 } = response
        const said = Buffer.concat(parts).toString()
        end(() => {
          if (statusCode < 400) judge.accept()
          else judge.refuse()
          if (statusCode >= 500 || said.includes('"code":"internal"'))
            judge.fail('untyped', `status ${statusCode} ${said.slice(0, 300)}`, {
              method,
              path,
              body: String(body),
            })
          else if (message !== undefined && statusCode === 200)
            accepted.note(message, JSON.parse(said) as never)
        })
      })
    })
    outgoing.end(body)
  })
}
