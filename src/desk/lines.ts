/** No message is that long. */
const longestLine = 256 * 1_048_576

/** Puts lines together from what a socket delivers. */
export class LineReader {
  #rest: string[] = []
  #length = 0

  /** The lines that are complete now. Throws when one is longer than any can be. */
  push(chunk: string): string[] {
    let end = chunk.lastIndexOf('\n')
    if (end < 0) {
      this.#rest.push(chunk)
      this.#length += chunk.length
      if (this.#length > longestLine) throw new Error('the line is too long')
      return []
    }
    const whole = this.#rest.join('') + chunk.slice(0, end)
    this.#rest = end + 1 < chunk.length ? [chunk.slice(end + 1)] : []
    this.#length = this.#rest[0]?.length ?? 0
    end = whole.indexOf('\n')
    return end < 0 ? [whole] : whole.split('\n')
  }
}
