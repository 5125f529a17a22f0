import type { WatchBell } from './watched.ts'

/** Remembers a ring that came while nobody was waiting. */
export class Ring implements WatchBell {
  #isRung = false
  #wake = () => {}

  ring(): void {
    this.#isRung = true
    this.#wake()
  }

  reset(): void {
    this.#isRung = false
  }

  async rung(ms: number): Promise<void> {
    if (this.#isRung) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = () => {}
  }

  close(): void {}
}
