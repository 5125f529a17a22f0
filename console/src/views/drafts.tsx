import { useId } from 'preact/hooks'
import { previewOf } from '../../../src/conversation/words.ts'
import type { StoredMessage } from '../data/types.ts'
import { draftPlaces, readDraft } from '../lib/drafts.ts'
import { path } from '../lib/route.ts'
import { line, subjectOf } from '../lib/text.ts'
import { fullTime } from '../lib/time.ts'
import { Empty, When } from '../parts/small.tsx'
import { discardDraft, openDraft } from '../state/compose.ts'
import { scheduled, takeBack } from '../state/scheduled.ts'
import { Page } from './page.tsx'

/** What is to be sent later, and what was begun and not sent in this browser, the last one first. */
export function DraftsPage() {
  const drafts = [...draftPlaces.value]
    .flatMap((place) => {
      const draft = readDraft(place)
      return draft === undefined ? [] : [{ place, ...draft }]
    })
    .sort((a, b) => b.at - a.at)
  const later = scheduled.data.value ?? []
  return (
    <Page
      title="Drafts"
      tools={drafts.length > 0 && <span class="quiet">Drafts are kept in this browser</span>}
    >
      {later.length > 0 && <Scheduled messages={later} />}
      {drafts.length === 0 ? (
        later.length === 0 && (
          <Empty title="No drafts">
            <p>What you write is kept with every keystroke, until you send or discard it.</p>
          </Empty>
        )
      ) : (
        <div class="table-room">
          <table class="table drafts">
            <thead>
              <tr>
                <th>To</th>
                <th>Draft</th>
                <th>Changed</th>
                <th>
                  <span class="hidden">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {drafts.map(({ place, to, subject, body, values, replyTo, at }) => {
                const text = line([subject, body, ...Object.values(values)].filter(Boolean).join(' – '))
                const title = text === '' ? subjectOf('') : text.slice(0, 120)
                return (
                  <tr key={place}>
                    <td>
                      <bdi class="cut">{line(to) || '–'}</bdi>
                    </td>
                    <td>
                      {place.startsWith('thread.') ? (
                        <a href={path('threads', place.slice('thread.'.length))}>
                          <bdi>{title}</bdi>
                        </a>
                      ) : (
                        <button type="button" class="link" onClick={() => openDraft(place)}>
                          <bdi>{title}</bdi>
                        </button>
                      )}
                      {replyTo !== undefined && <span class="quiet"> · reply</span>}
                    </td>
                    <td>{at > 0 && <When at={new Date(at).toISOString()} />}</td>
                    <td>
                      <button
                        type="button"
                        class="button plain small"
                        aria-label={`Discard ${title}`}
                        onClick={() => discardDraft(place)}
                      >
                        Discard
                      </button>
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
        </div>
      )}
    </Page>
  )
}

/** What is to be sent later, the earliest first. It is kept by the hub, and is sent whether this page is open or not. */
function Scheduled({ messages }: { messages: readonly StoredMessage[] }) {
  const id = useId()
  return (
    <section class="scheduled" aria-labelledby={id}>
      <h2 id={id}>Scheduled</h2>
      <div class="table-room">
        <table class="table drafts">
          <thead>
            <tr>
              <th>To</th>
              <th>Message</th>
              <th>Goes out</th>
              <th>
                <span class="hidden">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {messages.map((message) => {
              const title = line(message.subject || previewOf(message)) || subjectOf('')
              return (
                <tr key={message.id}>
                  <td>
                    <bdi class="cut">{line(message.to.join(', '))}</bdi>
                  </td>
                  <td>
                    <bdi>{title.slice(0, 120)}</bdi>
                    {message.replyTo !== undefined && <span class="quiet"> · reply</span>}
                  </td>
                  <td>
                    <time dateTime={message.createdAt}>
                      {fullTime(message.createdAt).replace(/:\d\d$/, '')}
                    </time>
                  </td>
                  <td>
                    <button
                      type="button"
                      class="button plain small"
                      aria-label={`Take back ${title}`}
                      onClick={() => void takeBack(message)}
                    >
                      Take back
                    </button>
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
    </section>
  )
}
