import type { SummedEntry } from '../journal/journal.ts'
import type { MessageEntry } from '../model/entry.ts'
import { signerIn } from '../model/signature.ts'

const kept = 20_000

/**
 * Who signed the messages that this process has read, by the checksums of their lines. A signature is of what its line
 * says and nothing else, and every line is compared with its checksum whenever it is read. So a line that has changed
 * since has another checksum, and is checked again. Whether that key counts is for the index to say, which knows the
 * keys of each sender: it can change.
 */
export class Signers {
  readonly #bySum = new Map<string, string | undefined>()

  of({ entry, sum }: SummedEntry<MessageEntry>, space: string): string | undefined {
    const known = this.#bySum.get(sum)
    if (known !== undefined || this.#bySum.has(sum)) return known
    const signer = signerIn(entry, space)
    if (this.#bySum.size >= kept) this.#bySum.clear()
    this.#bySum.set(sum, signer)
    return signer
  }
}
