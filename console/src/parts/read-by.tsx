import type { StoredMessage, ThreadReceipt } from '../data/types.ts'
import { audienceOf } from '../lib/audience.ts'
import { line } from '../lib/text.ts'
import { overview } from '../state/overview.ts'
import { stateName, toneOf } from './ladder.tsx'

export interface ReadByProps {
  message: StoredMessage
  receipts: readonly ThreadReceipt[]
  onOpen: () => void
}

const mostChips = 4

/** Who has read a message: one recipient by name, several as a count. The history of each is behind it. */
export function ReadBy({ message, receipts, onOpen }: ReadByProps) {
  const { readers, all } = audienceOf(message, receipts, overview.data.value?.agents ?? [])
  const bad = receipts.filter(({ state }) => toneOf(state) === 'bad')
  const chips = all.length > 1 ? bad : receipts
  if (all.length === 0 && receipts.length === 0) return null
  return (
    <p class="receipts">
      {all.length > 1 && (
        <button
          type="button"
          class={`chip${readers.length === all.length ? ' good' : ''}`}
          title={`Not read: ${
            all
              .filter((name) => !readers.includes(name))
              .map(line)
              .join(', ') || 'nobody'
          }`}
          onClick={onOpen}
        >
          Read by {readers.length} of {all.length}
        </button>
      )}
      {chips.slice(0, mostChips).map(({ owner, box, state }) => (
        <button key={owner} type="button" class={`chip ${toneOf(state)}`} onClick={onOpen}>
          <bdi class="cut">{line(owner === box ? owner : `${owner} → ${box}`)}</bdi> · {stateName(state)}
        </button>
      ))}
      {chips.length > mostChips && <span class="chip">{chips.length - mostChips} more</span>}
    </p>
  )
}
