import './completions.css'
import type { InputHTMLAttributes } from 'preact'
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import type { Completion } from '../lib/completion.ts'

export interface CompletedFieldProps
  extends Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onInput' | 'list' | 'autoFocus'> {
  value: string
  /** What could stand where the person is typing. */
  complete: (typed: string) => readonly Completion[]
  onText: (text: string) => void
  takesFocus?: boolean
  /** Enter, when no completion was chosen. */
  onEnter?: () => void
}

/** A field with completions: Tab takes the first, the arrow keys choose. */
export function CompletedField(props: CompletedFieldProps) {
  const { value, complete, onText, takesFocus = false, onEnter, ...rest } = props
  const field = useRef<HTMLInputElement>(null)
  const list = useId()
  const [at, setAt] = useState(-1)
  const [isOpen, setOpen] = useState(false)
  const found = useMemo(() => (isOpen ? complete(value) : []), [value, isOpen])
  const isShown = found.length > 0
  useEffect(() => {
    if (takesFocus) field.current?.focus()
  }, [takesFocus])
  const take = (n: number) => {
    const chosen = found[n]
    if (chosen === undefined) return
    setAt(-1)
    onText(chosen.text)
    field.current?.focus()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.ctrlKey && !event.metaKey) {
      if (at >= 0 && isShown) take(at)
      else {
        setOpen(false)
        onEnter?.()
      }
    } else if (!isShown) return
    else if (event.key === 'ArrowDown') setAt((at + 1) % found.length)
    else if (event.key === 'ArrowUp') setAt(((at + found.length) % (found.length + 1)) - 1)
    else if (event.key === 'Tab' && !event.shiftKey) take(Math.max(0, at))
    else if (event.key === 'Escape') {
      setOpen(false)
      event.stopPropagation()
    } else return
    event.preventDefault()
  }
  return (
    <div class="completed">
      <input
        {...rest}
        ref={field}
        class="field"
        aria-autocomplete="list"
        aria-controls={isShown ? list : undefined}
        aria-activedescendant={isShown && at >= 0 ? `${list}-${at}` : undefined}
        autoComplete="off"
        value={value}
        onInput={(event) => {
          setOpen(true)
          setAt(-1)
          onText(event.currentTarget.value)
        }}
        onBlur={() => setOpen(false)}
        onKeyDown={onKeyDown}
      />
      {isShown && (
        <ul id={list} role="listbox" aria-label="Completions" class="completions">
          {found.map(({ word, about }, n) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
            <li
              key={word}
              id={`${list}-${n}`}
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
    </div>
  )
}
