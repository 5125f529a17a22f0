import { escalationType } from '../conversation/escalation.ts'
import type { Matter } from '../conversation/matter.ts'
import { isOpenMatter } from '../conversation/registry.ts'
import { isGroupBox } from '../model/address.ts'
import { type Agent, person, systemAgent } from '../model/agent.ts'
import type { AgentDraft, Draft, ReceiptDraft } from '../model/entry.ts'
import { priorityRank } from '../model/message.ts'
import { isOutdated } from '../model/reach.ts'
import {
  classOf,
  isDeadLetter,
  levels,
  type Receipt,
  type ReceiptChange,
  type ReceiptState,
  type ReceiptStep,
} from '../model/receipt.ts'
import { isLead } from '../model/rules.ts'
import { isoTime } from '../model/time.ts'
import type { Context, Letter, View } from './context.ts'
import { bounces, notice, type Undelivered } from './notice.ts'
import { comeBack } from './revive.ts'

/** How much one decision does; what is left is still due and done by the next. */
const atOnce = 500

/** What the machine says of agents and no decision can find out by itself. */
export interface Liveness {
  /** Runs whose process is there, and runs whose process is not, as `NAME GENERATION`. */
  here: ReadonlySet<string>
  gone: ReadonlySet<string>
}

export const runOf = ({ name, session }: Pick<Agent, 'name' | 'session'>): string =>
  `${name} ${session.generation}`

/**
 * Everything that happens by itself: agents found dead, claims that ran out, mail whose life or whose
 * recipient is over, acks that did not come, urgent mail that nobody reads. Nobody has to be there for it:
 * whoever comes next does what is due, once, because it is decided with the exclusive right to append.
 */
export function decideDue(view: View, liveness: Liveness, context: Context): Draft[] {
  const work = new Work(view, context)
  const deaths = findDeaths(view, liveness, context)
  const returns = findReturns(view, liveness, context)
  const dead = new Map(deaths.map(({ agent }) => [agent.name, agent]))
  const back = new Set(returns.map((draft) => (draft.kind === 'agent' ? draft.agent.name : '')))
  for (const agent of view.directory.agents.values()) {
    if (agent.state === 'dead' && !back.has(agent.name)) dead.set(agent.name, agent)
  }
  for (const agent of dead.values()) settleDead(view, work, agent, context)
  for (const letter of view.lapsedClaims(context.now, atOnce)) work.giveBack(letter, 'the claim ran out')
  for (const letter of view.bound(atOnce)) bury(view, work, letter)
  for (const letter of view.lapsed(context.now, frozenBoxes(view), atOnce)) expire(view, work, letter)
  for (const letter of view.unacked(context.now, atOnce)) remind(view, work, letter, context)
  escalateUnread(view, work, context)
  escalateOverdue(view, work, context)
  return [...deaths, ...returns, ...work.drafts()]
}

/** What the last run of an agent had claimed is free again when the next one begins. */
export function freeClaims(view: View, agent: string, context: Context): Draft[] {
  const work = new Work(view, context)
  for (const letter of view.inBox(agent, atOnce)) {
    if (letter.owner !== agent) work.giveBack(letter, `${agent} began a new run`)
  }
  return work.drafts()
}

/** Gathers what becomes of letters, each of them at most once, and writes it down with its notices. */
class Work {
  readonly #view: View
  readonly #context: Context
  readonly #seen = new Set<string>()
  readonly #changes = new Map<string, { step: ReceiptStep; note: string; changes: ReceiptChange[] }>()
  readonly #undelivered: Undelivered[] = []
  readonly #notices: Draft[] = []

  constructor(view: View, context: Context) {
    this.#view = view
    this.#context = context
  }

  /** False when something was done with the letter already. */
  change(
    letter: Letter,
    step: ReceiptStep,
    state: ReceiptState,
    note: string,
    more: Partial<ReceiptChange> = {},
  ): boolean {
    const key = `${letter.seq} ${letter.owner}`
    if (this.#seen.has(key)) return false
    this.#seen.add(key)
    const kind = `${step} ${note}`
    const group = this.#changes.get(kind) ?? { step, note, changes: [] }
    this.#changes.set(kind, group)
    const { id, seq, rank, owner, box, attempts, repeats, viaGroup } = letter
    group.changes.push({
      ...{ id, seq, rank, owner, box, state, was: letter.state },
      ...(attempts > 0 ? { attempts } : {}),
      ...(repeats > 0 ? { repeats } : {}),
      ...(viaGroup ? { viaGroup: true } : {}),
      ...more,
    })
    return true
  }

  /** It will reach nobody any more; its sender is told. */
  undeliverable(letter: Letter, step: 'dead' | 'expired', reason: string): void {
    if (this.change(letter, step, step, reason)) this.#undelivered.push({ letter, reason })
  }

  /** A claim is over: the mail is free again for the role, or was taken up too often. */
  giveBack(letter: Letter, note: string): void {
    const { owner, box, attempts } = letter
    if (attempts >= this.#context.policy.maxAttempts)
      this.undeliverable(letter, 'dead', `${note}, and it was taken up ${attempts} times`)
    else
      this.change(letter, 'released', 'stored', note, {
        box: owner,
        ...(box === owner ? {} : { wasBox: box }),
      })
  }

  tell(draft: Draft): void {
    this.#notices.push(draft)
  }

  /** Senders are told first: were this cut short, they would be told twice rather than never. */
  drafts(): Draft[] {
    const told = bounces(this.#view, this.#undelivered, this.#context)
    const done = [...this.#changes.values()].map(
      ({ step, note, changes }): ReceiptDraft => ({ kind: 'receipt', step, by: systemAgent, changes, note }),
    )
    return [...told, ...this.#notices, ...done]
  }
}

/** Agents whose process has ended, or that were silent for too long where no process can be asked. */
export function findDeaths(
  { directory }: Pick<View, 'directory'>,
  { here, gone }: Liveness,
  { now, policy }: Context,
): AgentDraft[] {
  const died = (agent: Agent, gone: 'ended' | 'silent', note: string): AgentDraft => ({
    kind: 'agent',
    change: 'died',
    by: systemAgent,
    agent: { ...agent, state: 'dead', gone, lastSeenAt: isoTime(now), note },
  })
  return [...directory.agents.values()].flatMap((agent) => {
    if (agent.state === 'dead' || agent.state === 'frozen' || agent.name === person) return []
    const run = runOf(agent)
    if (gone.has(run)) return died(agent, 'ended', 'its process ended')
    if (here.has(run)) return []
    const patience = agent.session.pid === undefined ? policy.silentAfterMs : policy.heartbeatMs
    const silent = now - directory.seenAt(agent)
    return patience > 0 && silent > patience
      ? died(agent, 'silent', `silent for ${Math.round(silent / 60_000)} min`)
      : []
  })
}

/** Whoever was only taken for dead, because it was silent, and has said or done something since. */
function findReturns(view: View, { gone }: Liveness, context: Context): Draft[] {
  const { directory } = view
  return [...directory.agents.values()].flatMap((agent) => {
    const wasSilent = agent.state === 'dead' && agent.gone === 'silent' && !gone.has(runOf(agent))
    return wasSilent && directory.seenAt(agent) > Date.parse(agent.lastSeenAt)
      ? comeBack(view, agent, context)
      : []
  })
}

/** What a dead agent had claimed is free at once; what was for itself waits a while for it to come back. */
function settleDead(view: View, work: Work, agent: Agent, { now, policy }: Context): void {
  if (view.directory.isEmpty(agent.name)) return
  const patient = agent.gone !== 'left' && now - Date.parse(agent.lastSeenAt) < policy.deadLetterAfterMs
  const how = agent.gone === 'left' ? 'has left' : 'has died'
  for (const letter of view.inBox(agent.name, atOnce)) {
    const note = `${agent.name} ${how}`
    if (letter.owner !== agent.name) work.giveBack(letter, note)
    else if (patient) continue
    else if (hasArrived(view, letter)) work.change(letter, 'archived', 'archived', note)
    else work.undeliverable(letter, 'dead', note)
  }
}

/** It was read and nothing more was asked; or it went to a group, and others have it as well. */
const hasArrived = (view: View, { seq, state, viaGroup }: Letter): boolean =>
  viaGroup || (state === 'shown' && view.matters(seq).every((matter) => !isOpenMatter(matter.state)))

/** Mail for an earlier run must not hit a successor. */
function bury(view: View, work: Work, letter: Letter): void {
  const agent = view.directory.agents.get(letter.owner)
  const message = view.message(letter.id)
  if (agent === undefined || message === undefined || !isOutdated(agent, message)) return
  const reason = `it was for generation ${message.generation} of ${agent.name}, which is generation ${agent.session.generation} now`
  work.undeliverable(letter, 'dead', reason)
}

const frozenBoxes = ({ directory }: View): string[] =>
  [...directory.agents.values()].filter(({ state }) => state === 'frozen').map(({ name }) => name)

/** A group's mail that somebody has read has served, whoever else might have; the rest is told to its sender. */
function expire(view: View, work: Work, letter: Letter): void {
  const read = isGroupBox(letter.owner) && view.receipts(letter.seq).some(wasRead)
  if (read) work.change(letter, 'expired', 'expired', 'its life is over')
  else work.undeliverable(letter, 'expired', 'its life was over before anybody read it')
}

const wasRead = ({ owner, state }: Receipt): boolean =>
  !isGroupBox(owner) && classOf(state) !== 'unread' && !isDeadLetter(state)

/** An ack that did not come: show it again, then tell the lead, then the person, then leave it. */
function remind(view: View, work: Work, letter: Letter, context: Context): void {
  const { now, policy } = context
  const again = { ackBy: isoTime(now + policy.ackTimeoutMs) }
  const claim = letter.claimUntil === null ? {} : { claimUntil: isoTime(letter.claimUntil) }
  if (letter.repeats < policy.ackRepeats) {
    work.change(letter, 'repeated', 'stored', 'no ack came', {
      ...claim,
      ...again,
      repeats: letter.repeats + 1,
    })
    return
  }
  const next = nextToTell(view, letter, context)
  const rest = next.level === levels.over ? {} : again
  const change = { ...claim, ...rest, level: next.level }
  if (work.change(letter, 'escalated', letter.state, `no ack came: ${next.told}`, change))
    tell(view, work, letter, next, 'no ack came', context)
}

function escalateUnread(view: View, work: Work, context: Context): void {
  const { now, policy } = context
  const urgent = priorityRank('urgent')
  if (policy.urgentAfterMs > 0) {
    for (const level of [levels.none, levels.lead]) {
      const since = now - policy.urgentAfterMs * (level + 1)
      for (const letter of view.unreadSince(since, urgent, level, atOnce)) {
        const next = nextToTell(view, letter, context)
        const note = `urgent and unread: ${next.told}`
        if (work.change(letter, 'escalated', letter.state, note, { ...keepTimes(letter), level: next.level }))
          tell(view, work, letter, next, 'urgent and unread', context)
      }
    }
  }
  if (policy.staleAfterMs === 0) return
  for (const letter of view.unreadSince(now - policy.staleAfterMs, 0, levels.none, atOnce)) {
    if (letter.rank < urgent || policy.urgentAfterMs === 0)
      work.change(letter, 'stale', letter.state, 'unread for long', {
        ...keepTimes(letter),
        level: levels.quiet,
      })
  }
}

/** Somebody waits for an answer: the lead is told, then the person; of a missed deadline whoever gave it, too. */
function escalateOverdue(view: View, work: Work, context: Context): void {
  const { now, policy } = context
  const patience = policy.answerAfterMs
  for (const matter of view.overdue(now, patience > 0 ? now - patience : 0, atOnce)) {
    const missed = matter.until !== null && matter.until <= now && matter.level === 0
    if (!missed && (patience === 0 || matter.since > now - patience * (matter.level + 1))) continue
    const receipt = view.receipts(matter.seq).find(({ owner }) => owner === matter.owner)
    if (receipt === undefined) continue
    const why = missed ? `the ${matter.kind} is not settled in time` : `no answer to a ${matter.kind}`
    const letter = { ...receipt, id: matter.id }
    if (!work.change(letter, 'overdue', receipt.state, why, keepTimes(letter))) continue
    if (missed) work.tell(missedDeadline(view, matter, context))
    else {
      const asked = { ...letter, level: matter.level }
      tell(view, work, asked, nextToTell(view, asked, context), why, context)
    }
  }
}

/** A note leaves a claim and a time for an ack as they are. */
const keepTimes = ({ claimUntil, ackBy }: Letter): Partial<ReceiptChange> => ({
  ...(claimUntil === null ? {} : { claimUntil: isoTime(claimUntil) }),
  ...(ackBy === null ? {} : { ackBy: isoTime(ackBy) }),
})

function missedDeadline(view: View, { seq, owner, kind, asker }: Matter, context: Context): Draft {
  const about = view.text(seq)
  const next =
    kind === 'shutdown'
      ? `Its deadline is over: end its process if it must stop now.`
      : `Ask again, or ask somebody else.`
  return notice(context, {
    to: [asker === systemAgent ? person : asker],
    type: 'notification',
    priority: 'high',
    subject: `${owner} has not settled the ${kind} in time: ${about.subject || '(no subject)'}`,
    body: `${next}\n\nSee it: mailbox show ${about.id}`,
    about,
    payload: { id: about.id, recipient: owner, kind, reason: 'deadline' },
  })
}

interface Told {
  /** Undefined when nobody is left to tell. */
  to: string | undefined
  told: string
  level: number
}

/** Agent, lead, person: the next in the chain. Behind the person there is nobody. */
function nextToTell({ directory }: View, letter: Letter, { policy: { leads } }: Context): Told {
  if (letter.owner === person)
    return { to: undefined, told: 'it is the person who has it', level: levels.over }
  const recipient = directory.agents.get(letter.owner)
  const isLeads =
    recipient !== undefined ? isLead(recipient, leads) : leads.some((role) => letter.owner === `role:${role}`)
  const lead = leads.find((role) => directory.holders(role).length > 0)
  const isFirst = letter.level === levels.none || letter.level === levels.quiet
  const to = isFirst && lead !== undefined && !isLeads ? `role:${lead}` : person
  return { to, told: `${to} is told`, level: to === person ? levels.over : levels.lead }
}

function tell(
  view: View,
  work: Work,
  letter: Letter,
  { to, level }: Told,
  why: string,
  context: Context,
): void {
  if (to === undefined) return
  const about = view.text(letter.seq)
  const minutes = Math.max(1, Math.round((context.now - Date.parse(about.createdAt)) / 60_000))
  work.tell(
    notice(context, {
      to: [to],
      type: escalationType,
      priority: 'urgent',
      subject: `${letter.owner}, ${why}: ${about.subject || '(no subject)'}`,
      body: `Message ${about.id} from ${about.from} to ${letter.owner} is ${letter.state} after ${minutes} min.\n\nSee it: mailbox show ${about.id}`,
      about,
      payload: { id: about.id, recipient: letter.owner, level, reason: why },
    }),
  )
}
