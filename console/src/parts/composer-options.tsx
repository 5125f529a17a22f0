import { useId, useState } from 'preact/hooks'
import { knownTypes, typeOf } from '../../../src/conversation/registry.ts'
import { boxOfTag } from '../../../src/model/address.ts'
import type { Priority } from '../data/types.ts'
import { completeLast } from '../lib/completion.ts'
import { type Draft, localTime } from '../lib/drafts.ts'
import { snoozeChoices } from '../lib/snooze.ts'
import { templates } from '../lib/templates.ts'
import { typeName } from '../lib/text.ts'
import { overview } from '../state/overview.ts'
import { CompletedField } from './completed-field.tsx'

const templated = new Set(templates.map(({ action }) => action.type))
const types = knownTypes.filter((type) => typeOf(type)?.isComposed && !templated.has(type))
const priorities: Priority[] = ['low', 'normal', 'high', 'urgent']
const hourMs = 3_600_000
const lives = {
  '': 'Default for its recipients',
  '1h': '1 hour',
  '4h': '4 hours',
  '24h': '24 hours',
  '7d': '7 days',
  never: 'Never',
}

export interface ComposerOptionsProps {
  draft: Draft
  change: (part: Partial<Draft>) => void
  hasType: boolean
}

/** What goes beside the text of a message. */
export function ComposerOptions({ draft, change, hasType }: ComposerOptionsProps) {
  const id = useId()
  const [isMore] = useState(
    [draft.tags, draft.attachments, draft.life, draft.sendAt].some((text) => text !== ''),
  )
  return (
    <>
      <div class="composer-options">
        {hasType && (
          <label>
            Type
            <select
              class="field"
              value={draft.type}
              onChange={(event) => change({ type: event.currentTarget.value })}
            >
              {types.map((type) => (
                <option key={type} value={type}>
                  {typeName(type)}
                </option>
              ))}
            </select>
          </label>
        )}
        <label>
          Priority
          <select
            class="field"
            value={draft.priority}
            onChange={(event) => change({ priority: event.currentTarget.value as Priority })}
          >
            {priorities.map((priority) => (
              <option key={priority}>{priority}</option>
            ))}
          </select>
        </label>
        <label>
          <input
            type="checkbox"
            checked={draft.requiresAck}
            onChange={(event) => change({ requiresAck: event.currentTarget.checked })}
          />
          Request acknowledgement
        </label>
        <label>
          <input
            type="checkbox"
            checked={draft.awaitingResponse}
            onChange={(event) => change({ awaitingResponse: event.currentTarget.checked })}
          />
          Expect a reply
        </label>
      </div>
      <details class="composer-more" open={isMore}>
        <summary>Tags, attachments, schedule, expiry</summary>
        <div class="composer-line">
          <label for={`${id}tags`}>Tags</label>
          <CompletedField
            id={`${id}tags`}
            placeholder="handoff, concern:security"
            value={draft.tags}
            complete={(typed) => completeLast(typed, knownTags())}
            onText={(tags) => change({ tags })}
          />
        </div>
        <div class="composer-line">
          <label for={`${id}files`}>Attachments</label>
          <textarea
            id={`${id}files`}
            class="field mono"
            rows={1}
            placeholder="Paths of files on the machine of the hub, one per line"
            value={draft.attachments}
            onInput={(event) => change({ attachments: event.currentTarget.value })}
          />
        </div>
        <SendAt draft={draft} change={change} />
        <div class="composer-line">
          <label for={`${id}life`}>Expires</label>
          <select
            id={`${id}life`}
            class="field"
            value={draft.life}
            onChange={(event) => change({ life: event.currentTarget.value })}
          >
            {Object.entries(lives).map(([life, name]) => (
              <option key={life} value={life}>
                {life === '' || life === 'never' ? name : `Unread after ${name}`}
              </option>
            ))}
          </select>
        </div>
      </details>
    </>
  )
}

const another = 'another'

/** When the message is sent: now, at a time that people often want, or at another. */
function SendAt({ draft: { sendAt }, change }: Pick<ComposerOptionsProps, 'draft' | 'change'>) {
  const id = useId()
  // The same choices for as long as one looks at them.
  const [choices] = useState(() =>
    snoozeChoices(new Date()).map(({ name, at }) => ({ name, time: localTime(at) })),
  )
  const isKnown = sendAt === '' || choices.some(({ time }) => time === sendAt)
  const [isOther, setOther] = useState(!isKnown)
  return (
    <div class="composer-line">
      <label for={`${id}at`}>Send</label>
      <div class="composer-at">
        <select
          id={`${id}at`}
          class="field"
          value={isOther ? another : sendAt}
          onChange={({ currentTarget: { value } }) => {
            setOther(value === another)
            change({ sendAt: value === another ? sendAt || localTime(Date.now() + hourMs) : value })
          }}
        >
          <option value="">Now</option>
          {choices.map(({ name, time }) => (
            <option key={time} value={time}>
              {name}
            </option>
          ))}
          <option value={another}>At another time</option>
        </select>
        {isOther && (
          <input
            class="field"
            type="datetime-local"
            aria-label="Date and time"
            required
            min={localTime(Date.now())}
            value={sendAt}
            onInput={(event) => change({ sendAt: event.currentTarget.value })}
          />
        )}
      </div>
    </div>
  )
}

function knownTags() {
  const { agents = [], channels = [] } = overview.data.peek() ?? {}
  const tags = new Set([
    ...channels.map(({ tag }) => tag),
    ...agents.flatMap((agent) => agent.tags.map(boxOfTag)),
  ])
  return [...tags].sort().map((tag) => ({ word: tag.replace(/^tag:/, '') }))
}
