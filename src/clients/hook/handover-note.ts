import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BriefOptions, brief, type Moment } from '../../agent/briefing.ts'
import { MailboxError } from '../../base/errors.ts'
import { listIfAny } from '../../base/files.ts'
import { given } from '../../base/objects.ts'
import { nameToFile } from '../../model/name.ts'
import type { ClaimNumber, Mailbox } from '../../space/mailbox/api.ts'
import { isRunning, ownToken } from './process.ts'
import type { HookContext } from './respond.ts'

/**
 * Mail is marked as shown before it is printed, so that two hooks that run at once do not both print it. A hook that
 * is killed in between has marked mail that nobody has seen. So it first writes a note of what it is about to hand
 * over, and removes the note after printing. The next hook that finds the note of a process that is gone makes that
 * mail unread again.
 *
 * Killed before the mark: nothing has happened. Between mark and print: the mail is shown again. Between print and
 * removal, a few microseconds: it is shown twice, with the same id; that is better than losing it.
 */
export class HandoverNote {
  readonly #mailbox: Mailbox
  readonly #dir: string
  /** A file name made from an agent's name contains no dot. */
  readonly #prefix: string
  readonly #path: string
  #taken: readonly Taken[] = []

  constructor({ space, mailbox }: HookContext) {
    this.#mailbox = mailbox
    this.#dir = join(space.stateDir, 'hooks', 'handing')
    this.#prefix = `${nameToFile(mailbox.name)}.`
    this.#path = join(this.#dir, `${this.#prefix}${ownToken()}`)
  }

  /**
   * Takes the mail for a moment and prints it. Returns false when there is nothing to say. If it cannot be printed,
   * the mail becomes unread again.
   */
  async showMail(
    moment: Moment,
    print: (text: string) => void,
    options: Pick<BriefOptions, 'recall' | 'killedSince'> = {},
  ): Promise<boolean> {
    const onTake = (ids: readonly string[]) => this.#write(ids.map((id) => ({ id })))
    const { text, ids, claims } = await brief(this.#mailbox, moment, { ...options, onTake })
    // Another hook may have been faster with some of it, and has printed that.
    this.#write(ids.map((id) => ({ id, ...given({ claimNumber: claims.get(id) }) })))
    if (text === '') return false
    try {
      print(text)
    } catch (error) {
      await makeUnread(this.#mailbox, this.#taken)
      this.#remove()
      throw error
    }
    this.#remove()
    return true
  }

  #write(taken: readonly Taken[]): void {
    if (taken.length === 0) return void this.#remove()
    this.#taken = taken
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 })
    const lines = taken.map(({ id, claimNumber = '' }) => `${id} ${claimNumber}`.trimEnd())
    writeFileSync(this.#path, lines.join('\n'), { mode: 0o600 })
  }

  #remove(): void {
    if (this.#taken.length > 0) rmSync(this.#path, { force: true })
    this.#taken = []
  }

  /** Whether any process is handing mail over to this agent, or was when it died. */
  get isUnderWay(): boolean {
    return this.#notes().length > 0
  }

  #notes(): string[] {
    return listIfAny(this.#dir).filter((file) => file.startsWith(this.#prefix))
  }

  /** Makes mail unread again that killed hooks have marked and not printed. */
  async recover(): Promise<void> {
    for (const file of this.#notes()) {
      if (isRunning(file.slice(this.#prefix.length))) continue
      // Several hooks may find it at once; the one that can rename it takes care of it.
      const own = `${this.#path}.again`
      if (!isRenamed(join(this.#dir, file), own)) continue
      await makeUnread(this.#mailbox, takenIn(own))
      rmSync(own, { force: true })
    }
  }

  /** Whether this process has begun to hand mail over before, and has not ended it. */
  get isLeft(): boolean {
    return existsSync(this.#path)
  }

  /** Makes unread again what this process may have taken, and has not printed. */
  async takeBack(): Promise<void> {
    await makeUnread(this.#mailbox, takenIn(this.#path))
    rmSync(this.#path, { force: true })
  }
}

function isRenamed(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return false
  }
}

/** Mail that a hook has taken, or was about to take: then nothing is known yet of a claim. */
interface Taken extends ClaimNumber {
  id: string
}

const takenIn = (note: string): Taken[] =>
  readFileSync(note, 'utf8')
    .split('\n')
    .map((line) => {
      const [id = '', number] = line.split(' ')
      return number === undefined ? { id } : { id, claimNumber: Number(number) }
    })

/**
 * Only mail that is still just shown: an ack proves that the agent has seen it after all. And only by the claim that
 * the hook had: another process of the agent may have a newer one.
 */
async function makeUnread(mailbox: Mailbox, taken: readonly Taken[]): Promise<void> {
  for (const { id, ...claim } of taken) {
    try {
      const { receipts } = await mailbox.show(id)
      const isShown = receipts.some(
        ({ recipient, claimedBy, state }) => (claimedBy ?? recipient) === mailbox.name && state === 'shown',
      )
      if (isShown) await mailbox.release(id, claim)
    } catch (error) {
      // It may have been removed, or taken by another agent, since then.
      if (!(error instanceof MailboxError)) throw error
    }
  }
}
