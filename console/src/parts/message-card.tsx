import './message-card.css'
import { useState } from 'preact/hooks'
import { typeOf } from '../../../src/conversation/registry.ts'
import { filesBesides, labelFor, listsOf, type Words, wordsOf } from '../../../src/conversation/words.ts'
import type { StoredMessage, ThreadReceipt } from '../data/types.ts'
import { peopleFirst } from '../lib/audience.ts'
import { asCommand } from '../lib/cli.ts'
import { path } from '../lib/route.ts'
import { block, line, subjectOf } from '../lib/text.ts'
import { clockTime, fullTime } from '../lib/time.ts'
import { copy } from './copy.ts'
import { Icon, type IconName } from './icon.tsx'
import { Ladders } from './ladder.tsx'
import { lazy } from './lazy.tsx'
import { Markdown } from './markdown.tsx'
import { MatterBar } from './matter-bar.tsx'
import { ReadBy } from './read-by.tsx'
import { Avatar, PriorityChip, TagChip, TypeChip, Who } from './small.tsx'

export interface MessageCardProps {
  message: StoredMessage
  receipts: readonly ThreadReceipt[]
  onReply: () => void
  /** Its subject, if it differs from the thread's. */
  subject?: string | undefined
  isTarget?: boolean
  ladder?: boolean
  /** Without what can be done about it, and who has read it. */
  isPlain?: boolean
  /** It is not sent yet. */
  isPreview?: boolean
  /** The plan that this one replaces. */
  previous?: StoredMessage | undefined
}

const PlanDiff = lazy(async () => (await import('./plan-diff.tsx')).PlanDiff)

/** One message and its delivery status. */
export function MessageCard({
  message,
  receipts,
  onReply,
  subject,
  isTarget,
  ladder = false,
  isPlain = false,
  isPreview = false,
  previous,
}: MessageCardProps) {
  const [shows, setShows] = useState<'ladder' | 'raw' | null>(ladder ? 'ladder' : null)
  const toggle = (what: 'ladder' | 'raw') => () => setShows(shows === what ? null : what)
  const { from, to, type, priority, tags } = message
  const words = wordsOf(message)
  const files = filesBesides(message, words.body)
  const { sentence } = typeOf(type) ?? {}
  return (
    <article
      class={`message${isTarget ? ' target' : ''}`}
      id={`m-${message.id}`}
      aria-label={`${line(from)}: ${subjectOf(words.subject)}`}
    >
      <header>
        <Avatar name={from} />
        <div class="message-line">
          <Who name={from} />
          <span class="to">
            to{' '}
            {peopleFirst(to)
              .slice(0, 6)
              .map((one, n) => (
                <span key={one}>
                  {n > 0 && ', '}
                  <Who name={one} />
                </span>
              ))}
            {to.length > 6 && ` and ${to.length - 6} more`}
          </span>
          <time class="quiet number" dateTime={message.createdAt} title={fullTime(message.createdAt)}>
            {clockTime(message.createdAt)}
          </time>
          <PriorityChip priority={priority} />
          <TypeChip type={type} />
          {message.imported && (
            <span class="chip" title="A file names this sender; the message was not sent in this space.">
              imported
            </span>
          )}
          {message.encrypted === 'recipients' && (
            <span class="chip" title="Only its sender and its recipients can read it.">
              encrypted
            </span>
          )}
          {tags.map((tag) => (
            <TagChip key={tag} tag={tag} />
          ))}
        </div>
        {!isPreview && (
          <div class="message-tools">
            <Tool icon="reply" name="Reply" onClick={onReply} />
            <Tool
              icon="ladder"
              name="Delivery status"
              isOpen={shows === 'ladder'}
              onClick={toggle('ladder')}
            />
            <Tool icon="code" name="Raw JSON" isOpen={shows === 'raw'} onClick={toggle('raw')} />
            <Tool
              icon="copy"
              name="Copy as command"
              onClick={() => copy(asCommand(message), 'Command copied')}
            />
            <a
              class="button plain icon small"
              href={path('messages', message.id)}
              aria-label="Open message"
              title="Open message"
            >
              <Icon name="link" />
            </a>
          </div>
        )}
      </header>
      <div class="message-body">
        {subject !== undefined && subject !== '' && (
          <h2>
            <bdi>{line(subject)}</bdi>
          </h2>
        )}
        {sentence !== undefined && <p class="sentence">{sentence}</p>}
        <Markdown text={words.body} />
        <Details words={words} />
        {files.length > 0 && (
          <ul class="files" aria-label="Attachments">
            {files.map((file) => (
              <li key={file} class="mono">
                <bdi>{line(file)}</bdi>
              </li>
            ))}
          </ul>
        )}
        {shows === null && !isPlain && (
          <ReadBy message={message} receipts={receipts} onOpen={toggle('ladder')} />
        )}
        {previous !== undefined && <Versions before={wordsOf(previous).body} after={words.body} />}
        {shows === 'ladder' && (
          <div class="box">
            <Ladders id={message.id} />
          </div>
        )}
        {shows === 'raw' && (
          <pre class="raw" tabIndex={0} aria-label="Raw JSON">
            {JSON.stringify(message, null, 2)}
          </pre>
        )}
        {!isPlain && <MatterBar message={message} receipts={receipts} onReply={onReply} />}
      </div>
    </article>
  )
}

/** What has changed since the previous version of a plan. */
function Versions({ before, after }: { before: string; after: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" class="button small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="code" /> Compare with the previous version
      </button>
      {isOpen && <PlanDiff before={before} after={after} />}
    </>
  )
}

interface ToolProps {
  icon: IconName
  name: string
  isOpen?: boolean
  onClick: () => void
}

const Tool = ({ icon, name, isOpen, onClick }: ToolProps) => (
  <button
    type="button"
    class="button plain icon small"
    aria-label={name}
    title={name}
    aria-expanded={isOpen}
    onClick={onClick}
  >
    <Icon name={icon} />
  </button>
)

/** What the payload and the context say besides the text, a line for each. */
function Details({ words: { facts, others, payload, context } }: { words: Words }) {
  const isObject = payload !== null && typeof payload === 'object' && !Array.isArray(payload)
  const rest = Object.entries({ ...(isObject ? (payload as Record<string, unknown>) : {}), ...context })
  const shown = [
    ...listsOf([...facts, ...others]).map(({ label, texts }): [string, string[]] => [label, texts]),
    ...rest.flatMap(([name, value]): [string, string[]][] => {
      if (Array.isArray(value))
        return value.length === 0 ? [] : [[labelFor(name), [value.map(textOf).join('; ')]]]
      return value === null || value === undefined || value === '' ? [] : [[labelFor(name), [textOf(value)]]]
    }),
  ]
  if (shown.length === 0) return null
  return (
    <dl class="facts">
      {shown.slice(0, 16).map(([name, texts], at) => [
        <dt key={`${at} t`}>{line(name)}</dt>,
        <dd key={`${at} d`}>
          {texts.length === 1 ? (
            <Value text={texts[0]!} />
          ) : (
            <ol>
              {texts.slice(0, mostListed).map((text, n) => (
                <li key={n}>
                  <Value text={text} />
                </li>
              ))}
            </ol>
          )}
        </dd>,
      ])}
    </dl>
  )
}

const mostListed = 50
const webAddress = /^https?:\/\/[\x21-\x7e]{1,900}$/

/** A log keeps its lines, and an address can be followed. */
function Value({ text }: { text: string }) {
  if (text.trim().includes('\n'))
    return (
      <pre class="raw" tabIndex={0}>
        {block(text.trimEnd()).slice(0, 10_000)}
      </pre>
    )
  const short = line(text).slice(0, 1_000)
  if (!webAddress.test(text)) return <>{short}</>
  return (
    <a href={short} target="_blank" rel="noopener noreferrer nofollow">
      {short}
    </a>
  )
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
