import './markdown.css'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Longer than anybody reads formatted; Markdown of a megabyte would hold up the page. */
const formattedLength = 60_000
const shownLength = 200_000

/** A body. Until the renderer has been loaded, and for what it cannot take, the plain text stands there. */
export function Markdown({ text }: { text: string }) {
  const place = useRef<HTMLDivElement>(null)
  const [isFormatted, setFormatted] = useState(false)
  useEffect(() => {
    setFormatted(false)
    if (text.length > formattedLength) return
    let isCurrent = true
    void import('./markdown-render.ts').then(({ renderMarkdown }) => {
      if (!isCurrent) return
      try {
        const fragment = renderMarkdown(text)
        place.current?.replaceChildren(fragment)
        setFormatted(true)
      } catch {
        // Nested too deep for the renderer: the plain text stays.
      }
    })
    return () => {
      isCurrent = false
    }
  }, [text])
  if (text === '') return null
  return (
    <>
      <div class="prose" ref={place} hidden={!isFormatted} />
      {!isFormatted && <div class="prose plain">{text.slice(0, shownLength)}</div>}
      {text.length > shownLength && (
        <p class="quiet">{`${(text.length - shownLength).toLocaleString('en')} more characters: see the raw message`}</p>
      )}
    </>
  )
}
