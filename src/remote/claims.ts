import { MailboxError } from '../base/errors.ts'
import type { Claimed, ClaimNumber, Handled } from '../space/mailbox/api.ts'

/** The claims that a mailbox has made through its hub, by message: it acts with them and not with those of its namesakes. */
export class ClaimsMade {
  readonly #numbers = new Map<string, number>()
  /** The hub is from before claims had numbers, and takes none. */
  #areUnknown = false
  /** It acts for the agent, as several processes of one run do: what one of them has claimed another can finish. */
  readonly #isOfRun: boolean

  constructor({ isOfRun }: { isOfRun: boolean }) {
    this.#isOfRun = isOfRun
  }

  /** What says that no claim was made here yet. */
  get none(): ClaimNumber {
    return this.#isOfRun ? {} : { claimNumber: 0 }
  }

  /** The claim to act with: the one that was given, or else the newest that was made here. */
  with<Options extends ClaimNumber>(id: string, options: Options): Options & ClaimNumber {
    const known = this.#numbers.get(id)
    return known === undefined ? options : { claimNumber: known, ...options }
  }

  of = (id: string): number | undefined => this.#numbers.get(id)

  /** Mail that was taken for a role came with a claim. */
  taken<Mail extends ClaimNumber & { id: string }>(messages: readonly Mail[]): void {
    for (const { id, claimNumber } of messages) this.#note(id, claimNumber)
  }

  handled(handled: Handled): Handled {
    const { message, claimNumber } = handled
    this.#note(message.id, claimNumber)
    return handled
  }

  claimed({ message, claim }: Claimed): void {
    this.#note(message.id, claim.number)
  }

  /** What is finished stays so. */
  finished(handled: Handled): Handled {
    this.#numbers.delete(handled.message.id)
    return handled
  }

  /** An input as the hub understands it. */
  understood<Input extends object>(input: Input): Input {
    if (!this.#areUnknown || !('claimNumber' in input)) return input
    const { claimNumber: _, ...rest } = input
    return rest as unknown as Input
  }

  /** Whether the hub has refused an input for its number alone, which it gets no more then. */
  isRefused(error: unknown, input: object): boolean {
    if (this.#areUnknown || !('claimNumber' in input)) return false
    this.#areUnknown =
      error instanceof MailboxError &&
      error.code === 'invalid' &&
      error.message === 'unknown field: claimNumber'
    return this.#areUnknown
  }

  #note(id: string, number: number | undefined): void {
    if (number && !this.#isOfRun) this.#numbers.set(id, number)
  }
}
