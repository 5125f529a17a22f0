import type { MailboxError } from '../../base/errors.ts'
import { Mirror } from './mirror.ts'
import { type Durability, SegmentFile, type WriteOutcome } from './segment-file.ts'

/** A segment file with a copy in a mirror: what is written is written to both, what is confirmed is confirmed in both. */
class MirroredFile extends SegmentFile {
  readonly #mirror: Mirror

  constructor(dir: string, durability: Durability, mirror: Mirror) {
    super(dir, durability)
    this.#mirror = mirror
  }

  override write(buffer: Buffer): WriteOutcome {
    const outcome = super.write(buffer)
    // Otherwise what is left of it is copied when the rest has been taken back.
    if (outcome.error === undefined) this.#mirror.follow(this.segment, buffer)
    return outcome
  }

  override truncate(bytes: number): void {
    super.truncate(bytes)
    this.#mirror.follow(this.segment)
  }

  override syncNow(): void {
    super.syncNow()
    this.#mirror.syncNow()
  }

  /** The mirror's failure is not the caller's: the journal has what was confirmed. */
  override sync(alone: boolean, done: (error?: MailboxError) => void): void {
    let outcome: { error?: MailboxError } | undefined
    let isMirrored = false
    const finish = () => {
      if (outcome !== undefined && isMirrored) done(outcome.error)
    }
    this.#mirror.sync(() => {
      isMirrored = true
      finish()
    })
    super.sync(alone, (error) => {
      outcome = error === undefined ? {} : { error }
      finish()
    })
  }

  override close(): void {
    super.close()
    this.#mirror.close()
  }
}

/** The file that a writer appends to, with a copy if the settings ask for one. */
export function fileIn(
  dir: string,
  { mirror, space, durability }: { mirror?: string | undefined; space: string; durability: Durability },
): SegmentFile {
  if (mirror === undefined) return new SegmentFile(dir, durability)
  return new MirroredFile(dir, durability, new Mirror(dir, mirror, space, durability))
}
