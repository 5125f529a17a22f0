import './row.css'
import type { ComponentChildren } from 'preact'
import { subjectOf } from '../lib/text.ts'
import { Avatar, When } from './small.tsx'

export interface RowProps {
  href: string
  isCurrent: boolean
  from: string
  people: string
  subject: string
  at: string
  children?: ComponentChildren
}

/** One item in a list of mail. */
export const Row = ({ href, isCurrent, from, people, subject, at, children }: RowProps) => (
  <a class="row" href={href} aria-current={isCurrent ? 'true' : undefined}>
    <Avatar name={from} />
    <span class="row-lines">
      <span class="row-top">
        <bdi class="cut">{people}</bdi>
        <When at={at} />
      </span>
      <span class="row-subject cut">
        <bdi>{subjectOf(subject)}</bdi>
      </span>
      <span class="row-bottom">{children}</span>
    </span>
  </a>
)
