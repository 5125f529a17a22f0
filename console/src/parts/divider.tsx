import './divider.css'
import { useState } from 'preact/hooks'

const key = 'mailbox.listWidth'
const usual = 380
const least = 240
const most = 720
const step = 24

const within = (width: number): number => Math.round(Math.min(most, Math.max(least, width)))

function stored(): number {
  const width = Number(localStorage.getItem(key) ?? usual)
  return Number.isFinite(width) ? within(width) : usual
}

/** How wide the list is, as the person last left it. */
export function useListWidth() {
  const [width, setWidth] = useState(stored)
  const change = (next: number) => {
    setWidth(within(next))
    localStorage.setItem(key, String(within(next)))
  }
  return { width, change }
}

/** The line between list and message, which can be dragged, or moved with the arrow keys. */
export function Divider({ width, onChange }: { width: number; onChange: (width: number) => void }) {
  return (
    <div
      class="divider"
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the list"
      aria-valuenow={width}
      aria-valuemin={least}
      aria-valuemax={most}
      tabIndex={0}
      onDblClick={() => onChange(usual)}
      onKeyDown={(event) => {
        if (event.key === 'ArrowLeft') onChange(width - step)
        else if (event.key === 'ArrowRight') onChange(width + step)
        else return
        event.preventDefault()
      }}
      onPointerDown={(event) => {
        const line = event.currentTarget
        const from = event.clientX
        line.setPointerCapture(event.pointerId)
        line.onpointermove = (move) => onChange(width + move.clientX - from)
        line.onpointerup = () => {
          line.onpointermove = null
        }
      }}
    />
  )
}
