import './dialog.css'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface DialogProps {
  title: string
  onClose: () => void
  children: ComponentChildren
  /** The dialog names itself in its own way. */
  bare?: boolean
}

/** Over the page, with the focus inside; the browser gives it back to where it was. */
export function Dialog({ title, onClose, children, bare }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  // Before the next key is pressed: whoever types on must type into it.
  useLayoutEffect(() => {
    dialog.current?.showModal()
    return () => dialog.current?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
    <dialog
      class="dialog"
      ref={dialog}
      aria-label={title}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      {!bare && (
        <header>
          <h2>{title}</h2>
          <button type="button" class="button plain icon" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
      )}
      {bare ? children : <div class="dialog-body">{children}</div>}
    </dialog>
  )
}
