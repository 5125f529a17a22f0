import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeEach, expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'
import { needFaketime, wallClockAt } from '../helpers/faketime.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

beforeEach(needFaketime)

/** The lines of "Try it" that a reader types: from the first join to the thread. */
function linesToTry(): string {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const [, section = ''] = readme.split('## Try it\n')
  const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text!)
  return blocks.find((text) => text.startsWith('mailbox join ada'))!
}

/** Minutes after which something could ring: urgent mail, a read claim, an ack, an answer, and again; then a day. */
const looksAt = [6, 11, 16, 31, 46, 241, 250, 481, 500, 24 * 60 - 10]

it('whoever follows the lines of the README is left in peace for a day', async () => {
  const lines = linesToTry()
  for (const verb of ['join', 'send role:architect', 'check', 'reply', 'wait', 'show', 'thread'])
    expect(lines).toContain(` ${verb} `)

  const { dir } = await createBox()
  const home = dirname(dir)
  const bin = join(home, 'bin')
  mkdirSync(bin)
  const program = join(root, 'dist', 'cli.cjs')
  const command = `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`
  writeFileSync(join(bin, 'mailbox'), command, { mode: 0o755 })
  const run = async (script: string, later: number) => {
    const env = {
      ...{ PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: home, MAILBOX_SPACE: dir },
      ...{ ...wallClockAt(`+${later}m`), MAILBOX_CLOCK: 'wall' },
    }
    return (await promisify(execFile)('sh', ['-euc', script], { env, cwd: home })).stdout
  }

  const said = await run(lines, 0)
  expect(said).toContain('Shall we split the parser in two?')
  expect(said).toContain('Yes, along the lexer.')

  const messages = async (words: string, later: number) =>
    (JSON.parse(await run(`mailbox ${words} --json`, later)) as { messages: { subject: string }[] }).messages
  for (const later of looksAt) {
    // Whoever looks at the roster does what is due.
    const { agents } = JSON.parse(await run('mailbox agents --json', later)) as {
      agents: { state: string }[]
    }
    expect(agents.map(({ state }) => state)).not.toContain('dead')
    expect(await messages('inbox --as user', later), `the person, after ${later} min`).toEqual([])
    expect(await messages('check --as ada', later), `ada, after ${later} min`).toEqual([])
    expect(await messages('check --as bob', later), `bob, after ${later} min`).toEqual([])
  }
  const last = looksAt.at(-1)!
  expect(await messages('dead', last)).toEqual([])
  expect(await run('mailbox owed --all', last)).toBe('nothing is owed\n')
  const log = (await run('mailbox log --json', last)).trim().split('\n')
  const senders = log
    .map((line) => JSON.parse(line) as { kind: string; message?: { from: string } })
    .flatMap(({ kind, message }) => (kind === 'message' ? message!.from : []))
  expect(senders).toEqual(['bob', 'ada'])
})
