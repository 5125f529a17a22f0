import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { inStorm } from '../helpers/storm.ts'
import { tempDir } from '../helpers/temp.ts'
import { mailOf, type Stage, stage } from './stage.ts'

interface Kind {
  /** The file in which zoe gets her nth message, and where ann gets hers. */
  file: (n: number) => string
  answers: string
  /** A message to zoe, as its writer would put it down. */
  message: (n: number, more?: object) => Record<string, unknown>
  /** The field with the name of the sender. */
  sender: string
  /** How the sender is called here. */
  ann: string
  /** Fields that a message can have beside those that it has here. */
  others: string[]
}

const seconds = (n: number) => String(n % 60).padStart(2, '0')

const kinds: Record<string, Kind> = {
  adr003: {
    file: (n) => `mailboxes/zoe/inbox/MSG-${String(n).padStart(12, '0')}.json`,
    ...{ answers: 'mailboxes/ann/inbox', sender: 'from_agent', ann: 'ann' },
    others: [
      ...['swarm_name', 'expires_at', 'read_at', 'completed_at', 'reply_to', 'thread_id'],
      ...['context', 'attachments', 'tags'],
    ],
    message: (n, more) => ({
      ...{ id: `MSG-${String(n).padStart(12, '0')}`, from_agent: 'ann', to_agent: 'zoe', subject: 's' },
      ...{ type: 'notification', body: `b${n}`, payload: {}, priority: 2, status: 'unread' },
      ...{ created_at: `2026-01-03T14:30:${seconds(n)}`, ...more },
    }),
  },
  haak: {
    file: () => 'agent-mailbox.jsonl',
    ...{ answers: 'agent-mailbox.jsonl', sender: 'sender', ann: 'ann' },
    others: ['thread', 'ttl_hours', 'subject', 'from', 'to', 'body'],
    message: (n, more) => ({
      ...{ id: `m${n}`, sender: 'ann', recipient: 'zoe', timestamp: '2026-03-16T14:30:00Z' },
      ...{ content: `b${n}`, read_by: [], ...more },
    }),
  },
  'jean-claude': {
    file: () => 'zoe/mailbox/inbox.jsonl',
    ...{ answers: 'ann/mailbox/inbox.jsonl', sender: 'from', ann: 'ann' },
    others: ['priority', 'created_at', 'awaiting_response'],
    message: (n, more) => ({
      ...{ id: `m${n}`, from: 'ann', to: 'zoe', type: 'status', subject: '', body: `b${n}`, ...more },
    }),
  },
  ao: {
    file: (n) => `zoe/inbox/m${n}.json`,
    ...{ answers: 'ann/inbox', sender: 'from', ann: 'ann' },
    others: ['priority', 'requiresAck', 'replyTo', 'ackedAt'],
    message: (n, more) => ({
      ...{ id: `m${n}`, from: 'ann', to: 'zoe', timestamp: `2026-02-16T20:45:${seconds(n)}.000Z` },
      ...{ type: 'text', payload: { text: `b${n}` }, ...more },
    }),
  },
  ralph: {
    file: () => 'alpha/mailbox/zoe.jsonl',
    ...{ answers: 'alpha/mailbox/ann.jsonl', sender: 'FromAgentId', ann: 'alpha/ann' },
    others: ['Metadata'],
    message: (n, more) => ({
      ...{ MessageId: `m${n}`, FromAgentId: 'ann', ToAgentId: 'zoe', Type: 'Text', Content: `b${n}` },
      ...{ Timestamp: '2026-02-16T20:45:00.0000000Z', ...more },
    }),
  },
}

const bodies = async ({ space }: Stage) => (await mailOf(space, 'zoe')).map(({ body }) => body)

describe.each(Object.keys(kinds))('%s', (format) => {
  const { file, message, sender, answers, ann, others } = kinds[format]!
  const isLines = file(1).endsWith('.jsonl')
  /** Writes what stands in files of its own, or in one file line by line; nobody has touched it for a while. */
  function put(here: Stage, ...texts: (string | Uint8Array)[]): void {
    mkdirSync(dirname(join(here.folder, file(0))), { recursive: true })
    const bytes = texts.map((text) => Buffer.from(text))
    const end = Buffer.from('\n')
    if (isLines) writeFileSync(join(here.folder, file(0)), Buffer.concat(bytes.flatMap((one) => [one, end])))
    else for (const [n, one] of bytes.entries()) writeFileSync(join(here.folder, file(n + 1)), one)
    const paths = isLines ? [file(0)] : bytes.map((_, n) => file(n + 1))
    for (const path of paths) utimesSync(join(here.folder, path), 1_700_000_000, 1_700_000_000)
  }
  const text = (n: number, more?: object) => JSON.stringify(message(n, more))

  it('leaves what it cannot read where it is, reports it once, and goes on', async () => {
    const here = await stage(format)
    const hostile = text(3, { [sender]: 'line\nbreak' })
    put(here, text(1), '{"half": ', '[1]', hostile, Uint8Array.of(0x7b, 0xff, 0x7d), text(6))
    const before = here.files().map((path) => [path, here.text(path)])
    await here.sync()
    await here.sync()
    expect((await bodies(here)).sort()).toEqual(['b1', 'b6'])
    expect(here.problems.map((one) => one.replace(/^\S+ /, ''))).toEqual([
      expect.stringContaining('is not JSON'),
      expect.stringContaining('is not a JSON object'),
      expect.stringContaining('that can be named here'),
      expect.stringContaining('is not UTF-8'),
    ])
    // A count of unread mail is a file that is ours to make.
    const theirs = here.files().filter((path) => !path.endsWith('inbox_count.json'))
    expect(theirs.map((path) => [path, here.text(path)])).toEqual(before)
  })

  it('understands JSON of any shape in any field, or reports it', { timeout: 300_000 }, async () => {
    const here = await stage(format)
    const fields = [...Object.keys(message(1)), ...others]
    const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(1e300, -1, '', '\0', {}, []))
    const values = fc.sample(value, { numRuns: inStorm(1_000, 60), seed: 5 })
    put(here, ...values.map((value, at) => text(at + 10, { [fields[at % fields.length]!]: value })), text(9))
    await here.sync()
    expect(await bodies(here)).toContain('b9')
    expect(here.problems.filter((one) => one.includes('the bridge ended'))).toEqual([])
  })

  it('neither reads nor writes through a symbolic link', async () => {
    const here = await stage(format)
    put(here, text(1))
    await here.sync()
    const outside = tempDir()
    writeFileSync(join(outside, 'secret.json'), text(7))
    writeFileSync(join(outside, 'secret.jsonl'), `${text(7)}\n`)
    const before = readdirSync(outside)
    // What was ours to write to leads elsewhere now, and so does what is read.
    const target = join(here.folder, answers)
    rmSync(target, { recursive: true, force: true })
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(isLines ? join(outside, 'secret.jsonl') : outside, target)
    if (!isLines) symlinkSync(join(outside, 'secret.json'), join(here.folder, file(7)))
    await here.space.mailboxInside('zoe').send({ to: ann, body: 'kept in' })
    await here.sync({ patienceMs: 300 })
    expect(await bodies(here)).not.toContain('b7')
    expect(readdirSync(outside)).toEqual(before)
    const secret = basename(isLines ? 'secret.jsonl' : 'secret.json')
    expect(here.text(join('..', basename(outside), secret)).trim()).toBe(text(7))
    expect(here.problems).not.toEqual([])
  })

  it('waits for a folder that is away, says so once, and goes on where it was', async () => {
    const here = await stage(format)
    put(here, text(1))
    await here.sync()
    const away = `${here.folder}-away`
    renameSync(here.folder, away)
    await here.space.mailboxInside('zoe').send({ to: ann, body: 'meanwhile' })
    await here.sync()
    await here.sync()
    expect(here.problems).toEqual([expect.stringContaining('the folder is not there')])
    renameSync(away, here.folder)
    await here.sync()
    expect(await bodies(here)).toEqual(['b1'])
    expect(here.files().some((path) => here.text(path).includes('meanwhile'))).toBe(true)
  })
})
