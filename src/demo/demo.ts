import { fieldsOf } from '../conversation/field.ts'
import type { InboxMessage, LocalSpace } from '../mod.ts'
import type { MockAgent } from './mock-agent.ts'
import { Deck, Random } from './random.ts'
import { Schedule } from './schedule.ts'
import { checkout } from './texts/checkout.ts'
import { incidents } from './texts/incidents.ts'
import { mobile } from './texts/mobile.ts'
import { asks } from './texts/person.ts'
import { search } from './texts/search.ts'
import { smallTalk } from './texts/small-talk.ts'
import type { WorkItem } from './texts/work-item.ts'

export interface DemoOptions {
  /** Seconds of demo time per real second. */
  speed: number
  seed: number
  agents: number
  /** Length of a day in demo time. @default 7_200: two hours at 1x, 24 minutes at 5x, six at 20x */
  daySeconds?: number
}

/** A task in progress, identified by its mail thread. */
export interface Job {
  item: WorkItem
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

const backlog = Object.entries({ checkout, search, mobile }).flatMap(([project, items]) =>
  Object.entries(items).map(([id, item]): WorkItem => ({ id, project, ...item })),
)
const texts = { ...smallTalk, asks, backlog, incidents }
type Texts = { [K in keyof typeof texts]: Deck<(typeof texts)[K][number]> }

/** What all agents share: the space, the schedule, random numbers and texts. */
export class Demo {
  readonly space: LocalSpace
  readonly schedule: Schedule
  readonly daySeconds: number
  readonly random: Random
  readonly texts: Texts
  readonly agents = new Map<string, MockAgent>()
  /** At night nobody joins. */
  isNight = false
  /** Tasks in progress, by thread. */
  readonly jobs = new Map<string, Job>()
  /** Assigned work, by task id. */
  readonly assigned = new Map<string, WorkItem>()
  /** What the person has not answered yet. */
  readonly openAsks = new Set<string>()
  readonly openPlans = new Set<string>()
  /** The kinds of mishaps that have happened. */
  readonly #mishaps = new Set<string>()

  constructor(space: LocalSpace, { speed, seed, daySeconds = 7_200 }: DemoOptions) {
    this.space = space
    this.schedule = new Schedule(speed)
    this.daySeconds = daySeconds
    this.random = new Random(seed)
    const decks = Object.entries(texts).map(([kind, list]) => [kind, new Deck<unknown>(list, this.random)])
    this.texts = Object.fromEntries(decks) as Texts
  }

  /** Whether something goes wrong this time. The first time it always does, so that every story has one of each. */
  goesWrong(what: string, probability: number): boolean {
    const happens = this.random.happens(probability) || !this.#mishaps.has(what)
    this.#mishaps.add(what)
    return happens
  }

  /** Agents that have a role and are here, in team order. */
  holders = (role: string): MockAgent[] =>
    [...this.agents.values()].filter((agent) => agent.here && agent.member.role === role)

  /** The work that an assignment is about; the person may ask for anything. */
  itemOf(message: InboxMessage): WorkItem {
    const { taskId } = fieldsOf(message.payload)
    const id = typeof taskId === 'string' ? taskId : message.id.slice(-6)
    return this.assigned.get(id) ?? improvise(id, message)
  }
}

function improvise(id: string, message: InboxMessage): WorkItem {
  const title = message.subject || 'What you asked for'
  return {
    id,
    project: 'checkout',
    title,
    brief: message.body,
    files: ['src/asked-for.ts'],
    comment: 'src/asked-for.ts:7 What happens when this is empty? Please add a test.',
    trouble: 'My first attempt only does half of it. Trying again.',
    check: 'unit / new',
    log: 'expected a result but got nothing',
    result: `Done: ${title}`,
    doc: title,
  }
}
