import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { allVerbs } from '../../src/cli/verbs.ts'
import { createBox } from '../helpers/cli.ts'

const verbs = await allVerbs()

it('greets with help that shows the groups and a way to begin', async () => {
  const box = await createBox()
  const help = await box.ok('--help')
  for (const part of [
    'Quick start:',
    'Set up:',
    'Roster:',
    'Send:',
    'Read:',
    'Handle:',
    'Conversations:',
    'Servers:',
    'Maintenance:',
  ])
    expect(help).toContain(part)
  for (const { name, hidden = false } of verbs) {
    expect(new RegExp(`^ {2}${name} `, 'm').test(help), name).toBe(!hidden)
  }
  expect(await box.ok('help')).toBe(help)
  expect(await box.ok('--version')).toMatch(/^\d+\.\d+\.\d+\n$/)
})

it('teaches every verb with its options and examples', async () => {
  const box = await createBox()
  const shown = verbs.filter(({ hidden }) => !hidden)
  const helps = await Promise.all(shown.map(({ name }) => box.ok(name, '--help')))
  for (const [at, help] of helps.entries()) {
    expect(help).toContain(`Usage: mailbox ${shown[at]!.name}`)
    expect(help).toMatch(/\nExamples:\n {2}\$ /)
    expect(help).toContain('--json')
  }
  expect(await box.ok('help', 'send')).toBe(helps[shown.findIndex(({ name }) => name === 'send')])
})

it('completes verbs, options, addresses and ids', async () => {
  const box = await createBox()
  await box.ok('join', 'ada', '--role', 'architect')
  const { message } = await box.json('send', 'ada', '--subject', 'Plan')
  const values = async (...words: string[]) =>
    (await box.ok('complete', '--', ...words)).split('\n').flatMap((line) => line.split('\t')[0] || [])
  expect(await values('se')).toEqual(['send', 'sent', 'search', 'serve'])
  expect(await values('send', 'a')).toEqual(['ada', 'all'])
  expect(await values('send', 'role:')).toEqual(['role:architect'])
  expect(await values('send', '--pri')).toEqual(['--priority'])
  expect(await values('send', '--priority', '')).toEqual(['low', 'normal', 'high', 'urgent'])
  expect(await values('--as', 'ada', 'show', '')).toEqual([message.id])
  expect(await values('config', 'get', 'poll')).toEqual(['pollMs'])
})

it('never runs what a name holds when a shell completes it', async () => {
  const box = await createBox()
  await box.ok('join', 'evil$(touch pwned)')
  const script = [
    `mailbox() { "${process.execPath}" "$CLI" "$@"; }; command() { "$@"; }`,
    'source <(mailbox completion bash)',
    'COMP_WORDS=(mailbox send e); COMP_CWORD=2; _mailbox; declare -p COMPREPLY',
    'COMP_WORDS=(mailbox send role : x); COMP_CWORD=4; _mailbox',
  ].join('\n')
  const cwd = mkdtempSync(join(tmpdir(), 'mailbox-complete-'))
  onTestFinished(() => rmSync(cwd, { recursive: true }))
  const cli = new URL('../../dist/cli.cjs', import.meta.url).pathname
  const env = { PATH: process.env['PATH'] ?? '', MAILBOX_SPACE: box.dir, CLI: cli }
  const { stdout } = spawnSync('bash', ['-c', script], { cwd, env, encoding: 'utf8' })
  expect(stdout).toContain('evil')
  expect(readdirSync(cwd)).toEqual([])
})
