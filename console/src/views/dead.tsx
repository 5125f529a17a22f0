import { useMemo, useRef, useState } from 'preact/hooks'
import { titleOf } from '../../../src/conversation/words.ts'
import { get } from '../data/api.ts'
import type { PagedOptions } from '../data/paged.ts'
import type { DeadLetter, DeadLetters } from '../data/types.ts'
import { parseRecipients } from '../lib/address.ts'
import { go } from '../lib/go.ts'
import { reachOf } from '../lib/reach.ts'
import { path } from '../lib/route.ts'
import { line, subjectOf } from '../lib/text.ts'
import { AddressField } from '../parts/address-field.tsx'
import { BulkBar, useSelecting } from '../parts/bulk-bar.tsx'
import { Icon } from '../parts/icon.tsx'
import { stateName } from '../parts/ladder.tsx'
import { MessageCard } from '../parts/message-card.tsx'
import { Row } from '../parts/row.tsx'
import { Empty, Loading, PriorityChip, Problem } from '../parts/small.tsx'
import { showToast } from '../parts/toast.tsx'
import { VirtualList } from '../parts/virtual-list.tsx'
import { openCompose } from '../state/compose.ts'
import { resend } from '../state/decisions.ts'
import { decided } from '../state/deferred.ts'
import { overview } from '../state/overview.ts'
import { clearSelection, select, selection } from '../state/selection.ts'
import { MailPage, useListMoves } from './mail-page.tsx'
import { rowHeight, usePaged } from './threads.tsx'

const idOf = ({ message, recipient }: DeadLetter): string => `${message.id} ${recipient}`
const hrefOf = (letter: DeadLetter): string => path('dead', idOf(letter))

const deadPages = (): PagedOptions<DeadLetter> => ({
  page: async (after, signal) => {
    const { letters, next } = await get<DeadLetters>('/api/dead', { after, limit: 100 }, signal)
    return { items: letters, next }
  },
  idOf,
  apply: (items, entries) => {
    const changes = entries.flatMap((entry) => (entry.kind === 'receipt' ? entry.changes : []))
    const isBack = ({ message, recipient }: DeadLetter) =>
      changes.some(
        ({ id, owner, state }) =>
          id === message.id && owner === recipient && state !== 'dead' && state !== 'expired',
      )
    const rest = items.filter((letter) => !isBack(letter))
    return {
      items: rest.length === items.length ? items : rest,
      stale: changes.some(({ state }) => state === 'dead' || state === 'expired'),
    }
  },
})

/** Undeliverable mail, and a way to resend it. */
export function DeadPage({ id }: { id: string | undefined }) {
  const { found, more } = usePaged('dead', deadPages)
  const items = found.data.value?.items.filter(({ message }) => !decided.value.has(message.id))
  const open = items?.find((letter) => idOf(letter) === id)
  const hrefs = useMemo(() => (items ?? []).map(hrefOf), [items])
  const selected = items?.findIndex((letter) => idOf(letter) === id) ?? -1
  useListMoves(hrefs, selected)
  useSelecting(useMemo(() => (items ?? []).map(idOf), [items]))
  const count = overview.data.value?.dead
  return (
    <MailPage
      title="Dead letters"
      count={count ? String(count) : undefined}
      under={
        <BulkBar>
          <ResendSelected letters={(items ?? []).filter((letter) => selection.value.has(idOf(letter)))} />
        </BulkBar>
      }
      list={
        found.error.value !== null && items === undefined ? (
          <Problem error={found.error.value} />
        ) : items === undefined ? (
          <Loading />
        ) : items.length === 0 ? (
          <Empty title="No dead letters">
            <p>
              Messages that could not be delivered appear here: the recipient is gone, the message expired, or
              it was claimed too often without being finished. The sender is notified.
            </p>
          </Empty>
        ) : (
          <VirtualList
            label="Dead letters"
            items={items}
            rowHeight={rowHeight}
            keyOf={idOf}
            selected={selected}
            onNearEnd={more}
            row={(letter) => (
              <Row
                href={hrefOf(letter)}
                isCurrent={idOf(letter) === id}
                from={letter.message.from}
                people={`${line(letter.message.from)} to ${line(letter.recipient)}`}
                subject={titleOf(letter.message)}
                at={letter.at}
                selectKey={idOf(letter)}
              >
                <PriorityChip priority={letter.message.priority} />
                <span class="chip bad">{stateName(letter.state)}</span>
                <bdi class="cut">{line(letter.reason)}</bdi>
              </Row>
            )}
          />
        )
      }
      reading={
        id === undefined ? null : open === undefined ? (
          <NotFound isLoaded={items !== undefined} />
        ) : (
          <Reading key={id} letter={open} />
        )
      }
    />
  )
}

function ResendSelected({ letters }: { letters: readonly DeadLetter[] }) {
  const [to, setTo] = useState('')
  const form = useRef<HTMLFormElement>(null)
  return (
    <form
      class="reason"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        const keys = letters.map(idOf)
        const ids = [...new Set(letters.map(({ message }) => message.id))]
        if (resendTo(ids, to, () => select(keys))) clearSelection()
      }}
    >
      <AddressField
        required
        aria-label="Resend the selected to"
        placeholder="Resend to: agent, role or tag"
        value={to}
        onText={setTo}
        onEnter={() => form.current?.requestSubmit()}
      />
      <button type="submit" class="button main">
        Resend {letters.length}
      </button>
    </form>
  )
}

/** Resends unless nobody has that name: whoever undoes it has the selection, or the page, back. */
function resendTo(ids: readonly string[], typed: string, onUndo: () => void): boolean {
  const to = parseRecipients(typed)
  const [problem] = reachOf(to, overview.data.value?.agents ?? []).unknown
  if (problem !== undefined) showToast(`Nobody is called ${line(problem)}.`, 'error')
  else resend(ids, to, onUndo)
  return problem === undefined
}

const NotFound = ({ isLoaded }: { isLoaded: boolean }) =>
  isLoaded ? <Empty title="No longer a dead letter" /> : <Loading />

function Reading({ letter }: { letter: DeadLetter }) {
  const { message, recipient, state, reason } = letter
  const [to, setTo] = useState('')
  const form = useRef<HTMLFormElement>(null)
  return (
    <>
      <header class="pane-head">
        <a class="button plain icon pane-back" href="/dead" aria-label="Back to list">
          <Icon name="back" />
        </a>
        <div class="pane-title">
          <h1>
            <bdi>{subjectOf(titleOf(message))}</bdi>
          </h1>
          <p class="quiet">
            {state === 'expired' ? 'Expired for' : 'Not delivered to'} <bdi>{line(recipient)}</bdi>:{' '}
            {line(reason)}
          </p>
        </div>
      </header>
      <div class="pane-scroll" tabIndex={0} role="region" aria-label="Message">
        <MessageCard
          message={message}
          receipts={[{ owner: recipient, box: recipient, state }]}
          ladder
          onReply={() => openCompose({ to: message.from, subject: `Re: ${titleOf(message)}` })}
        />
      </div>
      <footer class="pane-foot">
        <form
          class="composer-line resend"
          ref={form}
          onSubmit={(event) => {
            event.preventDefault()
            if (resendTo([message.id], to, () => go(hrefOf(letter)))) go('/dead')
          }}
        >
          <label for="resend-to">Resend to</label>
          <span class="name-cell">
            <AddressField
              id="resend-to"
              required
              placeholder="Agent, role or tag"
              value={to}
              onText={setTo}
              onEnter={() => form.current?.requestSubmit()}
            />
            <button type="submit" class="button main">
              <Icon name="send" /> Resend
            </button>
          </span>
        </form>
      </footer>
    </>
  )
}
