import './markdown.css'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { Part } from '../data/part.ts'

const renderer = new Part(async () => (await import('./markdown-render.ts')).renderMarkdown)

/** Rendering a megabyte of Markdown would freeze the page. */
const formattedLength = 60_000
const shownLength = 200_000

/** A message body. It is plain text until the renderer is loaded, and where rendering fails. */
export function Markdown({ text }: { text: string }) {
  const place = useRef<HTMLDivElement>(null)
  const [isFormatted, setFormatted] = useState(false)
  const render = renderer.code.value
  useEffect(() => void renderer.want(), [])
  useLayoutEffect(() => {
    setFormatted(false)
    if (render === undefined || text.length > formattedLength) return
    try {
      place.current?.replaceChildren(render(text))
      setFormatted(true)
    } catch {
      // Nested too deeply for the renderer: keep the plain text.
    }
  }, [text, render])
  if (text === '') return null
  return (
    <>
      <div class="prose" ref={place} hidden={!isFormatted} />
      {!isFormatted && <div class="prose plain">{text.slice(0, shownLength)}</div>}
      {text.length > shownLength && (
        <p class="quiet">{`${(text.length - shownLength).toLocaleString('en')} more characters in Raw JSON`}</p>
      )}
    </>
  )
}
