import { onTestFinished } from 'vitest'
import {
  type AgentContext,
  type AgentEvent,
  type AgentHandlers,
  type AgentLoopResult,
  type InboxMessage,
  type LocalSpace,
  type Mailbox,
  runAgent,
} from '../../src/mod.ts'
import { startScript } from '../helpers/processes.ts'
import { within } from '../helpers/scene.ts'
import { tempSpace, testSettings } from '../helpers/temp.ts'

/** A promise and how to keep it. */
export interface Gate<T = void> {
  opened: Promise<T>
  open: (value: T) => void
}

export function gate<T = void>(): Gate<T> {
  let open: (value: T) => void = () => {}
  const opened = new Promise<T>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** A loop that runs in this process for the length of a test. */
export interface Loop {
  result: Promise<AgentLoopResult>
  stop: () => void
  events: AgentEvent[]
  /** The first event like that, past or future. */
  event(name: AgentEvent['event'], subject?: string): Promise<AgentEvent>
}

type Run = (
  mailbox: Mailbox,
  handlers: AgentHandlers,
  options: { signal: AbortSignal; onEvent: (event: AgentEvent) => void },
) => Promise<AgentLoopResult>

export function startLoop(mailbox: Mailbox, handlers: AgentHandlers, run: Run = runAgent): Loop {
  const events: AgentEvent[] = []
  const looks = new Set<() => void>()
  const stop = new AbortController()
  const onEvent = (event: AgentEvent) => {
    events.push(event)
    for (const look of [...looks]) look()
  }
  const result = run(mailbox, handlers, { signal: stop.signal, onEvent })
  // A test that expects an end looks at it; the others only want it over.
  result.catch(() => {})
  onTestFinished(async () => {
    stop.abort()
    await result.catch(() => {})
  })
  const event: Loop['event'] = (name, subject) =>
    within(
      new Promise<AgentEvent>((resolve) => {
        const look = () => {
          const isMeant = (one: AgentEvent) =>
            one.event === name && (subject === undefined || one.message.subject === subject)
          const found = events.find(isMeant)
          if (found === undefined) return
          looks.delete(look)
          resolve(found)
        }
        looks.add(look)
        look()
      }),
    )
  return { result, stop: () => stop.abort(), events, event }
}

/** A handler that says when it has begun and goes on when it is told to, or when it must end. */
export function slowHandler() {
  const begun = gate<{ message: InboxMessage; context: AgentContext }>()
  const finish = gate()
  const told = gate()
  const handler = async (message: InboxMessage, context: AgentContext) => {
    begun.open({ message, context })
    const stopped = new Promise<never>((_, reject) =>
      context.signal.addEventListener('abort', () => {
        told.open()
        reject(new Error('told to stop'))
      }),
    )
    await Promise.race([finish.opened, stopped])
    return 'built'
  }
  return { handler, begun: begun.opened, finish: finish.open, told: told.opened }
}

/** Somebody who leads, somebody who works. */
export async function office(
  options: Parameters<typeof tempSpace>[0] = {},
): Promise<{ space: LocalSpace; lead: Mailbox; ada: Mailbox }> {
  const space = await tempSpace(options)
  const lead = await space.mailbox('lead', { join: { roles: ['lead'] } })
  return { space, lead, ada: await space.mailbox('ada') }
}

/** Where a message stands with its only recipient, and what was said at each rung. */
export async function ladderOf(space: LocalSpace, id: string) {
  const { receipts } = await space.show(id)
  const { state, steps, attempts } = receipts[0]!
  return {
    state,
    attempts,
    steps: steps.map((step) => step.state),
    notes: steps.flatMap(({ note }) => note ?? []),
  }
}

const script = new URL('../../examples/mock-agent.mjs', import.meta.url)

/** The mock agent of the examples, as a process of this test. */
export function startMock(dir: string, name: string, behaviour: object) {
  const running = startScript(script, [dir, name, JSON.stringify({ settings: testSettings, ...behaviour })])
  return {
    ...running,
    event: (event: string, subject = '') =>
      within(running.line(new RegExp(`"event":"${event}".*${subject}`)), 20_000),
  }
}
