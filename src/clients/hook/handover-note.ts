import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { listIfAny } from '../../base/files.ts'
import { identifyByProc, localProcess, processState, startTimeOf } from '../../base/process.ts'
import { nameToFile } from '../../model/name.ts'
import type { Mailbox } from '../../space/mailbox.ts'

/**
 * Mail is marked as shown before it is printed: two hooks that run at once must not both print it. Between
 * the two a hook can be killed, and then nobody has seen what is marked. So it first notes what it is about
 * to hand out, and removes the note when it has printed. The next hook that finds the note of one that is no
 * more puts that mail back among the unread.
 *
 * Killed before the mark: nothing has happened. Between mark and print: the mail comes again. Between print
 * and removal, a few microseconds: it comes twice, with the same id; that is preferred to losing it.
 */
const handingDir = (space: string): string => join(space, 'hooks', 'handing')

/** A name of a file has no dot in it. */
const prefixOf = (agent: string): string => `${nameToFile(agent)}.`

export class Handing {
  readonly #mailbox: Mailbox
  readonly #dir: string
  readonly #path: string
  #ids: readonly string[] = []

  constructor(space: string, mailbox: Mailbox) {
    this.#mailbox = mailbox
    this.#dir = handingDir(space)
    this.#path = join(
      this.#dir,
      `${prefixOf(mailbox.name)}${process.pid}.${startTimeOf(identifyByProc(process.pid))}`,
    )
  }

  /**
   * Before the mail is marked; and again behind that, with what was left to mark: another hook may have been
   * quicker with some of it, and has printed that.
   */
  note(ids: readonly string[]): void {
    if (ids.length === 0) {
      this.done()
      return
    }
    this.#ids = ids
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 })
    writeFileSync(this.#path, ids.join('\n'), { mode: 0o600 })
  }

  /** It is printed, or there was nothing to print. */
  done(): void {
    if (this.#ids.length > 0) rmSync(this.#path, { force: true })
    this.#ids = []
  }

  /** It could not be printed: nobody has seen it. */
  async undo(): Promise<void> {
    await putBack(this.#mailbox, this.#ids)
    this.done()
  }

  /** Whether anybody is handing something to this agent, or was when it died. */
  get isUnderWay(): boolean {
    return notesFor(this.#dir, this.#mailbox.name).length > 0
  }

  /** Sees to what hooks left that were killed. */
  async recover(): Promise<void> {
    for (const file of notesFor(this.#dir, this.#mailbox.name)) {
      const [pid, started] = file.slice(prefixOf(this.#mailbox.name).length).split('.')
      if (processState(localProcess(Number(pid), started ?? '')) !== 'gone') continue
      // Several may find it at once; whoever gets it under its own name sees to it.
      const own = `${this.#path}.again`
      if (!isRenamed(join(this.#dir, file), own)) continue
      await putBack(this.#mailbox, readFileSync(own, 'utf8').split('\n'))
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

function notesFor(dir: string, agent: string): string[] {
  return listIfAny(dir).filter((file) => file.startsWith(prefixOf(agent)))
}

/** Only what nobody has done anything with: an ack shows that it was seen after all. */
async function putBack(mailbox: Mailbox, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    try {
      const { receipts } = await mailbox.show(id)
      const isShown = receipts.some(
        ({ recipient, claimedBy, state }) => (claimedBy ?? recipient) === mailbox.name && state === 'shown',
      )
      if (isShown) await mailbox.release(id)
    } catch (error) {
      // It may be gone, or have been taken by somebody else, since.
      if (!(error instanceof MailboxError)) throw error
    }
  }
}
