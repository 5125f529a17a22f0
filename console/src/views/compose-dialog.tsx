import { readDraft } from '../lib/drafts.ts'
import { go } from '../lib/go.ts'
import { path } from '../lib/route.ts'
import { Dialog } from '../parts/dialog.tsx'
import { lazy } from '../parts/lazy.tsx'
import { composing } from '../state/compose.ts'

const Composer = lazy(async () => (await import('../parts/composer.tsx')).Composer)

const close = () => {
  composing.value = null
}

/** A new message, over any page. */
export function ComposeDialog() {
  const start = composing.value
  if (start === null) return null
  // The saved draft is to somebody else, so this is another message.
  const known = readDraft('new')
  const place = start.to && known && known.to !== start.to ? `new.${start.to}` : 'new'
  return (
    <Dialog title="New message" onClose={close}>
      <Composer
        key={place}
        place={place}
        start={start}
        autoFocus={start.to !== undefined && start.to !== ''}
        onSent={(threadId) => {
          close()
          go(path('threads', threadId))
        }}
        onDiscard={close}
      />
    </Dialog>
  )
}
