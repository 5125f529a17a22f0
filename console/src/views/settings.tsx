import type { ComponentChildren } from 'preact'
import type { Connections } from '../../../src/api/reading.ts'
import { describeEffect, type Route } from '../../../src/model/routes.ts'
import { quote } from '../lib/cli.ts'
import { line, plural } from '../lib/text.ts'
import { duration, fullTime } from '../lib/time.ts'
import { Command, Loading, Problem, When, Who } from '../parts/small.tsx'
import { setUndoMs, undoChoices, undoMs } from '../state/deferred.ts'
import { notifies, toggleNotify } from '../state/notify.ts'
import { overview } from '../state/overview.ts'
import { type Setting, useSettings } from '../state/settings.ts'
import { setTheme, theme } from '../state/theme.ts'
import { Page } from './page.tsx'
import './settings.css'
import { useState } from 'preact/hooks'

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
  const { data, error } = useSettings()
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
            <nav class="settings-nav" aria-label="On this page">
              {[...others, ...groups.map(({ name }) => name)].map((name) => (
                <a key={name} href={`#${anchorOf(name)}`}>
                  {name}
                </a>
              ))}
            </nav>
            <p class="quiet">
              You change settings on the command line; tokens, keys and routes have commands of their own. A
              running hub uses the new values after a restart.
            </p>
            {['mailbox config set KEY VALUE', 'mailbox doctor'].map((text) => (
              <Command key={text} text={text} />
            ))}
          </section>
          <Routes
            routes={(data.value.settings.find(({ key }) => key === 'routes')?.value ?? []) as Route[]}
          />
          <Tokens tokens={data.value.tokens} />
          <Bridges bridges={data.value.bridges} />
          <Part name="Audit" about="What was refused, changed, imported and repaired, and who came and went.">
            <p>
              <a href="/audit">Open the audit</a>
            </p>
          </Part>
          {groups.map(({ name }) => (
            <Group
              key={name}
              name={name}
              settings={data.value!.settings.filter(({ key }) => key !== 'routes' && groupOf(key) === name)}
            />
          ))}
        </>
      )}
    </Page>
  )
}

const others = ['Routes', 'Tokens', 'Bridges', 'Audit']
const anchorOf = (name: string): string => name.toLowerCase().replaceAll(' ', '-')

interface PartProps {
  name: string
  about?: string
  children: ComponentChildren
}

const Part = ({ name, about, children }: PartProps) => (
  <section class="section" id={anchorOf(name)}>
    <header>
      <h2>{name}</h2>
    </header>
    {about !== undefined && <p class="quiet">{about}</p>}
    {children}
  </section>
)

const Routes = ({ routes }: { routes: readonly Route[] }) => (
  <Part
    name="Routes"
    about="Rules that give mail other recipients, or another priority, when it is sent. The first one that fits decides."
  >
    {routes.length === 0 ? (
      <Command text="mailbox route add type:ci_failure --to role:ci" />
    ) : (
      <ol class="settings numbered">
        {routes.map((route) => (
          <li key={route.when}>
            <code>
              <bdi>{line(route.when)}</bdi>
            </code>
            <span>
              <bdi>{line(describeEffect(route))}</bdi>
            </span>
          </li>
        ))}
      </ol>
    )}
  </Part>
)

const Tokens = ({ tokens }: Pick<Connections, 'tokens'>) => (
  <Part
    name="Tokens"
    about="Agents in containers and on other machines sign in with a token. It is valid for one agent and its scopes; only its digest is stored."
  >
    {tokens.length === 0 ? (
      <Command text="mailbox token NAME" />
    ) : (
      <div class="table-room">
        <table class="table">
          <thead>
            <tr>
              <th>Agent</th>
              <th>Scopes</th>
              <th>Created</th>
              <th>Last used</th>
              <th>Expires</th>
              <th class="number">Refused</th>
            </tr>
          </thead>
          <tbody>
            {tokens.map(({ name, scopes, createdAt, lastUsedAt, expiresAt, refused }) => (
              <tr key={name}>
                <td>
                  <Who name={name} />
                </td>
                <td>{scopes.join(', ')}</td>
                <td>
                  <When at={createdAt} />
                </td>
                <td>{lastUsedAt === undefined ? 'never' : <When at={lastUsedAt} />}</td>
                <td>{expiresAt === undefined ? 'never' : fullTime(expiresAt)}</td>
                <td class="number">{refused}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    )}
  </Part>
)

type BridgeLine = Connections['bridges'][number]

function BridgeRow({ format, path, direction, isRunning, linked, problems, error, ...more }: BridgeLine) {
  const { inMs, outMs, lastProblem, process, where, silentForMs } = more
  const lag = [inMs !== undefined && `${inMs} ms in`, outMs !== undefined && `${outMs} ms out`].filter(
    Boolean,
  )
  return (
    <li>
      <div>
        <b>{line(format)}</b>{' '}
        <code>
          <bdi>{line(path)}</bdi>
        </code>
        <p class="quiet">
          {direction === 'both' ? 'Both ways' : `Only ${direction}`}, {plural(linked, 'message')} on both
          sides
          {problems > 0 && `, ${plural(problems, 'problem')}`}
          {lag.length > 0 && `, lag ${lag.join(', ')}`}
        </p>
        {where !== undefined && (
          <p class="quiet">
            In {line(where)}, process {process}
            {silentForMs !== undefined && `, silent for ${duration(silentForMs)}`}
          </p>
        )}
        {lastProblem !== undefined && <p class="quiet">Last problem: {line(lastProblem)}</p>}
      </div>
      <div>
        <span class={`chip ${isRunning ? 'good' : error === undefined ? '' : 'bad'}`}>
          {isRunning ? 'running' : 'not running'}
        </span>
        {error !== undefined && error !== 'not running' && <p class="quiet">{line(error)}</p>}
      </div>
    </li>
  )
}

const Bridges = ({ bridges }: Pick<Connections, 'bridges'>) => (
  <Part name="Bridges" about="Folders of other mailbox systems that are kept in sync with this space.">
    {bridges.length === 0 ? (
      <Command text="mailbox bridge FORMAT PATH" />
    ) : (
      <ul class="settings">
        {bridges.map((bridge) => (
          <BridgeRow key={bridge.id} {...bridge} />
        ))}
      </ul>
    )}
  </Part>
)

const Group = ({ name, settings }: { name: string; settings: readonly Setting[] }) => (
  <Part name={name}>
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
  </Part>
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
