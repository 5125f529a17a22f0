import type { Agent } from './agent.ts'
import type { MessageDraft, ReceiptDraft, ScheduledDraft, ShareDraft } from './entry.ts'
import type { ReceiptChange } from './receipt.ts'
import type { Settings } from './settings.ts'

/** The format of exports: see docs/export.md. */
export const exportFormat = 1

/**
 * A change of a receipt as an export has it, without places: the seq of its message is another in another space,
 * and what was before follows from the changes before it.
 */
export type ExportedChange = Omit<ReceiptChange, 'seq' | 'rank' | 'was' | 'wasBox'>

export function toExported({
  seq: _seq,
  rank: _rank,
  was: _was,
  wasBox: _wasBox,
  ...change
}: ReceiptChange): ExportedChange {
  const { id, owner, box, state, ...rest } = change
  return { id, owner, box, state, ...rest }
}

type Exported<T> = Omit<T, 'originalAt'> & { at: string }

/** A line of an export. `at` is when it happened; for an agent, when it was last active. */
export type ExportLine =
  | { kind: 'export'; format: number }
  | { kind: 'settings'; settings: Partial<Settings> }
  | Exported<{ kind: 'agent'; agent: Agent }>
  | Exported<MessageDraft>
  | Exported<ScheduledDraft>
  | Exported<Omit<ShareDraft, 'change' | 'space'> & { space: string }>
  | Exported<Omit<ReceiptDraft, 'changes'> & { changes: ExportedChange[] }>
