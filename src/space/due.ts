import { MailboxError } from '../base/errors.ts'
import { type ProcessState, processState } from '../base/process.ts'
import type { Context } from '../command/context.ts'
import { type ProcessStates, runOf } from '../command/due/deaths.ts'
import { decideDue } from '../command/due/due.ts'
import type { View } from '../conversation/view.ts'
import type { FollowOptions } from '../delivery/follow.ts'
import type { PlacedEntry } from '../journal/journal.ts'
import type { Agent } from '../model/agent.ts'
import type { Source } from '../query/message.ts'
import type { SpaceCore } from './core.ts'

/** How often to look for what is due while somebody runs, and how much one call does at most. */
const everyMsByDefault = 5_000
const maxRounds = 100
const lookedAtOnce = 128

/** Does what has become due. Nobody has to run for it: whoever reads next does it. Returns how many entries it took. */
export async function runDue(core: SpaceCore): Promise<number> {
  let written = 0
  for (let round = 0; round < maxRounds; round++) {
    // Look first: most of the time nothing is due, and looking keeps nobody waiting.
    const due = await core.query((source) => findDue(core, source))
    if (due === undefined) break
    written += await due()
  }
  return written
}

/**
 * Answers a question about how things stand as if all that is due had been done: by doing it. A space that nobody may
 * write to, or that has no room, is looked at as it is.
 */
export async function queryNow<T>(core: SpaceCore, work: (source: Source) => T): Promise<T> {
  if (!core.onlyLooks)
    await runDue(core).catch((error: unknown) => {
      if (!(error instanceof MailboxError) || error.code === 'closed') throw error
    })
  return core.query(work)
}

/** The decision that does what is due at this snapshot; undefined when nothing is. */
export function findDue(
  core: SpaceCore,
  source: Source,
  /** The agent that comes for its mail. */
  reader?: string,
): (() => Promise<number>) | undefined {
  if (core.endsNothing) return undefined
  const view = core.viewOf(source)
  const { here, dead } = view.directory
  // Those taken for dead as well: one whose process has ended does not come back.
  const processes = processStates([...someOf(here), ...someOf(dead)])
  if (decideDue(view, processes, core.context, reader).length === 0) return undefined
  const decide = (now: View, context: Context) => decideDue(now, processes, context, reader)
  return async () => (await core.record('index', decide)).length
}

/** A process that stays for so long also looks after old files of the journal: it reads them again, and archives them. */
const filesAfterMs = 60_000
const keeping = new WeakSet<SpaceCore>()

function keepFilesLater(core: SpaceCore): void {
  if (keeping.has(core)) return
  keeping.add(core)
  const begin = () => {
    if (!core.journal.isElsewhere) void import('./scrub.ts').then(({ keepScrubbing }) => keepScrubbing(core))
    void import('./archiving.ts').then(({ keepArchiving }) => keepArchiving(core))
  }
  setTimeout(begin, filesAfterMs).unref()
}

/**
 * Sees to it that what is due is done every few seconds, until it is stopped or the space is closed: by the desk of the
 * space, if there is one that answers, and otherwise here.
 */
export function runDueEvery(
  core: SpaceCore,
  everyMs = everyMsByDefault,
  also: () => Promise<void> = async () => {},
): { stop: () => void } {
  core.desk?.stay()
  const runHere = async () => {
    if (core.desk?.isDesk !== false || !(await core.desk.hasDueDone())) await runDue(core)
  }
  // Whoever reads next tries again.
  const run = () => void Promise.allSettled([runHere(), also()])
  const timer = setInterval(run, everyMs)
  timer.unref()
  keepFilesLater(core)
  const stop = () => {
    clearInterval(timer)
    core.ending.removeEventListener('abort', stop)
  }
  core.ending.addEventListener('abort', stop)
  return { stop }
}

/** Follows the journal, and does what is due for as long as somebody follows. */
export async function* followRunningDue(
  core: SpaceCore,
  options: FollowOptions,
): AsyncGenerator<PlacedEntry> {
  const keeper = runDueEvery(core)
  try {
    yield* core.follow(options)
  } finally {
    keeper.stop()
  }
}

/**
 * Some agents of many, from anywhere. To look for the process of each takes longer than anything else, so one look
 * takes in so many at most, and the next one others.
 */
function someOf(agents: ReadonlyMap<string, Agent>): Agent[] {
  if (agents.size <= lookedAtOnce) return [...agents.values()]
  const all = agents.values()
  for (let left = Math.floor(Math.random() * (agents.size - lookedAtOnce + 1)); left > 0; left--) all.next()
  return Array.from({ length: lookedAtOnce }, () => all.next().value!)
}

/** Which runs have a process, as far as can be seen from here. */
export function processStates(agents: Iterable<Agent>): Required<ProcessStates> {
  const running = new Set<string>()
  const gone = new Set<string>()
  const looked = new Set<string>()
  /** Many agents can share a process. */
  const known = new Map<string, ProcessState>()
  for (const agent of agents) {
    const { pid, pidStart, host } = agent.session
    const process = `${pid} ${pidStart} ${host}`
    const state = known.get(process) ?? processState(agent.session)
    known.set(process, state)
    looked.add(agent.name)
    if (state === 'running') running.add(runOf(agent))
    if (state === 'gone') gone.add(runOf(agent))
  }
  return { running, gone, looked }
}
