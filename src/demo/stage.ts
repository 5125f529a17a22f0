import { fieldsOf } from '../conversation/field.ts'
import type { InboxMessage, LocalSpace } from '../mod.ts'
import { type Chance, Deck } from './chance.ts'
import type { Player } from './player.ts'
import type { Schedule } from './schedule.ts'
import { checkout } from './texts/checkout.ts'
import { type Incident, incidents } from './texts/incidents.ts'
import { mobile } from './texts/mobile.ts'
import { type Ask, asks } from './texts/person.ts'
import { search } from './texts/search.ts'
import { talk } from './texts/talk.ts'
import type { WorkItem } from './texts/work-item.ts'

/** A piece of work on its way; its thread is its thread of mail. */
export interface Job {
  item: WorkItem
  taskId: string
  /** The assignment, and who has it. */
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

type Lines = { [K in keyof typeof talk]: Deck<(typeof talk)[K][number]> }

/** What all players share: the space they write in, time, chance, and what there is to say. */
export interface Stage {
  space: LocalSpace
  schedule: Schedule
  /** How long a day is, in the time of the story. */
  daySeconds: number
  chance: Chance
  players: Map<string, Player>
  /** Nobody comes in before the morning. */
  isNight: boolean
  backlog: Deck<WorkItem>
  incidents: Deck<Incident>
  asks: Deck<Ask>
  lines: Lines
  /** Work under way, by the thread it is talked about in. */
  jobs: Map<string, Job>
  /** Work that was given out, by task id. */
  given: Map<string, WorkItem>
  /** What the one on call has called out, by the id of the alert. */
  alarms: Map<string, Incident>
  /** What the person has not answered yet. */
  openAsks: Set<string>
  openPlans: Set<string>
  /** How often something went wrong on purpose: the first ones are sure to. */
  mishaps: Map<string, number>
}

const allWork = [...checkout, ...search, ...mobile]

export function createStage(given: Pick<Stage, 'space' | 'schedule' | 'chance' | 'daySeconds'>): Stage {
  const { chance } = given
  const lines = Object.fromEntries(
    Object.entries(talk).map(([name, texts]) => [name, new Deck<unknown>(texts, chance)]),
  ) as unknown as Lines
  return {
    ...{ ...given, lines },
    players: new Map(),
    isNight: false,
    backlog: new Deck(allWork, chance),
    incidents: new Deck(incidents, chance),
    asks: new Deck(asks, chance),
    jobs: new Map(),
    given: new Map(),
    alarms: new Map(),
    openAsks: new Set(),
    openPlans: new Set(),
    mishaps: new Map(),
  }
}

/** Whether something goes wrong this time. The first time it does, so that every day has one of each. */
export function mishap(stage: Stage, what: string, probability: number): boolean {
  const before = stage.mishaps.get(what) ?? 0
  const happens = stage.chance.happens(probability) || before === 0
  if (happens) stage.mishaps.set(what, before + 1)
  return happens
}

/** Those who hold a role and are here, in the order of the cast. */
export const holders = (stage: Stage, role: string): Player[] =>
  [...stage.players.values()].filter((player) => player.here && player.part.roles.includes(role))

/** The work an assignment is about; somebody from outside may ask for anything. */
export function itemOf(stage: Stage, message: InboxMessage): WorkItem {
  const taskId = fieldsOf(message.payload)['taskId']
  const known = typeof taskId === 'string' ? stage.given.get(taskId) : undefined
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
    trouble: 'My first try does half of it. I take another.',
    check: 'unit / new',
    log: 'expected a result but got nothing',
    result: `Done: ${title}`,
    doc: title,
  }
}
