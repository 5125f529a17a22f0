import { existsSync, mkdirSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { systemAgent } from '../../model/agent.ts'
import type { Folder } from '../folder.ts'
import type { Outgoing } from '../format.ts'
import { LockHeld } from '../lock.ts'
import { envelope } from './envelope.ts'
import { Pace } from './pace.ts'
import type { PeerMessage, PeerNotice } from './peer-frames.ts'
import { ownAgents, plainName, textFor } from './peers.ts'
import {
  ownPath,
  type SessionRecord,
  sessionsIn,
  socketDirOf,
  socketName,
  tokenOf,
  writeOwn,
} from './session-files.ts'
import { listen, post } from './session-wire.ts'

/** The last message that a session has taken: one is on its way to a session at a time. */
const takenNote = 'taken by '
/** The last message that one of us has begun to send to a session. */
const triedNote = 'tried '
/** Messages that were begun twice: nobody knows whether they were taken the first time. */
const againNote = 'again '

/** Whatever a session has taken of a message, it has it no more. */
export function forgetSent({ memory }: Folder, id: string): void {
  for (const start of [takenNote, triedNote])
    for (const [rest, value] of memory.notes(start)) if (value === id) memory.forgetNote(`${start}${rest}`)
  memory.forgetNote(`${againNote}${id}`)
}

/**
 * Whether a session that has dropped a message as a copy has it already: what it compares it with is the same message,
 * from a run that was killed before it knew.
 */
export function wasTakenBefore({ memory }: Folder, id: string): boolean {
  const isAgain = memory.note(`${againNote}${id}`) !== undefined
  memory.forgetNote(`${againNote}${id}`)
  return isAgain
}

export interface Received {
  /** Whom it is for here. */
  owner: string
  message: PeerMessage
  done: () => void
}

interface Peer {
  name: string
  socket: string
  server: Server
}

/** The sockets of one bridge: a place to be reached for each of our agents, and what came there. */
export class LiveSessions {
  readonly received: Received[] = []
  readonly notices: PeerNotice[] = []
  readonly #folder: Folder
  readonly #ring: () => void
  readonly #peers = new Map<string, Peer>()
  readonly #posting = new Set<string>()
  /** What was dropped before the session had closed the socket. */
  readonly #dropped = new Set<string>()
  readonly #pace = new Pace()
  /** Who is to be reachable; undefined before the first look. */
  #wanted: ReadonlySet<string> | undefined
  #isClosed = false
  #opening: Promise<void> = Promise.resolve()

  constructor(folder: Folder, ring: () => void) {
    this.#folder = folder
    this.#ring = ring
  }

  /** Makes our agents reachable, and takes away what is left of those who are gone. */
  tend(): void {
    this.#opening = this.#opening.then(() => this.#open()).catch(() => {})
  }

  async #open(): Promise<void> {
    const sessions = sessionsIn(this.#folder)
    const { dir = '', id: space = '' } = this.#folder.host ?? {}
    const sockets = socketDirOf(sessions)
    if (this.#isClosed) return
    const theirs = sessions.filter((one) => one.space !== space)
    const taken = new Set(theirs.map(({ name }) => plainName(name)))
    const wanted = ownAgents(this.#folder, sessions).filter(({ name }) => !taken.has(plainName(name)))
    const names = new Set(wanted.map(({ name }) => name))
    this.#wanted = names
    for (const [name, peer] of this.#peers) if (!names.has(name)) this.#close(name, peer)
    for (const { name, socket } of sessions.filter((one) => one.space === space))
      if (!names.has(name)) this.#remove(name, socket)
    if (sockets === undefined) return
    const cwd = basename(dir) === '.mailbox' ? dirname(dir) : dir
    for (const { name } of wanted) {
      const socket = this.#peers.get(name)?.socket ?? join(sockets, socketName(space, name))
      if (!this.#peers.has(name)) {
        mkdirSync(dirname(socket), { recursive: true, mode: 0o700 })
        const server = await listen(socket, this.#receiver(name))
        this.#peers.set(name, { name, socket, server })
        if (this.#isClosed) return this.#close(name, this.#peers.get(name)!)
      }
      if (!this.#folder.has(ownPath({ space, agent: name })))
        writeOwn(this.#folder, { space, agent: name, name, socket, cwd })
      // Somebody has cleaned up: listen again.
      if (!existsSync(socket)) this.#close(name, this.#peers.get(name)!)
    }
  }

  #receiver(owner: string) {
    return {
      onMessage: (message: PeerMessage, done: () => void) => {
        const one = { owner, message, done }
        this.received.push(one)
        this.#ring()
        return () => {
          const at = this.received.indexOf(one)
          if (at >= 0) this.received.splice(at, 1)
        }
      },
      onNotice: (notice: PeerNotice) => {
        this.notices.push(notice)
        this.#ring()
      },
    }
  }

  /** Forgets what has been kept, and tells its senders. */
  settle(isKept: (received: Received) => boolean): void {
    for (const one of this.received.splice(0)) {
      if (isKept(one)) one.done()
      else this.received.push(one)
    }
  }

  /** Throws `LockHeld` until the session has the message. */
  post(session: SessionRecord, outgoing: Outgoing): void {
    const { id, letter } = outgoing
    const note = `${takenNote}${session.sessionId}`
    if (this.#folder.memory.note(note) === id) return
    const from = this.#peers.get(letter.from)
    const text = textFor(outgoing, this.#folder.host?.dir ?? '')
    const pair = `${letter.from} ${session.sessionId}`
    // Whoever is about to be reachable waits until it can be answered.
    const mayGo = from !== undefined || this.#wanted?.has(letter.from) === false
    if (mayGo && !this.#posting.has(id) && this.#pace.take(pair, text, Date.now())) {
      this.#posting.add(id)
      const { memory } = this.#folder
      if (memory.note(`${triedNote}${pair}`) === id) memory.setNote(`${againNote}${id}`, '')
      else memory.setNote(`${triedNote}${pair}`, id)
      const name = from?.name ?? (letter.from === systemAgent ? 'mailbox' : `mailbox-${letter.from}`)
      const socket = from?.socket
      const content = envelope(text, { name, ...(socket === undefined ? {} : { socket }) })
      const frame = { id, content, ...(socket === undefined ? {} : { from: socket }) }
      post(session.socket, tokenOf(this.#folder, session), frame)
        .then(() => this.#dropped.has(id) || memory.setNote(note, id))
        // It is tried again, at the socket that the session has then.
        .catch(() => {})
        .finally(() => {
          this.#posting.delete(id)
          this.#dropped.delete(id)
          this.#ring()
        })
    }
    throw new LockHeld(session.socket)
  }

  /** A session has dropped something: everybody waits for a while. */
  drop(id: string): void {
    if (this.#posting.has(id)) this.#dropped.add(id)
    this.#pace.cool(Date.now())
  }

  #close(name: string, { server, socket }: Peer): void {
    server.close()
    this.#peers.delete(name)
    this.#remove(name, socket)
  }

  #remove(name: string, socket: string): void {
    const { id: space = '' } = this.#folder.host ?? {}
    this.#folder.remove(ownPath({ space, agent: name }))
    if (basename(socket) === socketName(space, name)) rmSync(socket, { force: true })
  }

  close(): void {
    this.#isClosed = true
    for (const [name, peer] of this.#peers) this.#close(name, peer)
    // What a killed bridge has left, too.
    const { id = '' } = this.#folder.host ?? {}
    for (const { name, socket, space } of sessionsIn(this.#folder))
      if (space === id) this.#remove(name, socket)
  }
}
