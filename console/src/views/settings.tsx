import { get } from '../data/api.ts'
import { useResource } from '../data/resource.ts'
import { quote } from '../lib/cli.ts'
import { line } from '../lib/text.ts'
import { duration } from '../lib/time.ts'
import { Command, Loading, Problem } from '../parts/small.tsx'
import { setUndoMs, undoChoices, undoMs } from '../state/deferred.ts'
import { notifies, toggleNotify } from '../state/notify.ts'
import { overview } from '../state/overview.ts'
import { setTheme, theme } from '../state/theme.ts'
import { Page } from './page.tsx'
import './settings.css'
import { useState } from 'preact/hooks'

interface Setting {
  key: string
  about: string
  value: unknown
  default: unknown
}

/** The part of a name before its last word says which group it belongs to. */
const groups: readonly { name: string; has: (key: string) => boolean }[] = [
  { name: 'Who may do what', has: (key) => /^(?:rules|require|leads|roles\.|routes)/.test(key) },
  { name: 'Limits', has: (key) => key.startsWith('limits.') },
  {
    name: 'Times',
    has: (key) => key.endsWith('Ms') || key === 'hours' || /^(?:ackRepeats|maxAttempts)$/.test(key),
  },
  { name: 'Storage', has: (key) => /^(?:durability|segmentBytes|retention\.|journal\.)/.test(key) },
  { name: 'Other', has: () => true },
]
const groupOf = (key: string): string => groups.find(({ has }) => has(key))!.name

function shown(key: string, value: unknown): string {
  if (key.endsWith('Ms') && typeof value === 'number') return value === 0 ? 'never' : duration(value)
  if (value === '' || (Array.isArray(value) && value.length === 0)) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** The person's own settings, and those of the space with what each does. */
export function SettingsPage() {
  const { data, error } = useResource('settings', () => ({
    load: (_: unknown, signal: AbortSignal) =>
      get<{ dir: string; settings: Setting[] }>('/api/settings', {}, signal),
  }))
  return (
    <Page title="Settings">
      <Yours />
      {error.value !== null && data.value === undefined && <Problem error={error.value} />}
      {data.value === undefined ? (
        error.value === null && <Loading />
      ) : (
        <>
          <section class="section">
            <header>
              <h2>This space</h2>
            </header>
            <dl class="facts">
              <dt>Name</dt>
              <dd>
                <bdi>{line(overview.data.value?.space.name ?? '')}</bdi>
              </dd>
              <dt>Directory</dt>
              <dd class="mono">
                <bdi>{line(data.value.dir)}</bdi>
              </dd>
            </dl>
            <p class="quiet">
              Settings are changed on the command line, and tokens, keys and routes have commands of their
              own. What was changed and by whom is in the <a href="/audit">audit</a>. A hub that is running
              uses a new value once it is started again.
            </p>
            {[
              'mailbox config set KEY VALUE',
              'mailbox route list',
              'mailbox token NAME',
              'mailbox doctor',
            ].map((text) => (
              <Command key={text} text={text} />
            ))}
          </section>
          {groups.map(({ name }) => (
            <Group
              key={name}
              name={name}
              settings={data.value!.settings.filter(({ key }) => groupOf(key) === name)}
            />
          ))}
        </>
      )}
    </Page>
  )
}

const Group = ({ name, settings }: { name: string; settings: readonly Setting[] }) => (
  <section class="section">
    <header>
      <h2>{name}</h2>
    </header>
    <ul class="settings">
      {settings.map(({ key, about, value, default: usual }) => (
        <li key={key}>
          <div>
            <code>{key}</code>
            <p class="quiet">{about.charAt(0).toUpperCase() + about.slice(1)}</p>
          </div>
          <div>
            <b class={same(value, usual) ? '' : 'changed'}>
              <bdi>{line(shown(key, value))}</bdi>
            </b>
            {!same(value, usual) && (
              <p class="quiet">
                default: {line(shown(key, usual))}
                <br />
                <code>
                  mailbox config set {key} {quote(typeof usual === 'string' ? usual : JSON.stringify(usual))}
                </code>
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  </section>
)

/** What holds in this browser only. */
function Yours() {
  const [ms, setMs] = useState(undoMs)
  return (
    <section class="section">
      <header>
        <h2>Your console</h2>
        <span class="quiet">In this browser</span>
      </header>
      <div class="yours">
        <label>
          Theme
          <select
            class="field"
            value={theme.value}
            onChange={(event) => setTheme(event.currentTarget.value as 'system' | 'light' | 'dark')}
          >
            <option value="system">Same as the system</option>
            <option value="light">Light</option>
            <option value="dark">Dark</option>
          </select>
        </label>
        <label>
          Time to undo a decision
          <select
            class="field"
            value={ms}
            onChange={(event) => {
              const next = Number(event.currentTarget.value)
              setUndoMs(next)
              setMs(next)
            }}
          >
            {undoChoices.map((choice) => (
              <option key={choice} value={choice}>
                {choice === 0 ? 'None: send at once' : duration(choice).replace('.0', '')}
              </option>
            ))}
          </select>
        </label>
        <label class="check">
          <input type="checkbox" checked={notifies.value} onChange={() => void toggleNotify()} />
          Desktop notifications for what needs you
        </label>
      </div>
    </section>
  )
}
