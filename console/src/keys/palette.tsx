import './overlays.css'
import { useMemo, useState } from 'preact/hooks'
import { channelName } from '../lib/address.ts'
import { go } from '../lib/go.ts'
import { path } from '../lib/route.ts'
import { line } from '../lib/text.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Icon, type IconName } from '../parts/icon.tsx'
import { openCompose } from '../state/compose.ts'
import { overview } from '../state/overview.ts'
import { setTheme } from '../state/theme.ts'
import { keys, show } from './keyboard.ts'

interface Choice {
  name: string
  icon: IconName
  hint?: string
  key?: string
  run: () => void
}

const mostShown = 50

/** The command menu: actions, agents and channels by name. */
export function Palette() {
  const [typed, setTyped] = useState('')
  const [at, setAt] = useState(0)
  const all = useMemo(choices, [overview.data.value])
  const found = useMemo(() => matching(all, typed), [all, typed])
  const pick = (choice: Choice | undefined) => {
    show(null)
    choice?.run()
  }
  const move = (step: number) => setAt((at + step + found.length) % Math.max(1, found.length))
  return (
    <Dialog title="Command menu" bare onClose={() => show(null)}>
      <div class="palette">
        <input
          autofocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-list"
          aria-activedescendant={found.length === 0 ? undefined : `choice-${at}`}
          aria-label="Command"
          placeholder="Type a command or search…"
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value)
            setAt(0)
          }}
          onKeyDown={(event) => {
            if (event.key === 'ArrowDown') move(1)
            else if (event.key === 'ArrowUp') move(-1)
            else if (event.key === 'Enter') pick(found[at])
            else return
            event.preventDefault()
          }}
        />
        <ul id="palette-list" role="listbox" aria-label="Commands">
          {found.map((choice, n) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field above handles the keys
            <li
              key={`${choice.name} ${choice.hint}`}
              id={`choice-${n}`}
              role="option"
              aria-selected={n === at}
              tabIndex={-1}
              ref={n === at ? (item) => item?.scrollIntoView({ block: 'nearest' }) : null}
              onClick={() => pick(choice)}
            >
              <Icon name={choice.icon} />
              <bdi class="cut">{choice.name}</bdi>
              {choice.key ? <kbd>{choice.key}</kbd> : <span class="quiet">{choice.hint}</span>}
            </li>
          ))}
        </ul>
      </div>
    </Dialog>
  )
}

function choices(): Choice[] {
  const { agents = [], channels = [] } = overview.data.peek() ?? {}
  return [
    ...keys
      .filter(({ keys: pressed, isThere }) => !'jku'.includes(pressed) && isThere?.() !== false)
      .map(({ does, keys: key, icon = 'play', run }) => ({ name: does, icon, key, run })),
    ...agents.map(({ name, state }) => ({
      name: line(name),
      icon: 'people' as const,
      hint: state,
      run: () => go(path('agents', name)),
    })),
    ...channels.map(({ tag }) => ({
      name: `#${line(channelName(tag).name)}`,
      icon: 'threads' as const,
      hint: line(tag),
      run: () => go(path('channels', tag)),
    })),
    ...agents
      .filter(({ name, state }) => name !== 'user' && state !== 'dead')
      .map(({ name }) => ({
        name: `Message ${line(name)}`,
        icon: 'pen' as const,
        run: () => openCompose({ to: name }),
      })),
    { name: 'Use light theme', icon: 'sun', run: () => setTheme('light') },
    { name: 'Use dark theme', icon: 'moon', run: () => setTheme('dark') },
    { name: 'Use system theme', icon: 'sun', run: () => setTheme('system') },
  ]
}

/** Matches all words. Names that start with the first word come first. */
function matching(all: readonly Choice[], typed: string): Choice[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const search: Choice = {
    name: `Search for “${typed.trim()}”`,
    icon: 'search',
    run: () => go(`/search?q=${encodeURIComponent(typed.trim())}`),
  }
  const found = all.filter(({ name, hint = '' }) =>
    words.every((word) => `${name} ${hint}`.toLowerCase().includes(word)),
  )
  const first = words[0] ?? ''
  const rank = ({ name }: Choice) => (name.toLowerCase().replace(/^#/, '').startsWith(first) ? 0 : 1)
  const sorted = words.length === 0 ? found : found.toSorted((a, b) => rank(a) - rank(b))
  return [...sorted.slice(0, mostShown), ...(words.length === 0 ? [] : [search])]
}
