import { given } from '../base/objects.ts'
import { systemAgent } from '../model/agent.ts'
import type { Message } from '../model/message.ts'
import type { ReceiptState } from '../model/receipt.ts'
import type { ExportedChange, ExportLine } from '../model/transfer.ts'
import type { NumberedLine, Refusal } from '../space/transfer.ts'
import type { CopyFact, CopyState, Format } from './format.ts'
import { idOfKey, inputOf, keyOf, originOf, threadWord } from './letters.ts'
import type { Parts } from './parts.ts'

/** The steps that a copy took, by the state it has in the end. */
const stepsTo: Record<CopyState, readonly ReceiptState[]> = {
  unread: [],
  read: ['shown'],
  acked: ['acked'],
  processing: ['processing'],
  failed: ['failed'],
  done: ['completed'],
  archived: ['archived'],
  filed: ['completed', 'archived'],
  expired: ['expired'],
  withdrawn: ['withdrawn'],
  dead: ['dead'],
}

/** What a message that was written elsewhere refers to, by the ids there. */
export interface Known {
  /** The id here of a message there. */
  idOf: (foreign: string) => string | undefined
  /** The thread here that a thread there is. */
  threadOf: (foreign: string) => string | undefined
}

/** A message of the past and what became of it, as the lines of an export. Nothing is sent, and nobody is told. */
export function linesOf(
  format: Format,
  path: string,
  fact: CopyFact,
  known: Known,
  now: number,
): { id: string; lines: ExportLine[] } {
  const { letter, owner, state = 'unread' } = fact
  const key = keyOf(format.name, path, fact)
  const at = letter.at ?? new Date(now).toISOString()
  const id = idOfKey(key, Date.parse(at))
  const input = inputOf(fact, owner)
  const { replyTo, thread = replyTo } = letter
  const message: Message = {
    id,
    from: letter.from,
    to: [owner],
    type: input.type ?? 'text',
    priority: letter.priority ?? 'normal',
    createdAt: at,
    threadId: (thread && (known.threadOf(thread) ?? threadWord(thread))) ?? threadWord(fact.id) ?? id,
    requiresAck: letter.requiresAck ?? false,
    awaitingResponse: letter.awaitingResponse ?? false,
    tags: [...(input.tags ?? [])],
    attachments: [...(input.attachments ?? [])],
    subject: input.subject ?? '',
    body: input.body ?? '',
    ...given({
      replyTo: replyTo === undefined ? undefined : known.idOf(replyTo),
      expiresAt: letter.expiresAt ?? undefined,
      swarm: input.swarm,
    }),
    key,
    ...given({ payload: input.payload as Message['payload'], context: input.context as Message['context'] }),
    bridge: { ...originOf(format, path, fact, false) },
  }
  return { id, lines: [{ kind: 'message', at, message }, ...stepLines(id, owner, state, fact.stateAt ?? at)] }
}

export function stepLines(id: string, owner: string, state: CopyState, at: string): ExportLine[] {
  return stepsTo[state].map((step) => {
    const change: ExportedChange = { id, owner, box: owner, state: step }
    const by = step === 'expired' || step === 'dead' ? systemAgent : owner
    return { kind: 'receipt', at, step, by, changes: [change] }
  })
}

/** What was finished before the bridge found it: it is taken over as it was, with its times. */
export class History {
  readonly #parts: Parts
  readonly #facts: CopyFact[] = []

  constructor(parts: Parts) {
    this.#parts = parts
  }

  add(fact: CopyFact): void {
    this.#facts.push(fact)
  }

  async bring(refuse: (fact: CopyFact, reason: string) => void): Promise<void> {
    const { space, format, path, memory, tally, dry } = this.#parts
    if (this.#facts.length === 0) return
    const ours = new Map<string, string>()
    const ids = new Map<CopyFact, string>()
    const known: Known = {
      idOf: (foreign) => ours.get(foreign) ?? memory.link(foreign, '')?.id,
      threadOf: () => undefined,
    }
    const lines: NumberedLine[] = []
    const facts: CopyFact[] = []
    const earlier = await this.#earlier()
    for (const [at, fact] of this.#facts.entries()) {
      const sent = earlier[at]
      if (sent === undefined && dry) tally.brought++
      if (dry) continue
      if (sent !== undefined) this.#link(fact, sent, 'unread')
      else {
        const { id, lines: own } = linesOf(format, path, fact, known, space.now())
        ours.set(fact.id, id)
        ids.set(fact, id)
        for (const value of own) {
          lines.push({ line: lines.length + 1, value })
          facts.push(fact)
        }
      }
    }
    const refused = new Set<CopyFact>()
    const onRefused = ({ line, reason }: Refusal) => {
      const fact = facts[line - 1]!
      if (!refused.has(fact)) refuse(fact, reason)
      refused.add(fact)
    }
    tally.brought += await space.importLines(lines, onRefused)
    memory.together(() => {
      for (const fact of new Set(facts))
        if (!refused.has(fact)) this.#link(fact, ids.get(fact)!, fact.state ?? 'unread')
    })
  }

  #link({ id: foreign, owner, place }: CopyFact, id: string, state: CopyState): void {
    this.#parts.memory.setLink({ foreign, owner, id, place, state })
  }

  /** Which of them were brought while they were not finished yet. */
  #earlier(): Promise<(string | undefined)[]> {
    const { space, format, path } = this.#parts
    return space.keyed(
      this.#facts.map((fact) => ({ from: fact.letter.from, key: keyOf(format.name, path, fact) })),
    )
  }
}
