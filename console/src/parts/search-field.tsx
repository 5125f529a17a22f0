import { knownTypes } from '../../../src/conversation/registry.ts'
import { priorities } from '../../../src/model/message.ts'
import { completionsFor, type SearchValues } from '../lib/search-completion.ts'
import { addresses, overview } from '../state/overview.ts'
import { CompletedField } from './completed-field.tsx'
import { Icon } from './icon.tsx'

const times = ['1h', '24h', '7d', '30d']

function valuesNow(): SearchValues {
  const { agents = [], channels = [] } = overview.data.value ?? {}
  return {
    ...{ from: ['user', ...agents.map(({ name }) => name)], to: ['user', ...addresses.value] },
    ...{ tag: channels.map(({ tag }) => tag), type: knownTypes, priority: priorities.toReversed() },
    ...{ is: ['unread', 'open'], has: ['attachment'], before: times, after: times },
  }
}

export interface SearchFieldProps {
  value: string
  autoFocus: boolean
  onInput: (text: string) => void
  onSubmit: () => void
}

/** A search field that completes operators and their values. */
export const SearchField = ({ value, autoFocus, onInput, onSubmit }: SearchFieldProps) => (
  <search class="search-form">
    <Icon name="search" />
    <CompletedField
      type="search"
      aria-label="Search all messages"
      placeholder="from:ada plan after:24h -type:ack"
      value={value}
      complete={(typed) => completionsFor(typed, valuesNow())}
      takesFocus={autoFocus}
      onText={onInput}
      onEnter={onSubmit}
    />
  </search>
)
