import { once } from 'node:events'

/** As git has it: less leaves what fits on the screen, keeps colours, and does not clear the screen. */
const usual = 'if command -v less >/dev/null; then exec less; else exec cat; fi'
const environment = (): NodeJS.ProcessEnv => ({ LESS: 'FRX', LV: '-c', ...process.env })

/** The command that shows long output; undefined where it is printed as it is. */
function pagerCommand(): string | undefined {
  if (!process.stdout.isTTY || process.env['TERM'] === 'dumb') return undefined
  const command = process.env['MAILBOX_PAGER'] ?? process.env['PAGER'] ?? usual
  return command === '' || command === 'cat' ? undefined : command
}

/** Prints a text: through the pager if it is longer than the terminal. */
export function page(text: string): void {
  const command = fits(text) ? undefined : pagerCommand()
  if (command === undefined || !showIn(command, text)) process.stdout.write(text)
}

function fits(text: string): boolean {
  const { isTTY, rows, columns } = process.stdout
  if (!isTTY) return true
  let used = 0
  // Colours take no room.
  for (const line of text
    .trimEnd()
    .replace(/\x1b\[[\d;]*m/g, '')
    .split('\n')) {
    used += Math.max(1, Math.ceil(line.length / (columns || 80)))
    // The prompt of the shell takes a line.
    if (used >= (rows || 24)) return false
  }
  return true
}

/** Whether there was such a program. Ctrl-C is for the pager while it runs. */
function showIn(command: string, text: string): boolean {
  // Loaded when it is needed: it takes longer than some commands.
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const ignore = () => {}
  process.on('SIGINT', ignore)
  try {
    const { status } = spawnSync('sh', ['-c', command], {
      ...{ input: text, stdio: ['pipe', 'inherit', 'inherit'], env: environment() },
    })
    return status !== 126 && status !== 127
  } finally {
    process.off('SIGINT', ignore)
  }
}

export interface Pager {
  /** Whether anybody still reads. */
  write(text: string): Promise<boolean>
  end(): Promise<void>
}

/** The pager for output that is written as it is read; undefined where there is none. */
export function openPager(): Pager | undefined {
  const command = pagerCommand()
  if (command === undefined) return undefined
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn('sh', ['-c', command], {
    ...{ stdio: ['pipe', 'inherit', 'inherit'], env: environment() },
  })
  const ignore = () => {}
  process.on('SIGINT', ignore)
  const closed = once(child, 'close').finally(() => process.off('SIGINT', ignore))
  // Whoever quits the pager has seen enough.
  child.stdin.on('error', ignore)
  return {
    async write(text) {
      if (!child.stdin.write(text)) await Promise.race([once(child.stdin, 'drain').catch(ignore), closed])
      return child.stdin.writable
    },
    async end() {
      child.stdin.end()
      await closed
    },
  }
}
