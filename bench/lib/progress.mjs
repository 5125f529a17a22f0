/** Where the run is: a bar on a terminal, plain lines elsewhere; always on stderr. */
const width = 28

export class Progress {
  #stream
  #bar
  #started = performance.now()
  #done = 0
  #total
  #section = ''
  #label = ''

  constructor(total, stream = process.stderr) {
    this.#total = total
    this.#stream = stream
    this.#bar = stream.isTTY === true
  }

  /** A measurement starts. */
  section(name) {
    this.#section = name
  }

  /** Steps that nobody knew of before. */
  expect(more) {
    this.#total += more
  }

  step(label) {
    this.#done++
    this.#show(label, true)
  }

  /** Says what happens without counting it. */
  note(label) {
    this.#show(label, false)
  }

  /** How far the present step is, from 0 to 1; only a bar shows it. */
  within(share) {
    if (this.#bar) this.#draw(`${this.#label} ${Math.round(share * 100)} %`)
  }

  end(text) {
    if (this.#bar) this.#stream.write('\r\x1b[K')
    this.#stream.write(`${text}\n`)
  }

  #show(label, counts) {
    this.#label = label
    if (this.#bar) return this.#draw(label)
    const seconds = ((performance.now() - this.#started) / 1_000).toFixed(0)
    const count = counts ? `${this.#done}/${Math.max(this.#total, this.#done)}` : '…'
    this.#stream.write(`[${seconds.padStart(4)} s ${count.padStart(8)}] ${this.#section}: ${label}\n`)
  }

  #draw(label) {
    const share = Math.min(1, this.#done / Math.max(1, this.#total))
    const full = Math.round(share * width)
    const bar = '█'.repeat(full) + '░'.repeat(width - full)
    const seconds = Math.round((performance.now() - this.#started) / 1_000)
    const room = (this.#stream.columns ?? 80) - width - 22
    const text = `${this.#section}: ${label}`.slice(0, Math.max(10, room))
    this.#stream.write(
      `\r\x1b[K${bar} ${String(Math.round(share * 100)).padStart(3)} % ${String(seconds).padStart(4)} s  ${text}`,
    )
  }
}
