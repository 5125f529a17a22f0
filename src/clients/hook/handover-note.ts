import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brief, type Moment } from '../../agent/briefing.ts'
import { MailboxError } from '../../base/errors.ts'
import { listIfAny } from '../../base/files.ts'
import { localProcess, processState } from '../../base/process.ts'
import { nameToFile } from '../../model/name.ts'
import type { Mailbox } from '../../space/mailbox/api.ts'
import { ownToken } from './process.ts'
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
  #ids: readonly string[] = []

  constructor({ space, mailbox }: HookContext) {
    this.#mailbox = mailbox
    this.#dir = join(space.dir, 'hooks', 'handing')
    this.#prefix = `${nameToFile(mailbox.name)}.`
    this.#path = join(this.#dir, `${this.#prefix}${ownToken()}`)
  }

  /**
   * Takes the mail for a moment and prints it. Returns false when there is nothing to say. If it cannot be printed,
   * the mail becomes unread again.
   */
  async showMail(moment: Moment, print: (text: string) => void, recall = false): Promise<boolean> {
    const onTake = (ids: readonly string[]) => this.#write(ids)
    const { text, ids } = await brief(this.#mailbox, moment, { recall, onTake })
    // Another hook may have been faster with some of it, and has printed that.
    this.#write(ids)
    if (text === '') return false
    try {
      print(text)
    } catch (error) {
      await makeUnread(this.#mailbox, this.#ids)
      this.#remove()
      throw error
    }
    this.#remove()
    return true
  }

  #write(ids: readonly string[]): void {
    if (ids.length === 0) return void this.#remove()
    this.#ids = ids
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 })
    writeFileSync(this.#path, ids.join('\n'), { mode: 0o600 })
  }

  #remove(): void {
    if (this.#ids.length > 0) rmSync(this.#path, { force: true })
    this.#ids = []
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
      const [pid, startTime = ''] = file.slice(this.#prefix.length).split('.')
      if (processState(localProcess(Number(pid), startTime)) !== 'gone') continue
      // Several hooks may find it at once; the one that can rename it takes care of it.
      const own = `${this.#path}.again`
      if (!isRenamed(join(this.#dir, file), own)) continue
      await makeUnread(this.#mailbox, readFileSync(own, 'utf8').split('\n'))
      rmSync(own, { force: true })
    }
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

/** Only mail that is still just shown: an ack proves that the agent has seen it after all. */
async function makeUnread(mailbox: Mailbox, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    try {
      const { receipts } = await mailbox.show(id)
      const isShown = receipts.some(
        ({ recipient, claimedBy, state }) => (claimedBy ?? recipient) === mailbox.name && state === 'shown',
      )
      if (isShown) await mailbox.release(id)
    } catch (error) {
      // It may have been removed, or taken by another agent, since then.
      if (!(error instanceof MailboxError)) throw error
    }
  }
}
