import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { DiskSpace } from '../../src/space/space.ts'
import { createBox } from '../helpers/cli.ts'
import { startScript } from '../helpers/processes.ts'
import { linesIn, segmentFile, writeLines } from '../helpers/segments.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { needAlone } from '../helpers/with-desk.ts'

async function withMail(settings = {}): Promise<{ space: DiskSpace; mirror: string }> {
  const mirror = join(tempDir(), 'mirror')
  const first = await tempSpace()
  await first.setMirror(mirror)
  await first.close()
  const space = await tempSpace({ dir: first.dir, settings })
  const ada = await space.mailbox('ada')
  await space.mailbox('bob', { join: { roles: ['architect'] } })
  for (const subject of ['one', 'two', 'three'])
    await ada.send({ to: 'bob', subject, body: 'a long text '.repeat(100) })
  return { space, mirror }
}

/** Makes a line unreadable, in more than one bit. */
function spoil(dir: string, text: string): void {
  writeLines(
    dir,
    linesIn(dir).map((line) =>
      line.includes(`"subject":"${text}"`) ? line.replaceAll('long', 'gone') : line,
    ),
  )
}

const subjects = async (space: DiskSpace): Promise<string[]> => {
  const bob = await space.mailbox('bob')
  return (await bob.inbox()).messages.map((message) => message.subject).sort()
}

describe('a space with a mirror', () => {
  it('gets back what it lost, keeps what was damaged, and has it in its history', async () => {
    const { space, mirror } = await withMail()
    const whole = readFileSync(segmentFile(space.dir))
    await space.close()
    spoil(space.dir, 'two')
    const damaged = readFileSync(segmentFile(space.dir))

    const again = await tempSpace({ dir: space.dir })
    await again.rebuild()
    expect(await subjects(again)).toEqual(['one', 'three'])
    const planned = await again.repair({ dryRun: true })
    expect(planned).toMatchObject({
      applied: false,
      files: [
        { segment: 1, file: 'journal/00000001.jsonl', restored: { mirror: 1 }, reformatted: 0, corrected: 0 },
      ],
      lost: [],
    })
    expect(readFileSync(segmentFile(space.dir)).equals(damaged)).toBe(true)
    const done = await again.repair()
    expect(done).toMatchObject({ applied: true, lost: [] })
    expect(readFileSync(join(space.dir, done.files[0]!.kept!)).equals(damaged)).toBe(true)
    expect(readFileSync(segmentFile(space.dir)).subarray(0, whole.length).equals(whole)).toBe(true)

    expect(await subjects(again)).toEqual(['one', 'three', 'two'])
    expect((await again.verify({ deep: true })).problems).toEqual([])
    expect(linesIn(space.dir, 2)[0]).toContain('"reason":"repaired"')
    expect(linesIn(space.dir, 2)[1]).toContain('"kind":"repair"')
    expect(await again.mirror()).toMatchObject({ state: 'current' })
    expect(existsSync(segmentFile(mirror, 2))).toBe(true)
    expect(await again.repair()).toMatchObject({ applied: false, files: [], lost: [], mirror: [] })
  })

  it('gets back the end of the journal, even if mail was sent after it was lost', async () => {
    const { space } = await withMail()
    await space.close()
    const whole = readFileSync(segmentFile(space.dir))
    truncateSync(segmentFile(space.dir), whole.length - 3_000)
    const again = await tempSpace({ dir: space.dir })
    expect((await again.repair({ dryRun: true, from: [] })).lost).toEqual([])
    await (await again.mailbox('ada')).send({ to: 'bob', subject: 'after' })
    expect(await subjects(again)).not.toContain('three')
    expect((await again.verify()).problems).not.toEqual([])
    expect(await again.repair()).toMatchObject({ applied: true, lost: [] })
    expect(readFileSync(segmentFile(space.dir)).equals(whole)).toBe(true)
    expect(await subjects(again)).toEqual(['after', 'one', 'three', 'two'])
    expect((await again.verify({ deep: true })).problems).toEqual([])
  })

  it('repairs the mirror from the journal as well', async () => {
    const { space, mirror } = await withMail()
    spoil(mirror, 'one')
    expect(await space.repair({ dryRun: true })).toMatchObject({ files: [], mirror: [1] })
    await space.repair()
    expect(readFileSync(segmentFile(mirror)).equals(readFileSync(segmentFile(space.dir)))).toBe(true)
    expect(readdirSync(join(mirror, 'journal', 'damaged'))).toHaveLength(1)
  })

  it('asks before it changes anything', async () => {
    const { space } = await withMail()
    spoil(space.dir, 'two')
    const damaged = readFileSync(segmentFile(space.dir))
    expect(await space.repair({ confirm: async () => false })).toMatchObject({ applied: false })
    expect(readFileSync(segmentFile(space.dir)).equals(damaged)).toBe(true)
  })

  it('is repaired under processes that are running, which lose nothing and see what is back', async () => {
    const { space } = await withMail()
    const writer = startScript(new URL('../crash/obey.mjs', import.meta.url), [space.dir])
    await writer.line('ready')
    const say = async (subject: string) => {
      writer.tell(JSON.stringify({ send: { subject, to: 'bob' } }))
      expect(await writer.line(new RegExp(`^(acked|refused) ${subject}`))).toBe(`acked ${subject}`)
    }
    await say('before')
    const other = await tempSpace({ dir: space.dir })
    expect(await subjects(other)).toHaveLength(4)
    spoil(space.dir, 'two')
    await space.repair()
    await say('after')
    await (await other.mailbox('ada')).send({ to: 'bob', subject: 'from-another' })
    const all = ['after', 'before', 'from-another', 'one', 'three', 'two']
    expect(await subjects(other)).toEqual(all)
    expect(await subjects(space)).toEqual(all)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })
})

it('takes a lost message from an export, and proves by the chain that it is the same', async () => {
  const box = await createBox('ada', 'bob')
  for (const subject of ['one', 'two', 'three'])
    await box.ok('send', 'bob', '--as', 'ada', '--subject', subject, '--body', 'a long text')
  const file = join(box.dir, '..', 'mail.jsonl')
  await box.ok('export', '--out', file)
  const whole = readFileSync(segmentFile(box.dir))
  spoil(box.dir, 'two')
  const lossy = await box.run(['repair', '--yes', '--json'])
  expect(lossy).toMatchObject({ code: 1 })
  expect(JSON.parse(lossy.stdout)).toMatchObject({ ok: false, applied: false, lost: [{ from: 5, to: 5 }] })
  const report = JSON.parse(await box.ok('repair', '--from', file, '--yes', '--json')) as object
  expect(report).toMatchObject({ ok: true, applied: true, files: [{ restored: { [file]: 1 } }] })
  expect(readFileSync(segmentFile(box.dir)).equals(whole)).toBe(true)
})

describe('on the command line', () => {
  it('shows what it would do, does it when told to, and says when something stays lost', async () => {
    needAlone()
    const box = await createBox('ada', 'bob')
    await box.ok('send', 'bob', '--as', 'ada', '--subject', 'one', '--body', 'a long text')
    await box.ok('send', 'bob', '--as', 'ada', '--subject', 'two')
    expect(await box.ok('repair')).toBe('OK: nothing to repair\n')
    const copy = `${box.dir}-copy`
    cpSync(box.dir, copy, { recursive: true })
    const text = readFileSync(segmentFile(box.dir), 'latin1')
    writeFileSync(segmentFile(box.dir), text.replaceAll('\n', '\r\n').replace('long', 'gone'), 'latin1')

    const dry = await box.run(['repair', '--dry-run'])
    expect(dry).toMatchObject({ code: 1 })
    expect(dry.stdout).toContain('journal/00000001.jsonl: 4 records put on lines of their own')
    expect(dry.stdout).toContain('1 record lost (entry 4): no copy has it')
    expect(dry.stdout).toContain('dry run: nothing was changed')
    const refused = await box.run(['repair'])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.stderr).toContain('cannot ask without a terminal')
    const done = await box.ok('repair', '--from', copy, '--yes')
    expect(done).toContain(`1 record restored from ${copy}`)
    expect(done).toContain('repaired; the damaged files are in journal/damaged/')
    expect(readFileSync(segmentFile(box.dir), 'latin1')).toBe(text)
    expect(await box.ok('inbox', '--as', 'bob')).toContain('one')
    expect(await box.ok('log')).toContain('repaired journal file 1')
    expect(await box.ok('verify')).toContain('OK')
  })

  it('refuses a source in which there is nothing', async () => {
    const box = await createBox('ada')
    expect(await box.refused(3, 'repair', '--from', '/nowhere')).toMatchObject({ code: 'not_found' })
    expect(await box.refused(2, 'repair', '--from', tempDir())).toMatchObject({ code: 'invalid' })
  })

  it('sets up a mirror, reports on it, and lets go of it', async () => {
    const box = await createBox('ada')
    const mirror = `${box.dir}-mirror`
    expect(await box.ok('config', 'set', 'journal.mirror', mirror)).toMatch(
      /journal.mirror is now .*; 1 KiB copied/,
    )
    await box.ok('send', 'ada', '--as', 'ada', '--subject', 'one')
    expect(readFileSync(segmentFile(mirror)).equals(readFileSync(segmentFile(box.dir)))).toBe(true)
    expect((await box.run(['doctor'])).stdout).toMatch(/ok {4}mirror +.*has everything/)
    rmSync(mirror, { recursive: true })
    await box.ok('send', 'ada', '--as', 'ada', '--subject', 'two')
    expect((await box.run(['doctor'])).stdout).toMatch(/warn {2}mirror +no mirror: there is no mirror in/)
    expect(await box.ok('config', 'set', 'journal.mirror', '')).toContain(
      'journal.mirror is off; the copy in',
    )
    expect(existsSync(mirror)).toBe(false)
  })
})
