import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The parts of a journal line that matter here, as `jq` would see them. */
interface Line {
  seq: number
  kind: string
  step?: string
  message?: Said
  changes?: { seq: number; owner: string; box: string; state: string }[]
}

interface Said {
  id: string
  from: string
  to: string[]
  type: string
  replyTo?: string
  requiresAck: boolean
  awaitingResponse: boolean
  payload?: unknown
}

/** Something that is owed, or was. */
export interface Debt {
  kind: string
  id: string
  from: string
  to: string
  by: string
  state: string
}

const jobs = ['task_assignment', 'handoff', 'fix_ci_failure', 'fix_review_comments']
const acknowledged = ['acked', 'processing', 'completed', 'failed', 'archived']

const fields = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

/** Every entry of a journal, read as text: none of the code under test has a part in it. */
export function linesOf(dir: string): Line[] {
  const journal = join(dir, 'journal')
  return readdirSync(journal)
    .filter((file) => file.endsWith('.jsonl'))
    .sort()
    .flatMap((file) => readFileSync(join(journal, file), 'utf8').split('\n'))
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as Line]
      } catch {
        return [] // The fragment that a killed writer left.
      }
    })
}

/** What is owed when everything in a journal has been said, worked out in the plainest way. */
export function foldDebts(lines: readonly Line[]): Debt[] {
  const debts: (Debt & { seq: number; task: unknown })[] = []
  const move = (seq: number | undefined, kind: string, from: string[], to: string, owner?: string) => {
    for (const debt of debts) {
      const isMeant = debt.seq === seq && debt.kind === kind && (owner === undefined || debt.to === owner)
      if (isMeant && from.includes(debt.state)) debt.state = to
    }
  }
  const seqs = new Map<string, number>()
  const askers = new Map<number, string>()

  function hear(seq: number, message: Said): void {
    const { id, from, to, type, replyTo, requiresAck, awaitingResponse, payload } = message
    const { approved, accepted, taskId, status } = fields(payload)
    seqs.set(id, seq)
    askers.set(seq, from)
    const parent = replyTo === undefined ? undefined : seqs.get(replyTo)
    if (type === 'plan_approval') move(parent, 'plan', ['open'], approved === true ? 'approved' : 'rejected')
    else if (type === 'shutdown_response')
      move(parent, 'shutdown', ['open', 'deferred'], accepted === true ? 'accepted' : 'deferred')
    else if (type === 'status_response') move(parent, 'status', ['open'], 'answered')
    else if (type === 'plan_submission') move(parent, 'plan', ['rejected'], 'revised')
    else if (parent !== undefined) {
      const asker = askers.get(parent)!
      // To receive a question, to pass it on or to close it is not to answer it.
      const saysNothing = ['ack', 'escalation'].includes(type) || status === 'closed'
      const isAnswer = from !== asker && from !== 'system' && !saysNothing && to.includes(asker)
      if (isAnswer) for (const kind of ['question', 'status']) move(parent, kind, ['open'], 'answered')
    }
    if (type === 'status_update' && (status === 'completed' || status === 'failed')) {
      for (const debt of debts) {
        const isTheirs =
          debt.kind === 'task' && debt.task === taskId && (debt.to === from || debt.by === from)
        if (isTheirs && status === 'completed' && ['open', 'failed'].includes(debt.state)) debt.state = 'done'
        if (isTheirs && status === 'failed' && debt.state === 'open') debt.state = 'failed'
      }
    }
    const kind =
      type === 'plan_submission'
        ? 'plan'
        : type === 'shutdown_request'
          ? 'shutdown'
          : type === 'status_request'
            ? 'status'
            : jobs.includes(type)
              ? 'task'
              : type === 'help_request' || awaitingResponse
                ? 'question'
                : undefined
    for (const box of new Set(to.map((one) => one.replace(/^broadcast:/, 'swarm:')))) {
      const debt = { seq, id, from, to: box, by: box, state: 'open', task: taskId || id }
      if (kind !== undefined) debts.push({ ...debt, kind })
      if (requiresAck) debts.push({ ...debt, kind: 'ack' })
    }
  }

  function handle({ seq, owner, box, state }: NonNullable<Line['changes']>[number], step = ''): void {
    const each = (kinds: string[], from: string[], to: string) => {
      for (const kind of kinds) move(seq, kind, from, to, owner)
    }
    const all = ['question', 'status', 'plan', 'shutdown', 'task', 'ack']
    for (const debt of debts) if (debt.seq === seq && debt.to === owner) debt.by = box
    const open = ['open', 'deferred', 'failed']
    if (['dead', 'expired', 'withdrawn'].includes(state)) each(all, open, 'void')
    else if (state === 'stored') each(all, ['void', 'failed'], 'open')
    else if (step === 'revived') each(all, ['void'], 'open')
    if (state === 'processing') each(['task'], ['failed'], 'open')
    if (acknowledged.includes(state)) each(['ack'], ['open'], 'acked')
    const isDone = state === 'completed' || state === 'archived'
    // What is put away unfinished was not done.
    if (isDone && step !== 'archived') each(['task'], ['open', 'failed'], 'done')
    if (state === 'failed' || (isDone && step === 'archived')) each(['task'], ['open'], 'failed')
    if (isDone || state === 'failed')
      each(['question', 'status', 'plan', 'shutdown'], ['open', 'deferred'], 'closed')
  }

  for (const { seq, kind, step, message, changes } of lines) {
    if (kind === 'message') hear(seq, message!)
    if (kind === 'receipt') for (const change of changes!) handle(change, step)
  }
  return debts
    .filter(({ state }) => ['open', 'deferred', 'failed'].includes(state))
    .map((debt) => (debt.state === 'failed' ? { ...debt, by: debt.from } : debt))
}

/** A list of debts to compare with another. */
export const inShort = (debts: readonly Debt[]): string[] =>
  debts.map(({ kind, id, from, to, by, state }) => [kind, id, from, to, by, state].join(' ')).sort()
