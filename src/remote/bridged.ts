import { join } from 'node:path'
import type { BridgeStep, bridgeOperations } from '../api/bridge-operations.ts'
import { type AnswerOf, type InputOf, toPath } from '../api/operation.ts'
import { MailboxError } from '../base/errors.ts'
import { given } from '../base/objects.ts'
import type { JoinInput, UpdateInput } from '../command/roster.ts'
import type { Agent } from '../model/agent.ts'
import type { Entry } from '../model/entry.ts'
import type { SendInput } from '../model/fields.ts'
import type { Origin } from '../model/origin.ts'
import type { RosterAgent } from '../query/presence.ts'
import type { BridgedMailbox, BridgedSpace, Keyed } from '../space/bridged.ts'
import type { NumberedLine, Refusal } from '../space/transfer.ts'
import { type Connection, HubRefusal } from './connection.ts'
import { asSeenHere, machineIn } from './machine.ts'
import { RemoteMailbox } from './mailbox.ts'
import { inPieces } from './pieces.ts'
import type { RemoteSpace } from './space.ts'
import { followHub } from './stream.ts'

type Operations = typeof bridgeOperations

const keysAtOnce = 1_000

/** What the part of the program that knows bridges makes of an error that ends one. */
type EndedBy = (cause: Error) => Error

/** A space behind a hub, for a bridge on this machine. Everything it does can be repeated, and is while the hub is away. */
export class RemoteBridged implements BridgedSpace {
  readonly id: string
  readonly place: string
  readonly dir: string
  readonly now: () => number
  roster: ReadonlyMap<string, Agent> = new Map()
  readonly #connection: Connection
  readonly #space: RemoteSpace
  readonly #endedBy: EndedBy
  readonly #machine: string
  /** Who was told which roles and tags already: those that the person gives are left out, and are not asked for again. */
  readonly #told = new Set<string>()

  constructor(connection: Connection, space: RemoteSpace, endedBy: EndedBy) {
    this.#connection = connection
    this.#space = space
    this.#endedBy = endedBy
    this.id = space.id
    this.place = space.place
    this.now = space.now
    // Another space may be at the same address one day.
    this.dir = join(space.stateDir, space.id)
    this.#machine = machineIn(this.dir)
  }

  /** Throws if the hub takes no bridges, or none with this token. */
  check = (): Promise<unknown> => this.#ask(this.#space.you, 'bridgeKeyed', { keys: [] })

  nameOf = (path: string): string => `${this.#machine}:${path}`

  async refresh(): Promise<void> {
    this.roster = new Map((await this.agents()).map((agent) => [agent.name, asSeenHere(agent)]))
  }

  agents = (): Promise<RosterAgent[]> => this.#try(() => this.#space.agents())
  show = (id: string) => this.#try(() => this.#space.show(id))
  owed = (options: Parameters<RemoteSpace['owed']>[0]) => this.#try(() => this.#space.owed(options))
  lastSeq = () => this.#try(() => this.#space.lastSeq())

  async *entries(after: number, signal?: AbortSignal): AsyncGenerator<{ entry: Entry }> {
    try {
      yield* this.#space.entries(after, signal)
    } catch (error) {
      throw this.#ending(error)
    }
  }

  async join(name: string, { roles, tags, note }: JoinInput): Promise<void> {
    this.#know(await this.#ask(name, 'bridgeJoin', given({ roles, tags, note })))
  }

  async update(name: string, { addRoles, addTags }: UpdateInput): Promise<void> {
    const told = JSON.stringify([name, addRoles, addTags])
    if (this.#told.has(told)) return
    this.#know(await this.#ask(name, 'bridgeUpdate', given({ addRoles, addTags })))
    this.#told.add(told)
  }

  async leave(name: string): Promise<void> {
    this.#know(await this.#ask(name, 'bridgeLeave', {}))
  }

  #know(agent: Agent): void {
    this.roster = new Map([...this.roster, [agent.name, asSeenHere(agent)]])
  }

  mailboxInside(name: string): BridgedMailbox {
    const step = (step: BridgeStep, ids: readonly string[], reason?: string) =>
      this.#ask(name, 'bridgeStep', { ids, step, ...given({ reason }) })
    const mailbox = new RemoteMailbox(this.#connection, name, this.#space, () => {})
    return {
      bring: (input: SendInput, origin: Origin) => this.#ask(name, 'bring', { ...input, origin }),
      unread: () => this.#try(() => mailbox.unread()),
      peek: (seq) => this.#try(() => mailbox.peek(seq)),
      notified: (ids) => step('notified', ids),
      take: (id) => step('take', [id]),
      retry: (id) => step('retry', [id]),
      ack: (id) => step('ack', [id]),
      start: (id) => step('start', [id]),
      fail: (id, { reason }) => step('fail', [id], reason),
      done: (id, { archive = true } = {}) => step(archive ? 'file' : 'done', [id]),
      archive: (id) => step('archive', [id]),
    }
  }

  async keyed(asked: readonly Keyed[]): Promise<(string | undefined)[]> {
    const found: (string | undefined)[] = asked.map(() => undefined)
    const bySender = new Map<string, number[]>()
    for (const [at, { from }] of asked.entries()) bySender.set(from, [...(bySender.get(from) ?? []), at])
    for (const [from, places] of bySender)
      for (let start = 0; start < places.length; start += keysAtOnce) {
        const some = places.slice(start, start + keysAtOnce)
        const { ids } = await this.#ask(from, 'bridgeKeyed', { keys: some.map((at) => asked[at]!.key) })
        for (const [n, at] of some.entries()) found[at] = ids[n] ?? undefined
      }
    return found
  }

  async importLines(lines: readonly NumberedLine[], onRefused: (refusal: Refusal) => void): Promise<number> {
    let added = 0
    for (const some of inPieces(lines)) {
      const values = some.map((line) => ('value' in line ? line.value : null))
      const { imported, refused } = await this.#ask(this.#space.you, 'bridgeImport', { lines: values })
      added += imported
      for (const { line, reason } of refused) onRefused({ line: some[line - 1]!.line, reason })
    }
    return added
  }

  onWake(ring: () => void): () => void {
    const stop = new AbortController()
    const follow = async () => {
      const after = await this.lastSeq()
      ring()
      for await (const _ of followHub(this.#connection, { after, signal: stop.signal })) ring()
    }
    // Whatever ends it ends the next request of a look as well, and that is told.
    follow().catch(ring)
    return () => stop.abort()
  }

  #ask<M extends keyof Operations>(
    name: string,
    method: M,
    body: InputOf<Operations[M]>,
  ): Promise<AnswerOf<Operations[M]>> {
    const path = `/api/mailboxes/${encodeURIComponent(name)}/${toPath(method)}`
    return this.#try(() => this.#connection.call({ path, body, repeatable: true }))
  }

  async #try<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw this.#ending(error)
    }
  }

  /** What is wrong with the hub is no refusal of a message: nothing may be given up for it. */
  #ending(error: unknown): unknown {
    if (!(error instanceof MailboxError)) return error
    const { code, message } = error
    const isOfHub =
      (error instanceof HubRefusal && error.isOfToken) ||
      ['unreachable', 'closed', 'internal', 'damaged'].includes(code) ||
      (code === 'not_found' && message.startsWith('a mailbox has no operation'))
    return isOfHub ? this.#endedBy(error) : error
  }
}
