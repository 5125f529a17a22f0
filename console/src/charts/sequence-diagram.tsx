import { useMemo, useRef, useState } from 'preact/hooks'
import './chart.css'
import './sequence-diagram.css'
import { typeName } from '../lib/text.ts'
import { type Head, type Mark, markWords, type SequenceRow, sequenceOf } from './sequence-layout.ts'
import { clock, day, plural, spansDays } from './text.ts'
import type { ChartMessage, ChartReceipt } from './types.ts'

export interface SequenceDiagramProps {
  /** A thread, oldest first. */
  messages: readonly ChartMessage[]
  /** By message id. By default, the receipts in the messages. */
  receipts?: Readonly<Record<string, readonly ChartReceipt[]>>
  /** @default 'Thread' */
  label?: string
  onSelect?: (id: string) => void
}

const signs: Record<Mark, string> = { seen: '○', working: '◐', done: '✓', failed: '✕', lost: '⊘' }

/** A thread as lifelines and arrows, oldest at the top. */
export function SequenceDiagram({ messages, receipts, label = 'Thread', onSelect }: SequenceDiagramProps) {
  const { columns, rows } = useMemo(() => sequenceOf(messages, receipts), [messages, receipts])
  const [lit, setLit] = useState<number | undefined>()
  const list = useRef<HTMLOListElement>(null)
  if (rows.length === 0) return <p class="chart chart-empty">This thread has no messages.</p>
  const manyDays = spansDays(rows[0]!.message.createdAt, rows.at(-1)!.message.createdAt)
  const answered = rows.find(({ number }) => number === lit)?.answers

  const go = (event: KeyboardEvent, at: number) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    list.current?.querySelectorAll('button')[Math.max(0, Math.min(rows.length - 1, to))]?.focus()
  }

  return (
    <section
      class="chart sequence"
      style={{ '--columns': columns.length }}
      aria-label={`${label}: ${plural(rows.length, 'message')} between ${plural(columns.length, 'participant')}`}
    >
      <div class="sequence-scroll">
        <div class="sequence-sheet">
          <div class="sequence-heads" aria-hidden="true">
            <span class="sequence-time">{manyDays ? '' : day(rows[0]!.message.createdAt)}</span>
            {columns.map((name) => (
              <span
                key={name}
                class={name.includes(':') ? 'sequence-head is-role' : 'sequence-head'}
                title={name}
              >
                <span>{name}</span>
              </span>
            ))}
          </div>
          <div class="sequence-lines" aria-hidden="true">
            {columns.map((name, at) => (
              <i key={name} style={{ '--at': at }} />
            ))}
          </div>
          <ol ref={list}>
            {rows.map((row, at) => {
              const { message, number } = row
              const time = message.createdAt
              const before = rows[at - 1]?.message.createdAt
              const isNewDay = manyDays && (before === undefined || spansDays(before, time))
              const state = number === lit ? 'is-lit' : number === answered ? 'is-answered' : ''
              return (
                <li key={message.id}>
                  {isNewDay && <p class="sequence-day">{day(time)}</p>}
                  <button
                    type="button"
                    class={`sequence-row ${state}`}
                    tabIndex={number === (lit ?? 1) ? 0 : -1}
                    aria-label={inWords(row, columns)}
                    onFocus={() => setLit(number)}
                    onPointerEnter={() => setLit(number)}
                    onKeyDown={(event: KeyboardEvent) => go(event, at)}
                    onClick={() => onSelect?.(message.id)}
                  >
                    <time class="sequence-time" dateTime={time} title={time}>
                      {clock(time)}
                      <small>{row.answers === undefined ? number : `${number} re ${row.answers}`}</small>
                    </time>
                    <Arrow row={row} columns={columns.length} />
                  </button>
                </li>
              )
            })}
          </ol>
        </div>
      </div>
      <p class="chart-note sequence-key" aria-hidden="true">
        {Object.entries(signs).map(([mark, sign]) => (
          <span key={mark} class={`mark-${mark}`}>
            <b>{sign}</b> {markWords[mark as Mark]}
          </span>
        ))}
        <span>
          <i class="key-line" /> message
        </span>
        <span>
          <i class="key-line is-reply" /> reply
        </span>
      </p>
    </section>
  )
}

function Arrow({ row, columns }: { row: SequenceRow; columns: number }) {
  const { message, from, heads } = row
  const reach = [from, ...heads.map(({ column }) => column)]
  const [left, right] = [Math.min(...reach), Math.max(...reach)]
  // The text goes where there is more room.
  const leansLeft = left > columns - 1 - right && left + right > columns - 1
  const kind = `${row.answers === undefined ? '' : 'is-reply'} ${row.fansOut ? 'is-fan' : ''} priority-${message.priority ?? 'normal'}`
  return (
    <span class={`sequence-arrow ${kind}`} style={{ '--left': left, '--right': right, '--from': from }}>
      <span class={leansLeft ? 'sequence-text leans-left' : 'sequence-text'}>
        <em>{typeName(message.type)}</em>
        {message.priority === 'urgent' && <strong>urgent</strong>}{' '}
        <span>{message.subject || '(no subject)'}</span>
      </span>
      {right > left && <i class="sequence-line" />}
      <i class="sequence-start" />
      {heads.map((head) => (
        <HeadMark key={head.column} head={head} from={from} />
      ))}
    </span>
  )
}

function HeadMark({ head, from }: { head: Head; from: number }) {
  const { column, mark } = head
  return (
    <span class={`sequence-end ${column < from ? 'to-left' : 'to-right'}`} style={{ '--at': column }}>
      <i />
      {mark !== undefined && <b class={`mark-${mark}`}>{signs[mark]}</b>}
    </span>
  )
}

function inWords({ message, number, answers, heads }: SequenceRow, columns: readonly string[]): string {
  const to = heads.map(({ column, mark, role }) => {
    const facts = [
      role === undefined ? '' : `claimed from ${role}`,
      mark === undefined ? '' : markWords[mark],
    ]
    const said = facts.filter((fact) => fact !== '').join(', ')
    return said === '' ? columns[column] : `${columns[column]} (${said})`
  })
  const answer = answers === undefined ? '' : `, replies to ${answers}`
  const urgent = message.priority === 'urgent' ? ', urgent' : ''
  const whom = to.length === 0 ? message.to.join(', ') : to.join(', ')
  return `${number}. ${clock(message.createdAt)} ${message.from} to ${whom}: ${typeName(message.type)}${urgent}, ${message.subject || 'no subject'}${answer}`
}
