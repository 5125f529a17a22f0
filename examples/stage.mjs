// What every example needs: a space that is gone afterwards, and agents that are processes of their own.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openSpace } from '../dist/mod.js'

const mockAgent = fileURLToPath(new URL('mock-agent.mjs', import.meta.url))

/** Plays a story in a space of its own. Whatever happens, its processes end and its files are removed. */
export async function play(story, settings = {}) {
  const home = mkdtempSync(join(tmpdir(), 'mailbox-example-'))
  const dir = join(home, 'space')
  const space = await openSpace({ dir, settings })
  const agents = []
  /** Starts a program as an agent of the story. */
  const run = (script, words) => {
    const agent = startAgent(script, words)
    agents.push(agent)
    return agent
  }
  const start = (name, behaviour = {}) =>
    run(mockAgent, [dir, name, JSON.stringify({ settings, ...behaviour })])
  try {
    await story({ space, dir, home, start, run })
  } finally {
    for (const agent of agents) agent.kill('SIGKILL')
    await Promise.all(agents.map(({ exit }) => exit))
    await space.close()
    rmSync(home, { recursive: true, force: true })
  }
}

/** Starts an agent as a process; `says` resolves with the next thing it says of that kind. */
function startAgent(script, words) {
  const child = spawn(process.execPath, [script, ...words], { stdio: ['pipe', 'pipe', 'inherit'] })
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
