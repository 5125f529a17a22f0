import { realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { subjectsIn } from '../helpers/drafts.ts'
import { type Running, startScript } from '../helpers/processes.ts'
import { tempDir, tempJournal } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'

const obey = new URL('obey.mjs', import.meta.url)

function send(running: Running, subject: string): Promise<string> {
  running.tell(JSON.stringify({ send: { subject } }))
  return running.line(new RegExp(`^(acked|refused) ${subject}( |$)`))
}

const acked = (answers: readonly string[]) =>
  answers.filter((answer) => answer.startsWith('acked')).map((answer) => answer.split(' ')[1])

it('acknowledges nothing that a second writer has hidden, when the lock goes while it is held', async () => {
  needTool('strace')
  const dir = realpathSync(tempDir())
  const segment = join(dir, 'journal', '00000001.jsonl')
  const other = startScript(obey, [dir])
  await other.line('ready')
  // Every write of this one to the journal takes so long that the other is done before it.
  const slow = startScript(obey, [dir], {
    under: [
      'strace',
      '-f',
      '-qq',
      '-o',
      join(dir, 'log'),
      '-P',
      segment,
      '-e',
      'inject=write:delay_enter=700000',
    ],
  })
  await slow.line('ready')
  const sending = send(slow, 'slow')
  const answers: string[] = []
  for (let n = 0; n < 20; n++) {
    rmSync(join(dir, 'lock'), { force: true })
    answers.push(await send(other, `quick-${n}`))
  }
  answers.push(await sending, await send(slow, 'slow-again'), await send(other, 'quick-again'))
  for (const answer of answers) expect(answer).toMatch(/^(acked \S+|refused \S+ damaged)$/)
  const stored = await subjectsIn(tempJournal({ dir }))
  for (const subject of acked(answers)) expect(stored, answers.join()).toContain(subject)
  expect(answers.slice(-2)).toEqual(['acked slow-again', 'acked quick-again'])
})
