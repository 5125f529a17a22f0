import './small.css'
import type { ComponentChildren } from 'preact'
import { boxOfTag } from '../../../src/model/address.ts'
import type { ApiError } from '../data/api.ts'
import type { Priority, RosterAgent } from '../data/types.ts'
import { channelName, isTag } from '../lib/address.ts'
import { hueOf } from '../lib/hue.ts'
import { path } from '../lib/route.ts'
import { line, sentence, typeName } from '../lib/text.ts'
import { fullTime, shortTime } from '../lib/time.ts'
import { copy } from './copy.ts'
import { Icon } from './icon.tsx'

function initials(name: string): string {
  const words = line(name)
    .split(/[\s:/_.-]+/)
    .filter((word) => word !== '')
  const letters =
    words.length > 1 ? words.slice(-2).map((word) => [...word][0]!) : [...(words[0] ?? '?')].slice(0, 2)
  return letters.join('').toUpperCase()
}

export function Avatar({ name, large }: { name: string; large?: boolean }) {
  const isGroup = isTag(name) || name === 'all' || name.startsWith('role:')
  const kind = `avatar${large ? ' large' : ''}${isGroup ? ' group' : ''}`
  return (
    <span class={kind} style={{ '--hue': String(hueOf(name)) }} aria-hidden="true">
      {initials(name)}
    </span>
  )
}

export const When = ({ at }: { at: string }) => (
  <time class="quiet number" dateTime={at} title={fullTime(at)}>
    {shortTime(at)}
  </time>
)

/** An address that links to its mail. */
export function Who({ name, plain }: { name: string; plain?: boolean }) {
  const text = isTag(name) && name.startsWith('project:') ? `#${channelName(name).name}` : line(name)
  if (plain || name === 'all' || name.startsWith('role:') || name === 'system')
    return <bdi class="who">{text}</bdi>
  return (
    <a class="who" href={isTag(name) ? path('channels', name) : path('agents', name)}>
      <bdi>{text}</bdi>
    </a>
  )
}

export const PriorityChip = ({ priority }: { priority: Priority }) =>
  priority === 'normal' ? null : <span class={`chip ${priority}`}>{priority}</span>

export const TypeChip = ({ type }: { type: string }) =>
  type === 'text' ? null : <span class="chip">{typeName(type)}</span>

export const TagChip = ({ tag }: { tag: string }) => {
  const channel = boxOfTag(tag)
  const { name, kind } = channelName(channel)
  return (
    <a class="chip" href={path('channels', channel)}>
      <bdi class="cut">{kind === null ? `#${line(name)}` : `${line(kind)}: ${line(name)}`}</bdi>
    </a>
  )
}

export const StateDot = ({ state }: { state: RosterAgent['state'] }) => (
  <span class={`dot ${state}`} role="img" aria-label={state} title={state} />
)

export const Command = ({ text }: { text: string }) => (
  <div class="command">
    <code tabIndex={0}>{text}</code>
    <button
      type="button"
      class="button plain icon small"
      aria-label={`Copy: ${text}`}
      onClick={() => copy(text)}
    >
      <Icon name="copy" />
    </button>
  </div>
)

/** An empty state with the commands to run next. */
export const Empty = (props: {
  title: string
  commands?: readonly string[]
  children?: ComponentChildren
}) => (
  <div class="empty">
    <h2>{props.title}</h2>
    {props.children}
    {props.commands && (
      <ol>
        {props.commands.map((text) => (
          <li key={text}>
            <Command text={text} />
          </li>
        ))}
      </ol>
    )}
  </div>
)

export const Problem = ({ error }: { error: ApiError }) => (
  <div class="problem" role="alert">
    {sentence(error.message)}
    {error.hint && <div class="quiet">{sentence(error.hint)}</div>}
  </div>
)

export const Loading = ({ note }: { note?: string }) => (
  <div class="waiting-bars" role="status">
    {note === undefined ? <span class="hidden">Loading</span> : <p class="quiet">{note}</p>}
    {Array.from({ length: 6 }, (_, n) => (
      <i key={n} />
    ))}
  </div>
)
