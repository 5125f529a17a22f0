import { isEmpty, readDraft } from '../lib/drafts.ts'
import { go } from '../lib/go.ts'
import { path } from '../lib/route.ts'
import { Dialog } from '../parts/dialog.tsx'
import { lazy } from '../parts/lazy.tsx'
import { composing, openAnother, openDraft } from '../state/compose.ts'

const Composer = lazy(async () => (await import('../parts/composer.tsx')).Composer)

const close = () => {
  composing.value = null
}

/** A new message, over any page. */
export function ComposeDialog() {
  if (composing.value === null) return null
  const { place, start } = composing.value
  const kept = readDraft(place)
  return (
    <Dialog
      title="New message"
      onClose={close}
      tools={
        kept !== undefined &&
        !isEmpty(kept) && (
          <button type="button" class="button plain small" onClick={openAnother}>
            Keep this draft and start another
          </button>
        )
      }
    >
      <Composer
        key={place}
        place={place}
        start={start}
        autoFocus={start.to !== undefined && start.to !== ''}
        onSent={(threadId) => {
          close()
          go(threadId === undefined ? '/drafts' : path('threads', threadId))
        }}
        onDiscard={close}
        onTakenBack={() => openDraft(place)}
      />
    </Dialog>
  )
}
