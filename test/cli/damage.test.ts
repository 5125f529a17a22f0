import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/base/sqlite.ts'
import { openDisk } from '../../src/space/open.ts'
import { type Box, createBox } from '../helpers/cli.ts'
import { linesIn, segmentFile } from '../helpers/segments.ts'

/** Flips one bit of the line that holds the text. Returns the number of the line. */
function damage({ dir }: Box, text: string): number {
  const bytes = readFileSync(segmentFile(dir))
  bytes[bytes.indexOf(text)]! ^= 0x02
  const line = linesIn(dir).findIndex((one) => one.includes(text)) + 1
  writeFileSync(segmentFile(dir), bytes)
  return line
}

const dropIndex = ({ dir }: Box) => {
  for (const file of ['index.db', 'index-search.db']) rmSync(join(dir, file), { force: true })
}

/** Three messages from ada to bob, sent in this process: a test pays for every process it starts. */
async function boxWithMail(isRead: boolean) {
  const box = await createBox('ada', 'bob')
  await using space = await openDisk({ dir: box.dir, settings: { durability: 'os' } })
  const ada = await space.mailbox('ada')
  const ids: string[] = []
  for (const subject of ['one', 'two', 'three']) ids.push((await ada.send({ to: 'bob', subject })).id)
  if (isRead) await (await space.mailbox('bob')).check()
  return { box, ids }
}

const subjects = (messages: { subject: string }[]) => messages.map(({ subject }) => subject)

it('opens a space in which a message that has receipts was damaged and the index is gone', async () => {
  const { box, ids } = await boxWithMail(true)
  const line = damage(box, '"subject":"two"')
  // While the index still knows of it: nothing in an export is about a message that is not in it.
  const partial = await box.run(['--space', `${box.dir}-other`, 'import', '--json'], {
    input: await box.ok('export'),
  })
  expect(JSON.parse(partial.stdout)).toMatchObject({ imported: 2, refused: 0 })
  dropIndex(box)
  const said = `1 record could not be read (segment 1, line ${line})`

  const inbox = await box.run(['inbox', '--as', 'bob', '--json'])
  expect(inbox).toMatchObject({ code: 0, stderr: expect.stringContaining(said) })
  const answer = JSON.parse(inbox.stdout)
  expect(subjects(answer.messages)).toEqual(['one', 'three'])
  expect(answer.unreadable).toMatchObject([{ segment: 1, line, ids: [ids[1]], to: ['bob'] }])

  const exported = await box.run(['export'])
  expect(exported).toMatchObject({ code: 0, stderr: expect.stringContaining(said) })
  expect(exported.stdout.match(/^{"kind":"message"/gm)).toHaveLength(2)
  await box.ok('send', 'bob', '--as', 'ada', '--subject', 'four')
  expect(subjects((await box.json('check', '--as', 'bob')).messages)).toEqual(['four'])

  const known = `segment 1, line ${line} could not be read: message ${ids[1]} to bob; bob: shown`
  const verify = await box.run(['verify'])
  expect(verify).toMatchObject({ code: 1, stdout: expect.stringContaining(known) })
  const doctor = await box.run(['doctor'])
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining(known) })
  expect(doctor.stdout).toContain('mailbox repair')
})

it('reads a mailbox to its end past an unread message that was damaged, and reports that one once', async () => {
  const { box, ids } = await boxWithMail(false)
  const line = damage(box, '"subject":"two"')
  const said = `1 record could not be read (segment 1, line ${line})`

  const inbox = await box.run(['inbox', '--as', 'bob'])
  expect(inbox).toMatchObject({ code: 0, stderr: expect.stringContaining(said) })
  expect(inbox.stdout).toMatch(/one.*could not be read.*three/s)
  const check = await box.run(['check', '--as', 'bob', '--json'])
  expect(check).toMatchObject({ code: 0, stderr: expect.stringContaining(said) })
  expect(JSON.parse(check.stdout)).toMatchObject({
    messages: [
      { subject: 'one' },
      { id: ids[1], from: 'ada', to: ['bob'], subject: '(could not be read)', unreadable: { line } },
      { subject: 'three' },
    ],
    remaining: { unread: 0 },
  })
  expect(await box.ok('check', '--as', 'bob')).toBe('no new mail\n')
  expect(await box.ok('thread', ids[1]!)).toContain(said)
  expect(await box.ok('sent', '--as', 'ada')).toContain('could not be read')
  expect(await box.ok('show', ids[0]!)).toContain('one')
  const verify = await box.run(['verify'])
  expect(verify.stdout).toContain(`could not be read: message ${ids[1]} to bob; bob: shown`)
  await box.ok('done', ids[1]!, '--as', 'bob')
})

it('shows a message of which one receipt was damaged, with the steps that are left', async () => {
  const { box, ids } = await boxWithMail(true)
  await box.ok('ack', ids[1]!, '--as', 'bob')
  const line = damage(box, '"step":"shown"')
  const shown = await box.run(['show', ids[1]!, '--json'])
  expect(shown).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(`1 record could not be read (segment 1, line ${line})`),
  })
  const [receipt] = JSON.parse(shown.stdout).receipts
  expect(receipt.steps.map(({ state }: { state: string }) => state)).toEqual(['stored', 'acked'])
})

it('has a record back once its line is as it was', async () => {
  const { box, ids } = await boxWithMail(false)
  damage(box, '"subject":"two"')
  dropIndex(box)
  expect((await box.json('inbox', '--as', 'bob')).messages).toHaveLength(2)
  damage(box, '"subject":"two"'.replace('"', String.fromCharCode(0x22 ^ 0x02)))
  const inbox = await box.run(['inbox', '--as', 'bob', '--json'])
  expect(inbox.stderr).toBe('')
  expect(JSON.parse(inbox.stdout).messages[1]).toMatchObject({ id: ids[1], subject: 'two' })
})

it('ends a log and an export whose last entry was damaged', async () => {
  const { box } = await boxWithMail(false)
  damage(box, '"subject":"three"')
  expect(await box.ok('log')).toContain('two')
  expect((await box.ok('export')).match(/^{"kind":"message"/gm)).toHaveLength(2)
  expect(await box.run(['doctor'])).toMatchObject({ code: 1 })
})

it('is told by whoever reads mail that the mirror is not there', async () => {
  const box = await createBox('ada')
  const mirror = `${box.dir}-mirror`
  onTestFinished(() => rmSync(mirror, { recursive: true, force: true }))
  await box.ok('config', 'set', 'journal.mirror', mirror)
  expect((await box.run(['check', '--as', 'ada'])).stderr).toBe('')
  rmSync(mirror, { recursive: true })
  const check = await box.run(['check', '--as', 'ada'])
  expect(check).toMatchObject({ code: 0, stderr: expect.stringContaining(`there is no mirror in ${mirror}`) })
})

it('is not told to rebuild an index that knows more than the journal has left', async () => {
  const box = await createBox('ada')
  await using space = await openDisk({
    ...{ dir: box.dir, settings: { durability: 'os', 'retention.segmentEntries': 4 } },
  })
  const ada = await space.mailbox('ada')
  for (let n = 0; n < 12; n++) await ada.send({ to: 'ada', subject: `${n}` })
  await ada.count()
  await space.close()
  rmSync(segmentFile(box.dir, 2))
  const verify = await box.run(['verify', '--deep'])
  expect(verify).toMatchObject({ code: 1, stdout: expect.stringContaining('segments 2 to 2 are missing') })
  expect(verify.stdout).not.toContain('rebuild')
  expect((await box.run(['doctor', '--deep'])).stdout).not.toContain('mailbox rebuild')
  // Once it is built again, it knows as much as the journal.
  await box.ok('rebuild')
  expect((await box.run(['verify', '--deep'])).stdout).not.toContain('rebuild')
})

it.each(['inbox', 'agents', 'doctor --deep', 'verify --deep', 'rebuild'])(
  'is not ended by a name in the index that is no text: %s',
  async (verb) => {
    const { box } = await boxWithMail(false)
    const path = join(box.dir, 'index.db')
    const bytes = readFileSync(path)
    for (let at = bytes.indexOf('"bob"'); at >= 0; at = bytes.indexOf('"bob"', at + 1)) bytes[at + 2] = 0xff
    writeFileSync(path, bytes)
    expect(await box.run([...verb.split(' '), '--as', 'bob'])).toMatchObject({ code: 0 })
  },
)

it.each(['DELETE FROM receipt', "UPDATE receipt SET box = 'nobody'"])(
  'shows mail whose rows somebody else has changed: %s',
  async (sql) => {
    const { box } = await boxWithMail(false)
    const index = openDatabase(join(box.dir, 'index.db'), 1_000)
    index.exec(sql)
    index.close()
    expect(subjects((await box.json('inbox', '--as', 'bob')).messages)).toEqual(['one', 'two', 'three'])
  },
)
