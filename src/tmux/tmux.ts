import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { MailboxError } from '../base/errors.ts'
import { continuedRows } from './screen.ts'
import type { PanePlace } from './store.ts'

/**
 * We start one short-lived tmux client per request. A control-mode client was tried: it is attached to one session,
 * shows up in `list-clients`, ends with that session, and cannot load a buffer from standard input. A short-lived
 * client takes 3 ms, holds nothing, and is needed only for panes that have mail waiting.
 *
 * The server runs one command at a time, and remembers the options of a pane as long as the pane exists. So a check
 * and what depends on it are one command list: nothing can happen between them, neither a key nor a mode change. The
 * same list records what was done, under the token of the attempt: after a watcher was killed, the next one reads
 * there what really happened instead of guessing from the screen.
 */
export interface PaneSnapshot {
  panePid: number
  isDead: boolean
  /** Copy mode or another mode: keys go to tmux, not to the program. */
  inMode: boolean
  /** Keys go to other panes too. */
  isSynchronized: boolean
  isInputOff: boolean
  cursor: { x: number; y: number; isHidden: boolean }
  /** The watcher that may type here, and the last attempts that were typed and entered. */
  epoch: string
  typed: string
  entered: string
  /** The program in the foreground, according to tmux. */
  command: string
  rows: string[]
  /** Whether a row continues the one above. */
  continued: boolean[]
}

/** What must still be true at the moment of typing. */
export interface TypeGuard {
  epoch: string
  look: Pick<PaneSnapshot, 'panePid' | 'command' | 'cursor'>
  /** Set to false where the program is busy and the cursor moves. */
  cursorStands: boolean
}

const facts = [
  ...['pane_pid', 'pane_dead', 'pane_in_mode', 'pane_synchronized', 'pane_input_off'],
  ...['cursor_x', 'cursor_y', 'cursor_flag', 'pane_width', 'pane_height'],
]
const notes = ['epoch', 'typed', 'entered'] as const
/** Numbers and our own words come first, the only foreign word last: no separator can be forged. */
const lookFormat = [
  ...facts.map((name) => `#{${name}}`),
  ...notes.map((name) => `x#{@mailbox-${name}}`),
  '#{pane_current_command}',
].join(' ')

/** How long tmux may take: a stopped server never answers. */
const patienceMs = 5_000

export class Tmux {
  readonly socket: string

  constructor(socket: string) {
    this.socket = socket
  }

  /** A pane and its screen at one moment; undefined without such a pane. Throws if the server cannot be reached. */
  async look(pane: string): Promise<PaneSnapshot | undefined> {
    const { code, stdout, stderr } = await this.#run([
      ...['display-message', '-p', '-t', pane, lookFormat, ';'],
      ...['capture-pane', '-p', '-t', pane, ';', 'capture-pane', '-p', '-J', '-t', pane],
    ])
    if (code !== 0 && stderr.includes("can't find")) return undefined
    if (code !== 0) throw unreachable(this.socket, stderr)
    const [first = '', ...lines] = stdout.split('\n')
    const words = first.split(' ')
    const numbers = words.slice(0, facts.length).map(Number)
    const [panePid, isDead, inMode, isSynchronized, isInputOff, x, y, flag, width, height] = numbers
    const [epoch, typed, entered] = words.slice(facts.length).map((word) => word.slice(1))
    if (numbers.some(Number.isNaN)) throw unreachable(this.socket, first)
    const rows = lines.slice(0, height)
    return {
      panePid: panePid!,
      isDead: isDead !== 0,
      inMode: inMode !== 0,
      isSynchronized: isSynchronized === 1,
      isInputOff: isInputOff === 1,
      cursor: { x: x!, y: y!, isHidden: flag === 0 },
      ...{ epoch: epoch!, typed: typed!, entered: entered! },
      command: words.slice(facts.length + notes.length).join(' '),
      rows,
      continued: continuedRows(rows, lines.slice(height), width!),
    }
  }

  /** From now on only the watcher with this epoch can type here, not an earlier one that is still ending. */
  async take(pane: string, epoch: string): Promise<void> {
    await this.#run(['set-option', '-p', '-t', pane, '@mailbox-epoch', epoch])
  }

  /** Pastes a file's text if nothing has changed. Nothing in the text can end the paste. */
  async paste(pane: string, token: string, file: string, guard: TypeGuard): Promise<boolean> {
    const buffer = `mailbox-${token}`
    // Bracketed if the program has asked for it (-p); line feeds are kept (-r).
    const doing = [
      `paste-buffer -d -p -r -b ${buffer} -t ${pane}`,
      `set-option -p -t ${pane} @mailbox-typed ${token}`,
    ]
    // The file is complete before tmux starts, so killing us cannot cut the text short.
    const input = openSync(file, 'r')
    try {
      return await this.#ifUnchanged(pane, guard, doing, { buffer, input })
    } finally {
      closeSync(input)
    }
  }

  /** Presses Enter under the same conditions. */
  async enter(pane: string, token: string, guard: TypeGuard): Promise<boolean> {
    const doing = [`send-keys -t ${pane} Enter`, `set-option -p -t ${pane} @mailbox-entered ${token}`]
    return this.#ifUnchanged(pane, guard, doing)
  }

  /** Deletes our text from a shell's command line where it was not entered. */
  async wipe(pane: string, guard: TypeGuard): Promise<boolean> {
    return this.#ifUnchanged(pane, guard, [`send-keys -t ${pane} C-u`])
  }

  async #ifUnchanged(
    pane: string,
    guard: TypeGuard,
    doing: readonly string[],
    paste?: { buffer: string; input: number },
  ): Promise<boolean> {
    const load = paste === undefined ? [] : ['load-buffer', '-b', paste.buffer, '-', ';']
    const done = [...doing, 'display-message -p done'].join(' ; ')
    const otherwise = paste === undefined ? 'display-message -p no' : `delete-buffer -b ${paste.buffer}`
    const check = ['if-shell', '-F', '-t', pane, conditionOf(guard), done, otherwise]
    const { code, stdout } = await this.#run([...load, ...check], paste?.input)
    return code === 0 && stdout.trim() === 'done'
  }

  /** Finds the pane for a number, a name or a position such as `work:1.0`. */
  async find(target: string): Promise<PanePlace> {
    const format = '#{pane_pid} #{pane_id} #{socket_path}'
    const { code, stdout, stderr } = await this.#run(['display-message', '-p', '-t', target, format])
    const [pid = '', pane = '', ...socket] = stdout.trim().split(' ')
    if (code === 0 && /^%\d+$/.test(pane)) return { socket: socket.join(' '), pane, panePid: Number(pid) }
    const said = stderr.trim() === '' ? '' : ` (${stderr.trim()})`
    const hint = `list panes with: tmux list-panes -a; use --socket for another server${said}`
    throw new MailboxError('not_found', `tmux has no pane ${JSON.stringify(target)}`, { hint })
  }

  async #run(args: readonly string[], input?: number) {
    // A name is looked up in tmux's own directory. -u: screens are UTF-8, whatever the locale.
    const where = this.socket === '' ? [] : [this.socket.includes('/') ? '-S' : '-L', this.socket]
    const child = spawn('tmux', ['-u', ...where, ...args], {
      stdio: [input ?? 'ignore', 'pipe', 'pipe'],
      timeout: patienceMs,
      killSignal: 'SIGKILL',
    })
    try {
      const ended = once(child, 'close') as Promise<[code: number | null]>
      const [[code], stdout, stderr] = await Promise.all([ended, text(child.stdout!), text(child.stderr!)])
      return { code: code ?? 1, stdout, stderr }
    } catch (cause) {
      const hint = 'install tmux 3.0 or later, or use --exec'
      throw new MailboxError('not_found', 'cannot start tmux', { hint, cause })
    }
  }
}

function unreachable(socket: string, said: string): MailboxError {
  const hint = said.trim() || 'is its server stopped?'
  return new MailboxError('timeout', `tmux does not respond at ${socket}`, { hint })
}

/** Names of programs that need no quoting in a condition. Nothing is typed into others. */
export const plainCommand = /^[\w.+-]{1,64}$/

function conditionOf({ epoch, look, cursorStands }: TypeGuard): string {
  const { panePid, command, cursor } = look
  const conditions = [
    ['@mailbox-epoch', epoch],
    ['pane_pid', panePid],
    ['pane_dead', 0],
    ['pane_in_mode', 0],
    ['pane_synchronized', 0],
    ['pane_input_off', 0],
    ['pane_current_command', command],
  ]
  if (cursorStands) conditions.push(['cursor_x', cursor.x], ['cursor_y', cursor.y])
  return conditions
    .map(([name, value]) => `#{==:#{${name}},${value}}`)
    .reduce((all, one) => `#{&&:${all},${one}}`)
}
