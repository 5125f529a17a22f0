import './page.css'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { isListMove } from '../lib/go.ts'
import { line } from '../lib/text.ts'

export interface PageProps {
  title: string
  lead?: ComponentChildren
  tools?: ComponentChildren
  children: ComponentChildren
}

/** A page that is not a list of mail. */
export function Page({ title, lead, tools, children }: PageProps) {
  const head = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (!isListMove.peek()) head.current?.focus({ preventScroll: true })
  }, [title])
  return (
    <div class="page">
      <div class="page-inner">
        <header class="page-head">
          {lead}
          <h1 ref={head} tabIndex={-1}>
            <bdi>{line(title)}</bdi>
          </h1>
          {tools && <div class="tools">{tools}</div>}
        </header>
        {children}
      </div>
    </div>
  )
}
