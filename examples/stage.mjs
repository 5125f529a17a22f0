// What every example needs: a space that is gone afterwards, and agents that are processes of their own. With
// EXAMPLES_OVER=hub they reach the space through a hub, each with its own token.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openSpace } from '../dist/mod.js'

const mailbox = fileURLToPath(new URL('../dist/cli.cjs', import.meta.url))
const mockAgent = fileURLToPath(new URL('mock-agent.mjs', import.meta.url))

/** Plays a story in a space of its own. Whatever happens, its processes end and its files are removed. */
export async function play(story, settings = {}) {
  const home = mkdtempSync(join(tmpdir(), 'mailbox-example-'))
  const dir = join(home, 'space')
  const hub = process.env.EXAMPLES_OVER === 'hub' ? await serve(dir, settings) : undefined
  const space = await openSpace({ dir, settings })
  const agents = []
  /** Starts a program as an agent of the story: with where the space is, its name, and more words. */
  const run = (script, name, ...words) => {
    const agent = startAgent(script, [hub?.url ?? dir, name, ...words], hub?.tokenFor(name))
    agents.push(agent)
    return agent
  }
  const start = (name, behaviour = {}) => run(mockAgent, name, JSON.stringify({ settings, ...behaviour }))
  try {
    await story({ space, home, start, run })
  } finally {
    hub?.stop()
    for (const agent of agents) agent.kill('SIGKILL')
    await Promise.all(agents.map(({ exit }) => exit))
    await space.close()
    rmSync(home, { recursive: true, force: true })
  }
}

/** Opens the space of a story, wherever an agent finds it. */
export function openAt(place, settings) {
  const isHub = place.startsWith('http://')
  return openSpace(isHub ? { url: place, token: process.env.MAILBOX_TOKEN } : { dir: place, settings })
}

/** Serves a space with these settings. Resolves when the hub can be reached. */
async function serve(dir, settings) {
  mkdirSync(dir, { mode: 0o700 })
  writeFileSync(join(dir, 'config.json'), JSON.stringify(settings))
  const words = [mailbox, '--space', dir, '--json']
  const child = spawn(process.execPath, [...words, 'serve', '--port', '0'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const tokens = new Map()
  // A second token for an agent would end the first.
  const tokenFor = (name) => {
    const create = () => execFileSync(process.execPath, [...words, 'token', name], { encoding: 'utf8' })
    if (!tokens.has(name)) tokens.set(name, JSON.parse(create()).token)
    return tokens.get(name)
  }
  return { url: JSON.parse(line).url, tokenFor, stop: () => child.kill('SIGKILL') }
}

/** Starts an agent as a process; `says` resolves with the next thing it says of that kind. */
function startAgent(script, words, token) {
  const child = spawn(process.execPath, [script, ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: token === undefined ? process.env : { ...process.env, MAILBOX_TOKEN: token },
  })
  const said = []
  const waiting = new Set()
  const exit = new Promise((resolve) => child.once('close', resolve))
  createInterface({ input: child.stdout }).on('line', (line) => {
    said.push(JSON.parse(line))
    for (const look of [...waiting]) look()
  })
  const says = (event, fields = {}) =>
    new Promise((resolve, reject) => {
      const isMeant = (one) =>
        one.event === event && Object.entries(fields).every(([key, value]) => one[key] === value)
      const look = () => {
        const at = said.findIndex(isMeant)
        if (at < 0) return
        waiting.delete(look)
        resolve(said.splice(at, 1)[0])
      }
      waiting.add(look)
      look()
      exit.then(() => reject(new Error(`it ended without saying ${event}: ${words.slice(0, 2).join(' ')}`)))
    })
  return { says, exit, kill: (signal) => child.kill(signal), stop: () => child.stdin.write('stop\n') }
}

/** The state of an agent in the roster. */
export const stateOf = async (space, name) =>
  (await space.agents()).find((agent) => agent.name === name)?.state
