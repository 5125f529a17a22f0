import { readDraft } from '../lib/drafts.ts'
import { go } from '../lib/go.ts'
import { path } from '../lib/route.ts'
import { Composer } from '../parts/composer.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { composing } from '../state/compose.ts'

const close = () => {
  composing.value = null
}

/** A new letter, from wherever the person is. */
export function ComposeDialog() {
  const start = composing.value
  if (start === null) return null
  // Somebody else is meant than in the draft that lies here: that is another letter.
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
