import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { toPrintableLine } from '../model/text.ts'

const mark = '<!-- This line and everything below it is ignored. Leave the text empty to send nothing. -->'

/** The editor of whoever sits at the terminal; undefined where nobody does, or none is set. */
export function editorOf(env: NodeJS.ProcessEnv): string | undefined {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return undefined
  return env['VISUAL'] || env['EDITOR'] || undefined
}

/** Has a text written in the editor. It is kept in its file until the command has succeeded. */
export function writeInEditor(editor: string, about: readonly string[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'mailbox-text-'))
  const path = join(dir, 'message.md')
  writeFileSync(path, ['', '', mark, ...about.map(toPrintableLine), ''].join('\n'), { mode: 0o600 })
  // As git does it: the setting may be a command with options.
  const { status } = spawnSync('sh', ['-c', `${editor} "$1"`, 'sh', path], { stdio: 'inherit' })
  const text = status === 0 ? textOf(readFileSync(path, 'utf8')) : ''
  const discard = () => rmSync(dir, { recursive: true, force: true })
  if (text === '') {
    discard()
    const why = status === 0 ? 'the message is empty' : `the editor ended with ${status ?? 'a signal'}`
    throw new MailboxError('invalid', `nothing was sent: ${why}`, {
      hint: 'write it with --body TEXT, or set EDITOR to another editor',
    })
  }
  process.once('exit', (code) => {
    if (code === 0) discard()
    else process.stderr.write(`Your text is kept in ${path}\n`)
  })
  return text
}

const textOf = (written: string): string => written.split(mark)[0]!.trim()
