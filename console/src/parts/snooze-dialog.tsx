import './snooze-dialog.css'
import { titleOf } from '../../../src/conversation/words.ts'
import { snoozeChoices } from '../lib/snooze.ts'
import { plural, subjectOf } from '../lib/text.ts'
import { fullTime } from '../lib/time.ts'
import { snoozing } from '../state/decisions.ts'
import { Dialog } from './dialog.tsx'

const close = () => {
  snoozing.value = null
}

/** Asks until when to snooze. Each choice has a number. */
export function SnoozeDialog() {
  const asked = snoozing.value
  if (asked === null) return null
  const choices = snoozeChoices(new Date())
  const what =
    asked.messages.length === 1
      ? subjectOf(titleOf(asked.messages[0]!))
      : plural(asked.messages.length, 'message')
  return (
    <Dialog title="Snooze until" onClose={close}>
      <p class="quiet cut">
        <bdi>{what}</bdi>
      </p>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons can be reached without these keys */}
      <div
        class="snooze"
        onKeyDown={({ key }) => {
          const choice = choices[Number(key) - 1]
          if (choice !== undefined) asked.pick(choice.at)
        }}
      >
        {choices.map(({ name, at }, n) => (
          <button key={name} type="button" class="button" autofocus={n === 0} onClick={() => asked.pick(at)}>
            <kbd>{n + 1}</kbd> {name}
            <span class="quiet number">{fullTime(new Date(at).toISOString()).replace(/:\d\d$/, '')}</span>
          </button>
        ))}
      </div>
    </Dialog>
  )
}
