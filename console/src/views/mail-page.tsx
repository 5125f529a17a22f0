import './mail-page.css'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { listItems } from '../keys/list-moves.ts'
import { line } from '../lib/text.ts'
import { Divider, useListWidth } from '../parts/divider.tsx'
import { Empty } from '../parts/small.tsx'

export interface MailPageProps {
  title: string
  count?: string | undefined
  tools?: ComponentChildren
  /** Below the title, such as a search field. */
  under?: ComponentChildren
  list: ComponentChildren
  reading: ComponentChildren | null
  /** Shown when nothing is selected. */
  placeholder?: ComponentChildren
}

const NothingSelected = () => (
  <Empty title="Nothing selected">
    <p>
      <kbd>j</kbd>/<kbd>k</kbd> to move, <kbd>r</kbd> to reply, <kbd>c</kbd> to compose, <kbd>?</kbd> for all
      shortcuts.
    </p>
  </Empty>
)

/** A list and the selected item, side by side, or one at a time on a narrow screen. */
export function MailPage({ title, count, tools, under, list, reading, placeholder }: MailPageProps) {
  const { width, change } = useListWidth()
  return (
    <div class={`mail${reading === null ? '' : ' open'}`} style={{ '--list': `${width}px` }}>
      <section class="list-pane" aria-label={line(title)}>
        <header class="list-head">
          <div class="list-head-line">
            <h1 class="cut">
              <bdi>{line(title)}</bdi>
            </h1>
            {count && <span class="count number">{count}</span>}
            {tools}
          </div>
          {under}
        </header>
        {list}
      </section>
      <Divider width={width} onChange={change} />
      <section class={`reading${reading === null ? ' bare' : ''}`} aria-label="Reading pane">
        {reading ?? placeholder ?? <NothingSelected />}
      </section>
    </div>
  )
}

/** Lets j and k move in this list. */
export function useListMoves(hrefs: readonly string[], current: number): void {
  useEffect(() => {
    listItems.value = { hrefs, current }
  }, [hrefs, current])
  useEffect(
    () => () => {
      listItems.value = { hrefs: [], current: -1 }
    },
    [],
  )
}
