import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { MailboxError } from '../base/errors.ts'
import { continuedRows } from './screen.ts'
import type { PanePlace } from './store.ts'

/**
 * How we talk to tmux: one short client a question. A control-mode client was tried: it is a client that is
 * attached to one session, shows up in `list-clients`, ends with that session, and cannot be given a buffer
 * on its standard input. A short client takes 3 ms, holds nothing, and is asked only about panes that have
 * mail waiting.
 *
 * The server does one thing after another, and remembers options of a pane as long as that pane lives. So a
 * check and what hangs on it are one command list: between them nothing can happen, neither a key nor a
 * mode. And what was done is noted in the same list, under the token of the attempt: whoever comes after a
 * killed watcher reads there what really happened, instead of guessing from the screen.
 */
export interface Look {
  panePid: number
  isDead: boolean
  /** Copy mode or any other: keys go to tmux, not to the program. */
  inMode: boolean
  /** Keys go to other panes as well. */
  isSynchronized: boolean
  isInputOff: boolean
  cursor: { x: number; y: number; isHidden: boolean }
  /** Whose turn it is to type here, and the last attempts that were typed and entered. */
  epoch: string
  typed: string
  entered: string
  /** What tmux takes for the program in the foreground. */
  command: string
  rows: string[]
  /** Whether a row goes on where the one above had no more room. */
  continued: boolean[]
}

/** What must still be so at the moment of typing. */
export interface Guard {
  epoch: string
  look: Pick<Look, 'panePid' | 'command' | 'cursor'>
  /** Leave out where the program is busy and the cursor moves. */
  cursorStands: boolean
}

const facts = [
  ...['pane_pid', 'pane_dead', 'pane_in_mode', 'pane_synchronized', 'pane_input_off'],
  ...['cursor_x', 'cursor_y', 'cursor_flag', 'pane_width', 'pane_height'],
]
const notes = ['epoch', 'typed', 'entered'] as const
/** Numbers and words of ours first, the only foreign word last: no separator can be forged. */
const lookFormat = [
  ...facts.map((name) => `#{${name}}`),
  ...notes.map((name) => `x#{@mailbox-${name}}`),
  '#{pane_current_command}',
].join(' ')

/** How long tmux may take; a server that was stopped answers nobody. */
const patienceMs = 5_000

export class Tmux {
  readonly socket: string

  constructor(socket: string) {
    this.socket = socket
  }

  /**
   * A pane and its screen at one moment; undefined when there is no such pane. A server that cannot be
   * reached says nothing about its panes, and throws.
   */
  async look(pane: string): Promise<Look | undefined> {
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

  /** From now on only whoever knows this word types here: a predecessor that is not quite dead does not. */
  async take(pane: string, epoch: string): Promise<void> {
    await this.#run(['set-option', '-p', '-t', pane, '@mailbox-epoch', epoch])
  }

  /** Pastes a file's text if everything is still as it was. Nothing in it ends the paste (words.ts). */
  async paste(pane: string, token: string, file: string, guard: Guard): Promise<boolean> {
    const buffer = `mailbox-${token}`
    // Bracketed where the program has asked for it (-p); line feeds stay what they are (-r).
    const doing = [
      `paste-buffer -d -p -r -b ${buffer} -t ${pane}`,
      `set-option -p -t ${pane} @mailbox-typed ${token}`,
    ]
    // The text is complete in its file before tmux begins, so that nobody's death cuts it short.
    const input = openSync(file, 'r')
    try {
      return await this.#ifStill(pane, guard, doing, ['load-buffer', '-b', buffer, '-', ';'], buffer, input)
    } finally {
      closeSync(input)
    }
  }

  /** Presses Enter under the same conditions. */
  async enter(pane: string, token: string, guard: Guard): Promise<boolean> {
    const doing = [`send-keys -t ${pane} Enter`, `set-option -p -t ${pane} @mailbox-entered ${token}`]
    return this.#ifStill(pane, guard, doing)
  }

  /** Takes our own text off a line that a shell has come to hold, unread and not entered. */
  async wipe(pane: string, guard: Guard): Promise<boolean> {
    return this.#ifStill(pane, guard, [`send-keys -t ${pane} C-u`])
  }

  async #ifStill(
    pane: string,
    guard: Guard,
    doing: readonly string[],
    before: readonly string[] = [],
    buffer?: string,
    input?: number,
  ): Promise<boolean> {
    const otherwise = buffer === undefined ? ['display-message -p no'] : [`delete-buffer -b ${buffer}`]
    const { code, stdout } = await this.#run(
      [
        ...before,
        ...['if-shell', '-F', '-t', pane, conditionOf(guard)],
        [...doing, 'display-message -p done'].join(' ; '),
        otherwise.join(' ; '),
      ],
      input,
    )
    return code === 0 && stdout.trim() === 'done'
  }

  /** Finds the pane that somebody means by a number, a name or a place such as `work:1.0`. */
  async find(target: string): Promise<PanePlace> {
    const format = '#{pane_pid} #{pane_id} #{socket_path}'
    const { code, stdout, stderr } = await this.#run(['display-message', '-p', '-t', target, format])
    const [pid = '', pane = '', ...socket] = stdout.trim().split(' ')
    if (code === 0 && /^%\d+$/.test(pane)) return { socket: socket.join(' '), pane, panePid: Number(pid) }
    throw new MailboxError('not_found', `tmux has no pane ${JSON.stringify(target)}`, {
      hint: `see tmux list-panes -a, and --socket for another server${stderr.trim() === '' ? '' : ` (${stderr.trim()})`}`,
    })
  }

  #run(args: readonly string[], input?: number): Promise<{ code: number; stdout: string; stderr: string }> {
    // A name is one of tmux's own directory; -u: screens are UTF-8 whatever the locale here is.
    const where = this.socket === '' ? [] : [this.socket.includes('/') ? '-S' : '-L', this.socket]
    return new Promise((resolve, reject) => {
      const child = spawn('tmux', ['-u', ...where, ...args], { stdio: [input ?? 'ignore', 'pipe', 'pipe'] })
      const said = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
      const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs)
      child.stdout!.on('data', (data: Buffer) => said.stdout.push(data))
      child.stderr!.on('data', (data: Buffer) => said.stderr.push(data))
      child.once('error', (cause) => {
        clearTimeout(timer)
        reject(noTmux(cause))
      })
      child.once('close', (code) => {
        clearTimeout(timer)
        const text = (parts: Buffer[]) => Buffer.concat(parts).toString()
        resolve({ code: code ?? 1, stdout: text(said.stdout), stderr: text(said.stderr) })
      })
    })
  }
}

const unreachable = (socket: string, said: string) =>
  new MailboxError('timeout', `tmux does not answer at ${socket}`, {
    hint: said.trim() || 'is its server stopped?',
  })

const noTmux = (cause: unknown) =>
  new MailboxError('not_found', 'tmux cannot be started', {
    hint: 'install tmux 3.0 or later, or use --exec',
    cause,
  })

/** Programs whose names need no quoting in a condition; nothing is typed into others. */
export const plainCommand = /^[\w.+-]{1,64}$/

function conditionOf({ epoch, look, cursorStands }: Guard): string {
  const { panePid, command, cursor } = look
  const conditions = [
    ['@mailbox-epoch', epoch],
    ['pane_pid', panePid],
    ['pane_dead', 0],
    ['pane_in_mode', 0],
    ['pane_synchronized', 0],
    ['pane_input_off', 0],
    ['pane_current_command', command],
    ...(cursorStands
      ? [
          ['cursor_x', cursor.x],
          ['cursor_y', cursor.y],
        ]
      : []),
  ].map(([name, value]) => `#{==:#{${name}},${value}}`)
  return conditions.reduce((all, one) => `#{&&:${all},${one}}`)
}
