import { useState } from 'preact/hooks'
import { titleOf } from '../../../src/conversation/words.ts'
import { describeRouted } from '../../../src/model/routes.ts'
import { useResource } from '../data/resource.ts'
import { asCommand } from '../lib/cli.ts'
import { path } from '../lib/route.ts'
import { line, subjectOf } from '../lib/text.ts'
import { fullTime } from '../lib/time.ts'
import { Composer } from '../parts/composer.tsx'
import { copy } from '../parts/copy.ts'
import { Icon } from '../parts/icon.tsx'
import { MessageCard } from '../parts/message-card.tsx'
import { Command, Loading, Problem } from '../parts/small.tsx'
import { markDone } from '../state/act.ts'
import { messageOptions } from '../state/thread.ts'
import { Page } from './page.tsx'

/** One message with its delivery status, its fields and the command that shows it. */
export function MessagePage({ id }: { id: string }) {
  const { data, error } = useResource(`message ${id}`, () => messageOptions(id))
  const [isReplying, setReplying] = useState(false)
  if (error.value !== null && data.value === undefined) return <Problem error={error.value} />
  if (data.value === undefined) return <Loading />
  const { message, receipts } = data.value
  const summary = receipts.map(({ recipient, state, claimedBy }) => ({
    owner: recipient,
    box: claimedBy ?? recipient,
    state,
  }))
  const facts: [string, string | undefined][] = [
    ['ID', message.id],
    ['Number', `#${message.seq}`],
    ['Sent', fullTime(message.createdAt)],
    ['Expires', message.expiresAt && fullTime(message.expiresAt)],
    ['In reply to', message.replyTo],
    ['Routed', message.routed && describeRouted(message.routed)],
    ['Offered first to', message.offeredTo],
    ['Swarm', message.swarm],
    ['Key', message.key],
    ['Trace', message.traceparent],
  ]
  return (
    <Page
      title={subjectOf(titleOf(message))}
      tools={
        <>
          <a class="button" href={`${path('threads', message.threadId)}?m=${message.id}`}>
            <Icon name="threads" /> Thread
          </a>
          <button
            type="button"
            class="button"
            onClick={() => copy(JSON.stringify(message, null, 2), 'JSON copied')}
          >
            <Icon name="code" /> Copy JSON
          </button>
          <button type="button" class="button" onClick={() => copy(asCommand(message), 'Command copied')}>
            <Icon name="copy" /> Copy as command
          </button>
        </>
      }
    >
      <div class="alone">
        <MessageCard message={message} receipts={summary} ladder onReply={() => setReplying(true)} />
      </div>
      {isReplying && (
        <Composer
          place={`thread.${message.threadId}`}
          start={{ to: message.from === 'user' ? message.to.join(', ') : message.from }}
          replyTo={message.id}
          autoFocus
          after={() => markDone(message)}
          onSent={() => setReplying(false)}
          onDiscard={() => setReplying(false)}
        />
      )}
      <dl class="facts">
        {facts.flatMap(([name, value]) =>
          value === undefined
            ? []
            : [
                <dt key={`${name} t`}>{name}</dt>,
                <dd key={`${name} d`} class="mono">
                  {line(value)}
                </dd>,
              ],
        )}
      </dl>
      <Command text={`mailbox show ${message.seq}`} />
    </Page>
  )
}
