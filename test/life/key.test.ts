import { describe, expect, it } from 'vitest'
import { startScript } from '../helpers/processes.ts'
import { inStorm } from '../helpers/storm.ts'
import { tempSpace } from '../helpers/temp.ts'
import { boxWith, byHand, journalOf } from './stage.ts'

const script = new URL('sender.mjs', import.meta.url)
const crowd = inStorm(20, 8)

describe('a send with a `key` used before by that sender returns the first message, not a second one', () => {
  it(`over ${crowd} processes at once: one message, and all are told its id`, async () => {
    const space = await tempSpace()
    for (const name of ['ada', 'bob']) await byHand(space, name)
    const input = JSON.stringify({ to: 'bob', key: 'deploy-42' })
    const processes = Array.from({ length: crowd }, () => startScript(script, [space.dir, 'ada', '3', input]))
    await Promise.all(processes.map((one) => one.line('ready')))
    for (const one of processes) one.tell('go')
    const lines = await Promise.all(processes.map((one) => one.line(/^done /)))
    const told = lines.map((line) => JSON.parse(line.slice('done '.length)) as { sent: string[] })
    const ids = told.flatMap(({ sent }) => sent)
    expect(ids).toHaveLength(3 * crowd)
    expect(new Set(ids).size).toBe(1)
    const stored = (await journalOf(space)).filter(({ kind }) => kind === 'message')
    expect(stored).toHaveLength(1)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  })

  it('each sender has keys of its own', async () => {
    const space = await tempSpace()
    for (const name of ['bob', 's0', 's1', 's2', 's3']) await byHand(space, name)
    const input = JSON.stringify({ to: 'bob', key: 'same' })
    const processes = [0, 1, 2, 3, 0, 1, 2, 3].map((n) =>
      startScript(script, [space.dir, `s${n}`, '2', input]),
    )
    await Promise.all(processes.map((one) => one.line('ready')))
    for (const one of processes) one.tell('go')
    await Promise.all(processes.map((one) => one.line(/^done /)))
    expect((await journalOf(space)).filter(({ kind }) => kind === 'message')).toHaveLength(4)
  })

  it('by the command line: 8 at once, one message, a warning for the others', async () => {
    const box = await boxWith({}, 'ada', 'bob')
    const send = () => box.run(['send', 'bob', '--as', 'ada', '--key', 'k', '--body', 'once', '--json'])
    const ran = (await Promise.all(Array.from({ length: 8 }, send))).map(({ stdout }) => JSON.parse(stdout))
    expect(new Set(ran.map(({ message }) => message.id)).size).toBe(1)
    expect(ran.filter(({ warnings }) => warnings.length === 0)).toHaveLength(1)
    expect((await box.json('check', '--as', 'bob')).messages).toHaveLength(1)
  })
})
