import './ladder.css'
import { signatureText } from '../../../src/model/signature-state.ts'
import { useResource } from '../data/resource.ts'
import type { LadderStep, ReceiptState, ReceiptView } from '../data/types.ts'
import { path } from '../lib/route.ts'
import { line, plural } from '../lib/text.ts'
import { clockTime, duration, fullTime } from '../lib/time.ts'
import { messageOptions } from '../state/thread.ts'
import { Loading, Problem, Who } from './small.tsx'

const good = ['acked', 'processing', 'completed', 'archived']
const bad = ['failed', 'expired', 'dead', 'withdrawn']
const warn = ['repeated', 'escalated', 'stale', 'overdue']

export function toneOf(state: string): 'good' | 'bad' | 'warn' | '' {
  if (good.includes(state)) return 'good'
  if (bad.includes(state)) return 'bad'
  return warn.includes(state) ? 'warn' : ''
}

/** Receipt states as people call them. */
const stateNames: Partial<Record<string, string>> = {
  stored: 'unread',
  shown: 'read',
  acked: 'acknowledged',
  processing: 'in progress',
  dead: 'undeliverable',
}
export const stateName = (state: string): string => stateNames[state] ?? state

const StateChip = ({ state }: { state: ReceiptState }) => (
  <span class={`chip ${toneOf(state)}`}>{stateName(state)}</span>
)

/** The delivery history of a message for each recipient. */
export function Ladders({ id }: { id: string }) {
  const { data, error } = useResource(`message ${id}`, () => messageOptions(id))
  if (error.value !== null && data.value === undefined) return <Problem error={error.value} />
  if (data.value === undefined) return <Loading />
  const { message, receipts, escalations, signature } = data.value
  return (
    <div class="ladders">
      {signature !== undefined && (
        <p class="quiet">
          <span class={`chip ${signature === 'signed' ? 'good' : signature === 'forged' ? 'bad' : ''}`}>
            {line(signatureText(signature, message.from))}
          </span>
        </p>
      )}
      {escalations.map((one) => (
        <p key={one.id} class="quiet">
          Escalated to {line(one.to.join(', '))}
          {one.by === 'system' ? '' : ` by ${line(one.by)}`} at{' '}
          <a href={path('messages', one.id)}>{fullTime(one.at)}</a> because: {line(one.reason)}
        </p>
      ))}
      {receipts.map((receipt) => (
        <Ladder key={receipt.recipient} receipt={receipt} />
      ))}
      {receipts.length === 0 && <p class="quiet">No recipients</p>}
    </div>
  )
}

function Ladder({ receipt }: { receipt: ReceiptView }) {
  const { recipient, state, steps, claimedBy, attempts, repeats } = receipt
  const facts = [
    ...(claimedBy === undefined ? [] : [`claimed by ${line(claimedBy)}`]),
    ...(attempts > 1 ? [plural(attempts, 'attempt')] : []),
    ...(repeats > 0 ? [`shown ${plural(repeats, 'more time')}`] : []),
  ]
  const first = steps[0]
  return (
    <section class="ladder" aria-label={`Delivery status for ${line(recipient)}`}>
      <header>
        <Who name={recipient} />
        <StateChip state={state} />
        <span class="quiet">{facts.join(', ')}</span>
      </header>
      <ol>
        {steps.map((step, n) => (
          <Rung key={n} step={step} first={first} />
        ))}
      </ol>
    </section>
  )
}

function Rung({ step, first }: { step: LadderStep; first: LadderStep | undefined }) {
  const afterMs = first === undefined ? 0 : Date.parse(step.at) - Date.parse(first.at)
  return (
    <li class={toneOf(step.state)}>
      <b>{step.state === 'stored' ? 'sent' : stateName(step.state)}</b>
      <span class="quiet cut">
        by <bdi>{line(step.by)}</bdi>
      </span>
      <time class="quiet number" dateTime={step.at} title={fullTime(step.at)}>
        {afterMs > 0 ? `+${duration(afterMs)}` : clockTime(step.at)}
      </time>
      {step.note && <span class="note">{line(step.note)}</span>}
    </li>
  )
}
