import { realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { appendMessage, subjectsIn } from '../helpers/drafts.ts'
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

/** Removes the lock under a writer whose writes take long, and lets others write meanwhile. Returns what it was told. */
async function collide(): Promise<string> {
  const dir = realpathSync(tempDir())
  const segment = join(dir, 'journal', '00000001.jsonl')
  // Every write of this one to the journal takes so long that the other is done before it.
  const inject = ['-P', segment, '-e', 'inject=write:delay_enter=700000']
  const slow = startScript(obey, [dir], {
    under: ['strace', '-f', '-qq', '-o', join(dir, 'log'), ...inject],
  })
  await slow.line('ready')
  const sending = send(slow, 'slow')
  let isOver = false
  void sending.then(() => (isOver = true))
  const answers: string[] = []
  for (let n = 0; !isOver; n++) {
    // Whoever has the lock open waits for its holder; whoever comes now makes another.
    rmSync(join(dir, 'lock'), { force: true })
    const journal = tempJournal({ dir, lockTimeoutMs: 30 })
    await appendMessage(journal, { subject: `quick-${n}` }).then(
      () => answers.push(`acked quick-${n}`),
      // It may also be the one that is hidden.
      ({ code }) => expect(['timeout', 'damaged']).toContain(code),
    )
    await journal.close()
  }
  const told = await sending
  answers.push(told, await send(slow, 'slow-again'))
  const stored = await subjectsIn(tempJournal({ dir }))
  for (const subject of acked(answers)) expect(stored, answers.join()).toContain(subject)
  expect(answers.at(-1)).toBe('acked slow-again')
  return told
}

it('acknowledges nothing that a second writer has hidden, when the lock goes while it is held', async () => {
  needTool('strace')
  // On a busy machine they may miss each other.
  const tries = 8
  let told = ''
  for (let n = 0; n < tries && told !== 'refused slow damaged'; n++) told = await collide()
  expect(told).toBe('refused slow damaged')
})
