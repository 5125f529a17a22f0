import { randomBytes } from 'node:crypto'
import type { Heartbeat, WatchedAgent } from '../delivery/watcher.ts'
import { asMailboxError } from '../errors.ts'
import type { InboxMessage } from '../query/inbox.ts'
import { identify, type Space } from '../space.ts'
import type { Courier, Desk, Event } from './courier.ts'
import { ExecCourier } from './exec-courier.ts'
import { PaneCourier } from './pane-courier.ts'
import { type Registration, Store, writeJson } from './store.ts'

export interface WorkOptions {
  signal: AbortSignal
  tell: (event: Event) => void
  /** Called once a second while everything goes round. */
  beat: () => void
}

/** How soon to look again at a pane that is not ready. */
const turnMs = 120
const beatMs = 1_000
/** Mail of one agent that is looked at in a turn; more comes when that is delivered. */
const pageSize = 50

interface Line {
  courier: Courier
  /** As it was registered; another text means another courier. */
  text: string
  unread: InboxMessage[]
  doing: string
  isPending: boolean
}

/** One process for all agents: looks for their mail when the journal rings, and gives every courier a turn. */
export async function work(space: Space, { signal, tell, beat }: WorkOptions): Promise<void> {
  const store = new Store(space.dir)
  const bell = space.bell(signal)
  const keeper = space.keepTime()
  let wake = () => {}
  const desk: Desk = { space, store, epoch: randomBytes(6).toString('hex'), tell, wake: () => wake() }
  const lines = new Map<string, Line>()
  const me = identify(process.pid)
  let beatAt = Number.NEGATIVE_INFINITY
  try {
    while (!signal.aborted) {
      bell.reset()
      updateLines(lines, desk)
      const states = new Map((await space.agents()).map(({ name, state }) => [name, state]))
      await Promise.all(
        [...lines.values()].map((line) => turn(line, space, states.get(line.courier.registration.agent))),
      )
      if (performance.now() - beatAt >= beatMs) {
        beatAt = performance.now()
        const heartbeat: Heartbeat = { worker: me, at: space.now(), agents: [...lines.values()].map(watched) }
        writeJson(store.paths.heartbeat, heartbeat)
        beat()
      }
      const isPending = [...lines.values()].some((line) => line.isPending)
      const ended = new Promise<void>((resolve) => (wake = resolve))
      await Promise.race([bell.rung(isPending ? turnMs : beatMs), ended])
    }
  } finally {
    keeper.stop()
    bell.close()
  }
}

/** Agents can be attached and detached while we run. */
function updateLines(lines: Map<string, Line>, desk: Desk): void {
  const registrations = desk.store.registrations()
  for (const registration of registrations) {
    const text = JSON.stringify(registration)
    if (lines.get(registration.agent)?.text === text) continue
    const courier = courierFor(desk, registration)
    if (courier !== undefined)
      lines.set(registration.agent, { courier, text, unread: [], doing: 'starts', isPending: true })
  }
  for (const agent of lines.keys()) if (!registrations.some((one) => one.agent === agent)) lines.delete(agent)
}

function courierFor(desk: Desk, registration: Registration): Courier | undefined {
  const { place, exec } = registration
  if (place !== undefined) return new PaneCourier(desk, registration, place)
  return exec === undefined ? undefined : new ExecCourier(desk, registration, exec)
}

/** What goes wrong with one agent is that agent's matter: the others get their mail. */
async function turn(line: Line, space: Space, state: string | undefined): Promise<void> {
  try {
    const { agent } = line.courier.registration
    if (state === undefined || state === 'frozen') {
      line.doing = state === 'frozen' ? 'frozen; its mail waits' : `unknown: mailbox join ${agent}`
      line.isPending = false
      return
    }
    const mailbox = await space.mailbox(agent, { join: false })
    line.unread = (await mailbox.inbox({ unread: true, limit: pageSize })).messages
    Object.assign(line, await line.courier.turn(line.unread))
  } catch (error) {
    const { message, hint } = asMailboxError(error)
    line.doing = hint === undefined ? message : `${message}: ${hint}`
    line.isPending = true
  }
}

function watched({ courier, unread, doing }: Line): WatchedAgent {
  const { agent, place, exec } = courier.registration
  return { agent, where: place?.pane ?? exec ?? '', waiting: unread.length, doing }
}
