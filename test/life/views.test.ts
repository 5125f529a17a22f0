import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { Box } from '../helpers/cli.ts'
import { clockAt } from '../helpers/scene.ts'
import { tempSpace } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'
import { boxWith, byHand, scene } from './stage.ts'

const columns = 80

/** What a terminal would obey: every control but newline, and the marks that reorder or hide text. */
const dangerous =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/

const hostile = [
  '\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b[2J\x1b[1;1H',
  'bidi \u202e\u2066 zero width \u200b\u200d\r carriage\b\x7f\x9b',
  'tab\tand 漢字 and 🦊',
].join('\n')

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u
const widthOf = (line: string) => [...line].reduce((sum, char) => sum + (wide.test(char) ? 2 : 1), 0)

const linesOf = (text: string) => text.trimEnd().split('\n')
const tooWide = (text: string) => linesOf(text).filter((line) => widthOf(line) > columns)

/** Where the words of a head begin, in columns. */
function startsOf(head: string): number[] {
  return [...head.matchAll(/(?<=^|\s{2})\S/g)].map(({ index }) => widthOf(head.slice(0, index)))
}

/** Expects that every row has a gap between two columns of the head: behind a word, or in front of the next. */
function expectAligned(text: string, isRow: (line: string) => boolean = () => true): void {
  const [head = '', ...lines] = linesOf(text)
  for (const line of lines.filter(isRow)) {
    // One character for each column of the terminal.
    const cells = [...line].flatMap((char) => (wide.test(char) ? [char, ' '] : [char]))
    const isGap = (at: number) => (cells[at] ?? ' ') === ' ' && (cells[at + 1] ?? ' ') === ' '
    for (const start of startsOf(head).slice(1)) {
      const behind = head.slice(0, start).trimEnd().length
      expect(isGap(start - 2) || isGap(behind), `${head}\n${line}`).toBe(true)
    }
  }
}

/** A space in which everything has happened that these views show, to people with awkward names. */
async function busyBox(text = 'Please look at the plan'): Promise<{ box: Box; id: string }> {
  const box = await boxWith(
    {},
    'ada --role lead --role architect --tag project:inscription',
    'bob --role worker',
  )
  const space = await tempSpace({ dir: box.dir })
  const names = ['名前がとても長いエージェント', `team/${'very-'.repeat(8)}long`, `it's "quoted" & <b>`]
  const ada = await space.mailbox('ada', { join: false })
  const bob = await space.mailbox('bob', { join: false })
  for (const name of names) {
    await byHand(space, name, 'reviewer', 'tester')
    await space.update(name, { note: 'a note \u202e that is rather long and says little '.repeat(3) })
    await ada.send({ to: name, subject: text })
  }
  const { id } = await ada.send({ to: ['bob', 'role:worker', ...names], subject: text, requiresAck: true })
  await bob.check()
  await bob.ack(id, { note: text })
  await bob.done(id, { note: text })
  await ada.send({ to: 'role:worker', subject: text })
  await space.leave(names[0]!)
  await space.leave(names[1]!)
  return { box, id }
}

const views = (id: string) => ({
  agents: ['agents'],
  dead: ['dead'],
  stats: ['stats'],
  show: ['show', id],
})

describe('on a terminal of 80 columns', () => {
  for (const view of ['agents', 'dead', 'show'] as const) {
    it(`no line of \`mailbox ${view}\` is longer`, async () => {
      const { box, id } = await busyBox()
      expect(tooWide(await box.ok(...views(id)[view]))).toEqual([])
    })
  }

  it('nor are those of `mailbox stats` when everything takes its time', async () => {
    const box = await boxWith({})
    const clock = clockAt(new Date().toISOString())
    const space = await tempSpace({ dir: box.dir, now: clock.now })
    const ada = await byHand(space, 'ada')
    const bob = await byHand(space, 'reviewer-1')
    for (const ms of [120, 250, 450]) {
      const { id } = await ada.send({ to: 'reviewer-1' })
      clock.advance(ms)
      await bob.check()
      clock.advance(ms)
      await bob.done(id)
    }
    await ada.send({ to: 'reviewer-1' })
    expect(tooWide(await box.ok('stats'))).toEqual([])
  })

  it('long subjects, notes and reasons are cut or go on below, and no line of any view is longer', async () => {
    const { box, id } = await busyBox(
      'Look at the storage layer before Friday, it has grown a lot. '.repeat(3),
    )
    for (const words of [views(id).agents, views(id).dead, views(id).show])
      expect.soft(tooWide(await box.ok(...words)), words.join(' ')).toEqual([])
  })

  it('agents, dead letters and figures stand in columns', async () => {
    const { box, id } = await busyBox()
    expectAligned(await box.ok(...views(id).agents))
    expectAligned(await box.ok(...views(id).dead), (line) => !line.startsWith('  '))
    const [table = ''] = (await box.ok(...views(id).stats)).split('\n\n')
    expectAligned(table)
  })

  it('a real one, with colours', async () => {
    needTool('script')
    const { box, id } = await busyBox()
    const cli = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))
    for (const words of [views(id).agents, views(id).dead]) {
      const line = `stty cols ${columns} rows 40; ${process.execPath} ${cli} ${words.join(' ')} 2>/dev/null`
      const { stdout } = spawnSync('script', ['-qec', line, '/dev/null'], {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: box.dir, MAILBOX_SPACE: box.dir, TERM: 'xterm-256color' },
      })
      expect(stdout).toContain('\x1b[')
      expect(tooWide(stripVTControlCharacters(stdout).replaceAll('\r', ''))).toEqual([])
    }
  })
})

describe('hostile names and subjects', () => {
  it('are harmless in every view', async () => {
    const { box, id } = await busyBox(hostile)
    for (const words of [...Object.values(views(id)), ['check', '--as', 'ada']]) {
      const { code, stdout, stderr } = await box.run(words)
      expect(code, stderr).toBe(0)
      expect(stdout, words.join(' ')).not.toMatch(dangerous)
      expect(stderr, words.join(' ')).not.toMatch(dangerous)
    }
  })

  it('cannot make a second line in a table that looks like another row', async () => {
    const box = await boxWith({}, 'ada', 'bob')
    await box.ok('send', 'bob', '--as', 'ada', '--subject', 'one\nada   bob  forged  dead  now')
    await box.ok('leave', 'bob')
    const lines = linesOf(await box.ok('dead'))
    expect(lines).toHaveLength(4)
  })
})

describe('--json', () => {
  it('agents: { agents: [...] }, with the whole run of each', async () => {
    const { box } = await busyBox()
    const answer = await box.json('agents')
    expect(Object.keys(answer)).toEqual(['agents'])
    expect(answer.agents.find(({ name }) => name === 'ada')).toEqual({
      name: 'ada',
      state: 'alive',
      roles: ['lead', 'architect'],
      tags: ['project:inscription'],
      session: { generation: 1, startedAt: expect.any(String) },
      lastSeenAt: expect.any(String),
    })
  })

  it('dead: { messages: [...], waiting: [...], next }, each with recipient, state, reason and time', async () => {
    const { box } = await busyBox()
    const answer = await box.json('dead', '--limit', '2')
    expect(Object.keys(answer)).toEqual(['messages', 'waiting', 'next'])
    expect(answer.messages).toHaveLength(2)
    expect(answer.next).toEqual(expect.any(String))
    for (const message of answer.messages) {
      expect(message).toMatchObject({
        from: 'ada',
        recipient: expect.any(String),
        state: 'dead',
        reason: expect.stringContaining('has left'),
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      })
    }
  })

  it('stats: an object of figures', async () => {
    const { box } = await busyBox()
    const stats = JSON.parse(await box.ok('stats', '--json'))
    const latency = { p50: null, p95: null, p99: null }
    expect(Object.keys(stats).toSorted()).toEqual(['agents', 'all', 'deadLetters', 'roles', 'warnings'])
    expect(stats.agents.find(({ name }: { name: string }) => name === 'ada')).toMatchObject({
      ...{ name: 'ada', sent: 5, received: 0, unacked: 0, shown: latency, done: latency },
    })
    const bob = stats.agents.find(({ name }: { name: string }) => name === 'bob')
    // What waits for its role is unread for it too.
    expect(bob).toMatchObject({ sent: 0, pending: 1, oldestWaiting: expect.any(String) })
    for (const p of ['p50', 'p95', 'p99']) {
      expect(bob.shown[p]).toEqual(expect.any(Number))
      expect(bob.done[p]).toEqual(expect.any(Number))
    }
    expect(stats.roles).toEqual([{ name: 'role:worker', pending: 1, oldestWaiting: expect.any(String) }])
    expect(stats.deadLetters).toBe((await box.json('dead')).messages.length)
  })

  it('stats name the oldest that waits, whatever its priority, and imported mail by its own time', async () => {
    const { space, clock } = await scene()
    const ada = await byHand(space, 'ada')
    await byHand(space, 'bob')
    const oldest = async () => (await space.stats()).agents.find(({ name }) => name === 'bob')!.oldestWaiting
    expect(await oldest()).toBeNull()
    const first = await ada.send({ to: 'bob', priority: 'low' })
    clock.advance(60_000)
    const second = await ada.send({ to: 'bob', priority: 'urgent' })
    expect(await oldest()).toBe(first.createdAt)
    await ada.withdraw(first.id)
    expect(await oldest()).toBe(second.createdAt)
    const at = '2026-01-01T00:00:00.000Z'
    const { seq: _, warnings: __, ...message } = second
    const id = '019b76da-a800-7000-8000-000000000001'
    await space.importMessages([
      { kind: 'message', at, message: { ...message, id, threadId: id, createdAt: at } },
    ])
    expect(await oldest()).toBe(at)
  })

  it('stats of an empty space are zeros, not holes', async () => {
    const box = await boxWith({}, 'ada')
    const { all, deadLetters } = JSON.parse(await box.ok('stats', '--json'))
    expect(all).toMatchObject({ sent: 0, received: 0, pending: 0, unacked: 0, oldestWaiting: null })
    expect(deadLetters).toBe(0)
    expect(await box.ok('dead')).toBe('no dead letters\n')
  })

  it('show: { message, receipts, escalations }, each with its steps', async () => {
    const { box, id } = await busyBox()
    const answer = await box.json('show', id)
    expect(Object.keys(answer)).toEqual(['message', 'receipts', 'escalations', 'signature'])
    expect(answer.receipts.map(({ recipient }) => recipient)).toContain('role:worker')
    for (const { steps, attempts, repeats } of answer.receipts) {
      expect(steps[0]).toMatchObject({ state: 'stored', by: 'ada', at: expect.any(String) })
      expect([attempts, repeats]).toEqual([expect.any(Number), expect.any(Number)])
    }
  })
})
