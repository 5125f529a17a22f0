import { isOpenMatter, type Kind, type MatterState } from '../conversation/registry.ts'
import { requireSeq, type Source } from './message.ts'
import { hasLapsed, mattersWhere } from './owed.ts'

/** Something that a message asked for, and what has become of it so far. */
export interface MatterEnd {
  /** The message that asked. */
  id: string
  kind: Kind
  /** Who was asked, and who has it in hand. */
  to: string
  by: string
  state: MatterState
}

export interface Settled {
  /** Nothing that was asked for is open any more. */
  settled: boolean
  /** One for each address and thing that was asked for; none for messages that ask for nothing. */
  matters: MatterEnd[]
}

/** What has become of everything that some messages asked for. */
export function settledOf(source: Source, ids: readonly string[], now: number): Settled {
  const holder = source.index.sql('SELECT box FROM receipt WHERE seq = ? AND owner = ?')
  const matters = ids
    .flatMap((id) => mattersWhere(source, 'x.seq = ? ORDER BY x.owner, x.kind', [requireSeq(source, id)]))
    .map((matter): MatterEnd => {
      const { seq, id, owner, kind, state } = matter
      const [by = owner] = holder.get<[string]>([seq, owner]) ?? []
      const hasEnded = !isOver(state) && hasLapsed(source, matter, now)
      return { id, kind, to: owner, by, state: hasEnded ? 'void' : state }
    })
  return { settled: matters.every(({ state }) => isOver(state)), matters }
}

/** A failure ends the wait, whether or not somebody has to see to it. */
const isOver = (state: MatterState): boolean => state === 'failed' || !isOpenMatter(state)
