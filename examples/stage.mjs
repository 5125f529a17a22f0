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
  const start = (name, behaviour = {}) => {
    const agent = startAgent(dir, name, { settings, ...behaviour })
    agents.push(agent)
    return agent
  }
  try {
    await story({ space, home, start })
  } finally {
    for (const agent of agents) agent.kill('SIGKILL')
    await Promise.all(agents.map(({ exit }) => exit))
    await space.close()
    rmSync(home, { recursive: true, force: true })
  }
}

/** Starts the mock agent as a process; `says` resolves with the next thing it says of that kind. */
function startAgent(dir, name, behaviour) {
  const child = spawn(process.execPath, [mockAgent, dir, name, JSON.stringify(behaviour)], {
    stdio: ['pipe', 'pipe', 'inherit'],
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
      exit.then(() => reject(new Error(`${name} ended without saying ${event} ${JSON.stringify(fields)}`)))
    })
  return { says, exit, kill: (signal) => child.kill(signal), stop: () => child.stdin.write('stop\n') }
}

/** The state of an agent in the roster. */
export const stateOf = async (space, name) =>
  (await space.agents()).find((agent) => agent.name === name)?.state
