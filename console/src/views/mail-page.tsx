import './mail-page.css'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { leaves } from '../keys/leaf.ts'
import { line } from '../lib/text.ts'
import { Empty } from '../parts/small.tsx'

export interface MailPageProps {
  title: string
  count?: string | undefined
  tools?: ComponentChildren
  /** Below the title: a field, a sentence. */
  under?: ComponentChildren
  list: ComponentChildren
  reading: ComponentChildren | null
  /** Shown where nothing is open. */
  placeholder?: ComponentChildren
}

const NothingOpen = () => (
  <Empty title="Nothing open">
    <p>
      <kbd>j</kbd> and <kbd>k</kbd> leaf through the list, <kbd>r</kbd> answers, <kbd>c</kbd> writes anew,{' '}
      <kbd>?</kbd> shows all keys.
    </p>
  </Empty>
)

/** A list and what is open of it, side by side; one at a time where there is no room for both. */
export const MailPage = ({ title, count, tools, under, list, reading, placeholder }: MailPageProps) => (
  <div class={`mail${reading === null ? '' : ' open'}`}>
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
    <section class={`reading${reading === null ? ' bare' : ''}`} aria-label="Reading">
      {reading ?? placeholder ?? <NothingOpen />}
    </section>
  </div>
)

/** Lets j and k leaf through this list. */
export function useLeaves(hrefs: readonly string[], current: number): void {
  useEffect(() => {
    leaves.value = { hrefs, current }
  }, [hrefs, current])
  useEffect(
    () => () => {
      leaves.value = { hrefs: [], current: -1 }
    },
    [],
  )
}
