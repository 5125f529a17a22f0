import './row.css'
import type { ComponentChildren } from 'preact'
import { line, subjectOf } from '../lib/text.ts'
import { selection, toggleSelected } from '../state/selection.ts'
import { Highlighted } from './highlighted.tsx'
import { Avatar, When } from './small.tsx'

export interface RowProps {
  href: string
  isCurrent: boolean
  from: string
  people: string
  subject: string
  at: string
  /** The beginning of its text. */
  preview?: string | undefined
  /** There is something in it that the person has not seen. */
  isNew?: boolean
  /** What it is called in the selection; without it, it cannot be selected. */
  selectKey?: string
  /** Words to highlight. */
  words?: readonly string[] | undefined
  children?: ComponentChildren
}

/** One item in a list of mail. */
export function Row(props: RowProps) {
  const { href, isCurrent, from, people, subject, at, preview, isNew, selectKey, words, children } = props
  const isSelected = selectKey !== undefined && selection.value.has(selectKey)
  return (
    <div class={`row-box${isSelected ? ' selected' : ''}${selection.value.size > 0 ? ' selecting' : ''}`}>
      <a class={`row${isNew ? ' new' : ''}`} href={href} aria-current={isCurrent ? 'true' : undefined}>
        <Avatar name={from} />
        <span class="row-lines">
          <span class="row-top">
            <bdi class="cut">{people}</bdi>
            {isNew && <span class="hidden">New</span>}
            <When at={at} />
          </span>
          <span class="row-subject cut">
            <bdi>
              <Highlighted text={subjectOf(subject)} words={words} />
            </bdi>
          </span>
          <span class="row-bottom">
            {children}
            {preview !== undefined && (
              <bdi class="row-preview cut">
                <Highlighted text={line(preview)} words={words} />
              </bdi>
            )}
          </span>
        </span>
      </a>
      {selectKey !== undefined && (
        <label class="row-select">
          <input
            type="checkbox"
            aria-label={`Select ${subjectOf(subject)}`}
            checked={isSelected}
            onChange={() => toggleSelected(selectKey)}
          />
        </label>
      )}
    </div>
  )
}
