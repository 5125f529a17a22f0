import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { brief } from '../../src/agent/briefing.ts'
import { recall } from '../../src/agent/recall.ts'
import { mailboxOperations } from '../../src/api/mailbox-operations.ts'
import type { Reading } from '../../src/api/reading.ts'
import { readings } from '../../src/api/readings.ts'
import { allVerbs } from '../../src/cli/verbs.ts'
import { newNonce } from '../../src/conversation/nonce.ts'
import { person } from '../../src/model/agent.ts'
import type { Mailbox } from '../../src/space/mailbox/api.ts'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { Survey } from '../../src/space/survey.ts'
import { script } from '../helpers/cli.ts'
import { connect } from '../helpers/mcp.ts'
import { removeTree } from '../helpers/remove-tree.ts'
import { inStorm } from '../helpers/storm.ts'
import { closed, marksIn, type SceneIds, tellScene } from './scene.ts'

/**
 * The same scene in a plain space and in an encrypted one, and everything that the person can read it by, each time with
 * nothing at hand but the files: whoever has read before has the keys already. Who has the keys reads the same words in
 * both. A reading, an operation or a verb that has no line here fails.
 */
interface Scene {
  dir: string
  ids: SceneIds
}
let scenes: [plain: Scene, encrypted: Scene]
let home: string

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'mailbox-test-'))
  const tell = async (name: string, encrypt: 'nothing' | 'space'): Promise<Scene> => {
    const dir = join(home, name)
    mkdirSync(dir, { mode: 0o700 })
    writeFileSync(join(dir, 'config.json'), JSON.stringify({ encrypt, durability: 'os' }))
    return { dir, ids: await tellScene(dir) }
  }
  scenes = [await tell('plain', 'nothing'), await tell('encrypted', 'space')]
})
afterAll(() => removeTree(home))

type Ask = (scene: Scene) => Promise<string>

/** Asks both, and expects the same words of both. */
async function compare(what: string, ask: Ask): Promise<string[]> {
  const [plain, encrypted] = [await ask(scenes[0]), await ask(scenes[1])]
  expect(encrypted, what).not.toMatch(closed)
  const marks = marksIn(plain)
  expect([what, ...marksIn(encrypted)]).toEqual([what, ...marks])
  return marks
}

/** Asks by a program of its own. */
const inLibrary =
  (ask: (space: DiskSpace, ids: SceneIds) => Promise<unknown>): Ask =>
  async ({ dir, ids }) => {
    await using space = await openDisk({ dir })
    return JSON.stringify(await ask(space, ids)) ?? ''
  }

const inMailbox = (name: string, ask: (mailbox: Mailbox, ids: SceneIds) => Promise<unknown>): Ask =>
  inLibrary(async (space, ids) => ask(await space.mailbox(name, { join: false }), ids))

async function all<T>(found: AsyncGenerator<T>): Promise<T[]> {
  const every: T[] = []
  for await (const one of found) every.push(one)
  return every
}

/** With which input a reading is asked, where it needs one. */
const asked: Record<string, (ids: SceneIds) => object> = {
  thread: ({ plan }) => ({ id: plan }),
  trace: ({ plan }) => ({ id: plan }),
  message: ({ secret }) => ({ id: secret }),
  search: () => ({ q: 'more', counts: 'true' }),
  replay: () => ({ at: 1_000 }),
}

describe('in an encrypted space, the person reads what they would read in a plain one,', () => {
  it('with every reading of the API', async () => {
    const quiet: string[] = []
    for (const [name, reading] of Object.entries<Reading>(readings)) {
      const marks = await compare(
        name,
        inLibrary(async (space, ids) => {
          const { core } = space
          const look = { space, core, survey: new Survey(core), caller: { agent: person }, readsAll: true }
          const connections = () => ({ tokens: [], bridges: [] })
          return reading.run({ ...look, version: '0', connections }, asked[name]?.(ids) ?? {})
        }),
      )
      if (marks.length === 0) quiet.push(name)
    }
    // What is about figures and names only. Whatever else finds no word of the scene was not asked right.
    expect(quiet.sort()).toEqual(
      [
        ...['agents', 'audit', 'auditEntries', 'overview', 'series', 'settings', 'space', 'stats'],
        ...['traffic', 'views'],
      ].sort(),
    )
  })

  it('with every operation of a mailbox that reads, and what hooks and programs ask of one', async () => {
    const inputs: Record<string, (ids: SceneIds) => object> = {
      thread: ({ text }) => ({ id: text }),
      show: ({ task }) => ({ id: task }),
      search: () => ({ query: 'more' }),
      template: () => ({ name: 'none' }),
    }
    const quiet: string[] = []
    for (const [name, operation] of Object.entries(mailboxOperations)) {
      if (!('reads' in operation)) continue
      const run = (mailbox: Mailbox, ids: SceneIds) =>
        operation.run(mailbox, (inputs[name]?.(ids) ?? {}) as never)
      if ((await compare(name, inMailbox('bob', run))).length === 0) quiet.push(name)
    }
    expect(quiet.sort()).toEqual(['agent', 'count', 'lead', 'template'])
    const rows: Record<string, Ask> = {
      entries: inLibrary((space) => all(space.entries(0))),
      'thread of all': inLibrary((space, { question }) => space.thread(question)),
      recall: inMailbox('lead', (mailbox) => recall(mailbox, { nonce: newNonce(), killedSince: 0 })),
      read: inMailbox('bob', (mailbox, { text }) => mailbox.read(text)),
      ack: inMailbox('bob', (mailbox, { text }) => mailbox.ack(text)),
      wait: inMailbox(person, (mailbox) => mailbox.wait({ timeoutMs: 60_000 })),
      check: inMailbox(person, (mailbox) => mailbox.check({ budgetTokens: 100_000 })),
      brief: inMailbox('bob', (mailbox) => brief(mailbox, 'start')),
      archive: inMailbox('bob', (mailbox, { text }) => mailbox.archive(text)),
    }
    for (const [name, ask] of Object.entries(rows))
      expect((await compare(name, ask)).length, name).toBeGreaterThan(0)
  })

  const looks: Record<string, (ids: SceneIds) => string[]> = {
    digest: () => ['--since', '2h'],
    log: () => [],
    show: ({ secret }) => [secret],
    thread: ({ plan }) => [plan],
    inbox: () => ['--all'],
    sent: () => [],
    scheduled: () => [],
    search: () => ['more'],
    dead: () => [],
    top: () => [],
    owed: () => ['--all'],
    export: () => ['--graph'],
    answer: ({ text }) => [text],
    read: ({ open }) => [open],
    check: () => ['--as', 'lead'],
    wait: () => ['--as', 'ada', '--timeout', '1s'],
  }
  /** Verbs that send, handle or look after something, or show names and figures only. */
  const others = [
    ...['init', 'uninit', 'doctor', 'config', 'trust', 'login', 'logout', 'prompt', 'demo', 'completion'],
    ...['complete', 'join', 'leave', 'agents', 'whoami', 'update', 'send', 'reply', 'forward', 'broadcast'],
    ...['handoff', 'escalate', 'route', 'withdraw', 'count', 'ack', 'claim', 'start', 'done', 'fail'],
    ...['release', 'archive', 'retry', 'plan', 'shutdown', 'status', 'help-request', 'task', 'ci-failure'],
    ...['review', 'serve', 'open', 'token', 'key', 'hook', 'bridge', 'tmux', 'verify', 'audit', 'repair'],
    ...['rebuild', 'move', 'stats', 'archive-old', 'import'],
    // Are asked elsewhere: here in the library, and in MCP's own words below.
    ...['watch', 'mcp'],
  ]
  it('with every verb there is', async () => {
    const verbs = (await allVerbs()).map(({ name }) => name)
    expect(verbs.sort()).toEqual([...Object.keys(looks), ...others].sort())
  })

  // In `npm test` those that read the journal from end to end, each in its way.
  it.each(inStorm(Object.keys(looks), ['digest', 'log']))('with the verb %s', async (verb) => {
    const run = promisify(execFile)
    for (const more of [['--json'], []]) {
      const marks = await compare(`${verb} ${more}`, async ({ dir, ids }) => {
        const words = [script, '--space', dir, verb, ...looks[verb]!(ids), ...more]
        const { PATH, XDG_CONFIG_HOME, NODE_COMPILE_CACHE } = process.env
        const env = { PATH, XDG_CONFIG_HOME, NODE_COMPILE_CACHE, HOME: home, MAILBOX_DESK: 'off' }
        return (await run(process.execPath, words, { env, cwd: home })).stdout
      })
      if (!takes.has(verb) || more.length > 0) expect(marks.length, verb).toBeGreaterThan(0)
    }
  })
  /** What these have shown they do not show again. */
  const takes = new Set(['check', 'wait'])

  it('with the tools and the resources of MCP', async () => {
    await compare('MCP', async ({ dir, ids }) => {
      const { client, call } = await connect(dir, 'lead')
      const answers = [await call('search', { query: 'more' }), await call('check', { full: true })]
      const uri = `mailbox://thread/${ids.plan}`
      return JSON.stringify([...answers, await client.readResource({ uri })])
    })
  })
})
