import { mkdirSync, writeFileSync } from 'node:fs'
import { expect, onTestFinished } from 'vitest'
import type { Entry, LadderStep, LocalSpace, Mailbox, Settings, ShownMessage } from '../../src/mod.ts'
import { openDisk } from '../../src/space/open.ts'
import { type Box, createBox } from '../helpers/cli.ts'
import { type Running, type StartOptions, startScript } from '../helpers/processes.ts'
import { type Clock, clockAt } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'

export const second = 1_000

/** A space whose time a test moves by hand. */
interface Scene {
  space: LocalSpace
  clock: Clock
  /** Lets time pass, and then does what has become due, as whoever comes next would. */
  pass(ms: number): Promise<void>
}

export async function scene(settings: Partial<Settings> = {}): Promise<Scene> {
  const clock = clockAt()
  const space = await tempSpace({ now: clock.now, settings })
  const pass = async (ms: number) => {
    clock.advance(ms)
    await space.runDue()
    // What is done is done: whoever comes after finds nothing left.
    expect(await space.runDue()).toBe(0)
  }
  onTestFinished(async () => expect((await space.verify({ deep: true })).problems).toEqual([]))
  return { space, clock, pass }
}

/** An agent that joined by hand: no process stands for it. */
export async function byHand(space: LocalSpace, name: string, ...roles: string[]): Promise<Mailbox> {
  await space.join(name, { roles })
  return space.mailbox(name, { join: false })
}

/** The command line in a space with settings of its own, and agents who have joined: `ada --role lead --tag team:x`. */
export async function boxWith(settings: Partial<Settings>, ...agents: string[]): Promise<Box> {
  const box = await createBox()
  mkdirSync(box.dir, { recursive: true, mode: 0o700 })
  writeFileSync(`${box.dir}/config.json`, JSON.stringify({ durability: 'os', ...settings }))
  // In this process: a test pays for every process it starts.
  if (agents.length > 0) {
    await using space = await openDisk({ dir: box.dir })
    for (const agent of agents) {
      const [name = '', ...flags] = agent.split(' ')
      const given = (flag: string) => flags.filter((_, at) => flags[at - 1] === flag)
      await space.join(name, { roles: given('--role'), tags: given('--tag') })
    }
  }
  return box
}

export const rungs = (steps: readonly LadderStep[]): string[] => steps.map(({ state }) => state)

/** The one recipient of a message, with its ladder. */
export function only({ receipts }: ShownMessage): ShownMessage['receipts'][number] {
  if (receipts.length !== 1) throw new Error(`it has ${receipts.length} recipients`)
  return receipts[0]!
}

export const ladderOf = async (space: LocalSpace, id: string): Promise<string[]> =>
  rungs(only(await space.show(id)).steps)

export const stateOf = async (space: LocalSpace, id: string): Promise<string> =>
  only(await space.show(id)).state

export async function agentNamed(space: LocalSpace, name: string) {
  const found = (await space.agents()).find((agent) => agent.name === name)
  if (found === undefined) throw new Error(`there is no ${name}`)
  return found
}

/** Everything in the journal, in order. */
export async function journalOf(space: LocalSpace): Promise<Entry[]> {
  const end = await space.lastSeq()
  const entries: Entry[] = []
  for await (const { entry } of space.follow()) {
    entries.push(entry)
    if (entry.seq >= end) break
  }
  return entries
}

/** What the system has told an agent, newest first. */
export async function noticesTo(space: LocalSpace, name: string) {
  const entries = await journalOf(space)
  return entries.flatMap((entry) =>
    entry.kind === 'message' && entry.message.from === 'system' && entry.message.to.includes(name)
      ? entry.message
      : [],
  )
}

interface Outcome {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the method of the library gives
  value?: any
  error?: { code: string; message: string; hint?: string }
}

/** An agent with a process of its own, which does as it is told. */
interface AgentProcess {
  readonly pid: number
  readonly generation: number
  readonly running: Running
  /** Calls a method of its mailbox there. */
  does(method: string, ...args: unknown[]): Promise<Outcome>
  /** kill -9, and the end of it. */
  kill(): Promise<void>
}

interface AgentProcessOptions extends StartOptions {
  settings?: Partial<Settings>
  roles?: string[]
}

const script = new URL('agent.mjs', import.meta.url)

export async function startAgent(
  dir: string,
  name: string,
  options: AgentProcessOptions = {},
): Promise<AgentProcess> {
  const { settings = {}, roles, ...start } = options
  const setup = { settings, join: roles === undefined ? {} : { roles } }
  const running = startScript(script, [dir, name, JSON.stringify(setup)], start)
  const ready = await running.line(/^ready /)
  let asked = 0
  return {
    pid: running.process.pid!,
    generation: Number(ready.split(' ')[1]),
    running,
    async does(method, ...args) {
      const number = ++asked
      running.tell(JSON.stringify({ number, method, args }))
      const line = await running.line(new RegExp(`^did ${number} `))
      return JSON.parse(line.replace(/^did \d+ /, '')) as Outcome
    },
    async kill() {
      running.kill('SIGKILL')
      await running.exit
    },
  }
}

/** A process that only is there. */
export async function startSleeper(): Promise<Running> {
  const running = startScript(new URL('sleeper.mjs', import.meta.url), [])
  await running.line('here')
  return running
}
