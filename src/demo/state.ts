import { fieldsOf } from '../conversation/field.ts'
import type { InboxMessage, LocalSpace } from '../mod.ts'
import type { MockAgent } from './mock-agent.ts'
import { Deck, type Random } from './random.ts'
import type { Schedule } from './schedule.ts'
import { checkout } from './texts/checkout.ts'
import { type Incident, incidents } from './texts/incidents.ts'
import { mobile } from './texts/mobile.ts'
import { type Ask, asks } from './texts/person.ts'
import { search } from './texts/search.ts'
import { smallTalk } from './texts/small-talk.ts'
import type { WorkItem } from './texts/work-item.ts'

/** A task in progress, identified by its mail thread. */
export interface Job {
  item: WorkItem
  taskId: string
  /** The assignment, and who works on it. */
  task: InboxMessage
  author: string
  /** Who decides on its plan. */
  judge?: string
  tries: number
  reviews: number
  tests: number
  /** All checks have passed. */
  isGreen: boolean
}

type Lines = { [K in keyof typeof smallTalk]: Deck<(typeof smallTalk)[K][number]> }

/** What all agents share: the space, the schedule, random numbers and texts. */
export interface DemoState {
  space: LocalSpace
  schedule: Schedule
  /** The length of a day in demo time. */
  daySeconds: number
  random: Random
  agents: Map<string, MockAgent>
  /** At night nobody joins. */
  isNight: boolean
  backlog: Deck<WorkItem>
  incidents: Deck<Incident>
  asks: Deck<Ask>
  lines: Lines
  /** Tasks in progress, by thread. */
  jobs: Map<string, Job>
  /** Assigned work, by task id. */
  given: Map<string, WorkItem>
  /** Incidents that the on-call agent has reported, by the id of the alert. */
  alarms: Map<string, Incident>
  /** What the person has not answered yet. */
  openAsks: Set<string>
  openPlans: Set<string>
  /** How often each kind of mishap has happened. */
  mishaps: Map<string, number>
}

const allWork = [...checkout, ...search, ...mobile]

export function createDemoState(
  given: Pick<DemoState, 'space' | 'schedule' | 'random' | 'daySeconds'>,
): DemoState {
  const { random } = given
  const lines = Object.fromEntries(
    Object.entries(smallTalk).map(([name, texts]) => [name, new Deck<unknown>(texts, random)]),
  ) as unknown as Lines
  return {
    ...{ ...given, lines },
    agents: new Map(),
    isNight: false,
    backlog: new Deck(allWork, random),
    incidents: new Deck(incidents, random),
    asks: new Deck(asks, random),
    jobs: new Map(),
    given: new Map(),
    alarms: new Map(),
    openAsks: new Set(),
    openPlans: new Set(),
    mishaps: new Map(),
  }
}

/** Whether something goes wrong this time. The first time it always does, so that every story has one of each. */
export function mishap(demo: DemoState, what: string, probability: number): boolean {
  const before = demo.mishaps.get(what) ?? 0
  const happens = demo.random.happens(probability) || before === 0
  if (happens) demo.mishaps.set(what, before + 1)
  return happens
}

/** Agents that have a role and are here, in team order. */
export const holders = (demo: DemoState, role: string): MockAgent[] =>
  [...demo.agents.values()].filter((agent) => agent.here && agent.member.roles.includes(role))

/** The work that an assignment is about; an outsider may ask for anything. */
export function itemOf(demo: DemoState, message: InboxMessage): WorkItem {
  const taskId = fieldsOf(message.payload)['taskId']
  const known = typeof taskId === 'string' ? demo.given.get(taskId) : undefined
  return known ?? improvise(message)
}

export const taskIdOf = (message: InboxMessage): string => {
  const taskId = fieldsOf(message.payload)['taskId']
  return typeof taskId === 'string' ? taskId : message.id.slice(-6)
}

function improvise(message: InboxMessage): WorkItem {
  const title = message.subject || 'What you asked for'
  return {
    id: taskIdOf(message),
    project: 'checkout',
    title,
    brief: message.body,
    files: ['src/asked-for.ts'],
    comment: {
      path: 'src/asked-for.ts',
      line: 7,
      body: 'What happens when this is empty? Please add a test.',
    },
    trouble: 'My first attempt only does half of it. Trying again.',
    check: 'unit / new',
    log: 'expected a result but got nothing',
    result: `Done: ${title}`,
    doc: title,
  }
}
