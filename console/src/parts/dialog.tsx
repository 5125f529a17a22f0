import './dialog.css'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
  /** Beside the title. */
  tools?: ComponentChildren
  /** Without a title bar. */
  bare?: boolean
}

/** A modal dialog. The browser returns the focus when it closes. */
export function Dialog({ title, onClose, children, tools, bare }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  // Open before the next key press, so that it goes into the dialog.
  const isHere = useRef(true)
  useLayoutEffect(() => {
    const box = dialog.current
    box?.showModal()
    return () => {
      isHere.current = false
      box?.close()
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      class="dialog"
      ref={dialog}
      aria-label={title}
      onClose={() => {
        // The event arrives late, when another dialog may already be open.
        if (isHere.current) onClose()
      }}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      {!bare && (
        <header>
          <h2>{title}</h2>
          {tools}
          <button type="button" class="button plain icon" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
      )}
      {bare ? children : <div class="dialog-body">{children}</div>}
    </dialog>
  )
}
