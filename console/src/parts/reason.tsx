import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface ReasonProps {
  asks: string
  label: string
  onSubmit: (why: string) => void
  onCancel: () => void
}

/** A field for the reason of a rejection. */
export function Reason({ asks, label, onSubmit, onCancel }: ReasonProps) {
  const [why, setWhy] = useState('')
  const field = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  return (
    <form
      class="reason"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(why.trim())
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onCancel()
      }}
    >
      <input
        class="field"
        ref={field}
        required
        aria-label={asks}
        placeholder={asks}
        value={why}
        onInput={(event) => setWhy(event.currentTarget.value)}
      />
      <button type="submit" class="button bad">
        {label}
      </button>
      <button type="button" class="button plain" onClick={onCancel}>
        Cancel <kbd>Esc</kbd>
      </button>
    </form>
  )
}
