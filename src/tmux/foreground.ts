import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { readProcStat } from '../base/process.ts'

/** Programs that run scripts: the script's name is what counts. */
const interpreters = /^(python|node|nodejs|bun|ruby|perl|sh|bash|dash|zsh|ksh)[\d.]*$/

/**
 * The name of the program in the foreground of a pane. tmux only names the interpreter: both aider and a plain
 * Python prompt are `python3` to it.
 */
export async function foreground(panePid: number, seenByTmux: string): Promise<string> {
  try {
    const words = process.platform === 'linux' ? await fromProc(panePid) : await fromPs(panePid)
    return programOf(words) || seenByTmux
  } catch {
    // It belongs to another user or container, or has just ended.
    return seenByTmux
  }
}

async function fromProc(panePid: number): Promise<string[]> {
  const group = readProcStat(panePid)?.foregroundGroup
  const line = await readFile(`/proc/${group}/cmdline`, 'utf8')
  return line.split('\0').slice(0, -1)
}

async function fromPs(panePid: number): Promise<string[]> {
  const group = await psOf(panePid, 'tpgid=')
  return (await psOf(group, 'args=')).split(/\s+/)
}

/** What `ps` prints about a process. Rejects if there is none. */
export async function psOf(pid: number | string, column: string): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-o', column, '-p', String(pid)])
  return stdout.trim()
}

/** The program's name, without its directory, the dash of a login shell, and a file extension. */
export function programOf(words: readonly string[]): string {
  const nameOf = (word: string) => basename(word).replace(/^-|\.exe$/g, '')
  const [first = '', ...rest] = words
  const name = nameOf(first)
  if (!interpreters.test(name)) return name
  // Options of the interpreter precede the script, options of the script follow it.
  const at = rest.findIndex((word) => !word.startsWith('-') || ['-m', '-c', '-e'].includes(word))
  const script = rest[at] === '-m' ? rest[at + 1] : rest[at]
  // Inline code is not a script, and without a script it is the interpreter's own prompt.
  if (script === undefined || script.startsWith('-')) return name
  return nameOf(script).replace(/\.(py|[mc]?[jt]s|rb|pl|sh)$/, '')
}
