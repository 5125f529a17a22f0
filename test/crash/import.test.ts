import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'
import { campaignSize } from '../helpers/storm.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { exported } from '../helpers/transfer.ts'
import { until } from '../helpers/wait.ts'

/** An export in which every message was read. */
async function exportFile(messages: number): Promise<string> {
  const space = await tempSpace()
  const ada = await space.mailbox('ada')
  const sent = await Promise.all(
    Array.from({ length: messages }, (_, n) =>
      ada.send({ to: 'ada', subject: `mail ${n}`, body: 'x'.repeat(300) }),
    ),
  )
  // A step for every three, so that steps come long after some of their messages.
  for (let at = 0; at < sent.length; at += 3) await ada.takeAll(sent.slice(at, at + 3).map(({ id }) => id))
  const file = join(tempDir(), 'space.jsonl')
  const lines = await exported(space)
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return file
}

/** The size of the journal; 0 before there is one. */
function journalBytes(dir: string): number {
  try {
    return statSync(join(dir, 'journal', '00000001.jsonl')).size
  } catch {
    return 0
  }
}

it('an import that is killed is completed by the next, with nothing lost or doubled', async () => {
  const file = await exportFile(campaignSize('kills', 3_000, 600))
  const whole = statSync(file).size
  const box = await createBox()
  const kills = campaignSize('kills', 40, 2)
  for (let kill = 1; kill <= kills; kill++) {
    rmSync(box.dir, { recursive: true, force: true })
    const importing = box.start(['import', file])
    const wanted = (whole * kill) / (kills + 1)
    await until(() => journalBytes(box.dir) >= wanted || importing.process.exitCode !== null)
    importing.process.kill('SIGKILL')
    await importing.exit
    await box.ok('import', file)
    expect(await box.ok('export')).toBe(readFileSync(file, 'utf8'))
    expect(await box.ok('verify', '--deep')).toContain('OK: ')
  }
})
