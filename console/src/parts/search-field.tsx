import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { knownTypes } from '../../../src/conversation/registry.ts'
import { priorities } from '../../../src/model/message.ts'
import { completionsFor, type SearchValues } from '../lib/search-completion.ts'
import { addresses, overview } from '../state/overview.ts'
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
export function SearchField({ value, autoFocus, onInput, onSubmit }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  const [at, setAt] = useState(-1)
  const [isOpen, setOpen] = useState(false)
  const found = useMemo(() => (isOpen ? completionsFor(value, valuesNow()) : []), [value, isOpen])
  const isShown = found.length > 0
  useEffect(() => {
    if (autoFocus) field.current?.focus()
  }, [autoFocus])
  const take = (n: number) => {
    const chosen = found[n]
    if (chosen === undefined) return
    setAt(-1)
    onInput(chosen.text)
    field.current?.focus()
  }
  return (
    <form
      class="search-form"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        if (at >= 0 && isShown) return take(at)
        setOpen(false)
        onSubmit()
      }}
    >
      <Icon name="search" />
      <input
        ref={field}
        class="field"
        type="search"
        aria-label="Search all messages"
        aria-autocomplete="list"
        aria-controls={isShown ? 'completions' : undefined}
        aria-activedescendant={isShown && at >= 0 ? `completion-${at}` : undefined}
        placeholder="from:ada plan after:24h -type:ack"
        autoComplete="off"
        value={value}
        onInput={(event) => {
          setOpen(true)
          setAt(-1)
          onInput(event.currentTarget.value)
        }}
        onBlur={() => setOpen(false)}
        onKeyDown={(event) => {
          if (!isShown) return
          if (event.key === 'ArrowDown') setAt((at + 1) % found.length)
          else if (event.key === 'ArrowUp') setAt(((at + found.length) % (found.length + 1)) - 1)
          else if (event.key === 'Tab' && !event.shiftKey) take(Math.max(0, at))
          else if (event.key === 'Escape') {
            setOpen(false)
            event.stopPropagation()
          } else return
          event.preventDefault()
        }}
      />
      {isShown && (
        <ul id="completions" role="listbox" aria-label="Completions" class="completions">
          {found.map(({ word, about }, n) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
            <li
              key={word}
              id={`completion-${n}`}
              role="option"
              aria-selected={n === at}
              tabIndex={-1}
              // Before the field loses the focus.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => take(n)}
            >
              <bdi class="cut mono">{word}</bdi>
              {about && <span class="quiet">{about}</span>}
            </li>
          ))}
        </ul>
      )}
    </form>
  )
}
