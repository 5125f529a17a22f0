import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { promisify } from 'node:util'
import { readProcStat } from '../base/process.ts'

const run = promisify(execFile)

/** Programs that run others: the script is who is there. */
const interpreters = /^(python|node|nodejs|bun|ruby|perl|sh|bash|dash|zsh|ksh)[\d.]*$/

/**
 * The name of the program that a pane's terminal belongs to at this moment. tmux knows an interpreter only
 * as that: aider is `python3` to it, and so is a plain Python prompt.
 */
export async function foreground(panePid: number, seenByTmux: string): Promise<string> {
  try {
    const words = process.platform === 'linux' ? await fromProc(panePid) : await fromPs(panePid)
    return programOf(words) || seenByTmux
  } catch {
    // Another user's, another container's, or just gone.
    return seenByTmux
  }
}

async function fromProc(panePid: number): Promise<string[]> {
  const group = readProcStat(panePid)?.foregroundGroup
  const line = await readFile(`/proc/${group}/cmdline`, 'utf8')
  return line.split('\0').slice(0, -1)
}

async function fromPs(panePid: number): Promise<string[]> {
  const group = (await run('ps', ['-o', 'tpgid=', '-p', String(panePid)])).stdout.trim()
  return (await run('ps', ['-o', 'args=', '-p', group])).stdout.trim().split(/\s+/)
}

/** The program's name: without its folder, the dash of a login shell, and an ending. */
export function programOf(words: readonly string[]): string {
  const nameOf = (word: string) => basename(word).replace(/^-|\.exe$/g, '')
  const [first = '', ...rest] = words
  const name = nameOf(first)
  if (!interpreters.test(name)) return name
  // Its own options come first; what follows the script is the script's.
  const at = rest.findIndex((word) => !word.startsWith('-') || ['-m', '-c', '-e'].includes(word))
  const script = rest[at] === '-m' ? rest[at + 1] : rest[at]
  // A piece of code is no script, and without one it is the interpreter itself that asks.
  if (script === undefined || script.startsWith('-')) return name
  return nameOf(script).replace(/\.(py|[mc]?[jt]s|rb|pl|sh)$/, '')
}
