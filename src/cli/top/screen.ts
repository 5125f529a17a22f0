import { keysIn } from './keys.ts'

const esc = String.fromCharCode(27)
/** The other screen of the terminal, without a cursor and without wrapping; what was on it is back afterwards. */
const enterScreen = `${esc}[?1049h${esc}[?25l${esc}[?7l`
const leaveScreen = `${esc}[?7h${esc}[?25h${esc}[?1049l`
const home = `${esc}[H`
const toLineEnd = `${esc}[K`
const toScreenEnd = `${esc}[J`

export interface Size {
  width: number
  height: number
}

/** A terminal that shows lines and sends keys, and is as it was before whatever ends the program. */
export class Screen {
  readonly #onKey: (key: string) => void
  readonly #onResize: () => void
  #drawn = ''
  #isOpen = false

  constructor({ onKey, onResize }: { onKey: (key: string) => void; onResize: () => void }) {
    this.#onKey = onKey
    this.#onResize = onResize
  }

  get size(): Size {
    const { columns, rows } = process.stdout
    return { width: Math.max(20, columns || 80), height: Math.max(5, rows || 24) }
  }

  open(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    process.stdin.setRawMode(true)
    process.stdin.setEncoding('utf8')
    process.stdin.on('data', this.#read)
    process.stdin.resume()
    process.stdout.write(enterScreen)
    process.stdout.on('resize', this.#resized)
    process.on('exit', this.close)
  }

  readonly close = (): void => {
    if (!this.#isOpen) return
    this.#isOpen = false
    process.off('exit', this.close)
    process.stdout.off('resize', this.#resized)
    process.stdin.off('data', this.#read)
    process.stdin.pause()
    process.stdin.setRawMode(false)
    process.stdout.write(leaveScreen)
    this.#drawn = ''
  }

  /** Shows the lines, if they are not there already. */
  show(lines: readonly string[]): void {
    const { height } = this.size
    const text = lines
      .slice(0, height)
      // Erased first: afterwards, the cursor of a full line stands on its last character.
      .map((line) => `${toLineEnd}${line}`)
      .join('\r\n')
    if (!this.#isOpen || text === this.#drawn) return
    this.#drawn = text
    process.stdout.write(`${home}${text}${toScreenEnd}`)
  }

  redraw(lines: readonly string[]): void {
    this.#drawn = ''
    this.show(lines)
  }

  /** Ctrl-Z: gives the terminal back to the shell until the program is continued. */
  suspend(): void {
    this.close()
    process.once('SIGCONT', () => {
      this.open()
      this.#onResize()
    })
    process.kill(process.pid, 'SIGTSTP')
  }

  readonly #read = (sent: string): void => {
    for (const key of keysIn(sent)) this.#onKey(key)
  }

  readonly #resized = (): void => {
    this.#drawn = ''
    this.#onResize()
  }
}
