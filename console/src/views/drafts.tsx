import { draftPlaces, readDraft } from '../lib/drafts.ts'
import { path } from '../lib/route.ts'
import { line, subjectOf } from '../lib/text.ts'
import { Empty, When } from '../parts/small.tsx'
import { discardDraft, openDraft } from '../state/compose.ts'
import { Page } from './page.tsx'

/** What was begun and not sent, in this browser: new messages and replies, the last one first. */
export function DraftsPage() {
  const drafts = [...draftPlaces.value]
    .flatMap((place) => {
      const draft = readDraft(place)
      return draft === undefined ? [] : [{ place, ...draft }]
    })
    .sort((a, b) => b.at - a.at)
  return (
    <Page title="Drafts" tools={<span class="quiet">In this browser</span>}>
      {drafts.length === 0 ? (
        <Empty title="No drafts">
          <p>What you write is kept with every keystroke, until you send or discard it.</p>
        </Empty>
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
