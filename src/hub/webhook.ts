import { join } from 'node:path'
import { readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { backoffMs, pause } from '../base/timers.ts'
import { person } from '../model/agent.ts'
import { isWithinHours, nextTime } from '../model/hours.ts'
import type { Message } from '../model/message.ts'
import { isoTime } from '../model/time.ts'
import { postingOf } from '../space/posting.ts'
import type { DiskSpace } from '../space/space.ts'
import { hubDir, makeHubDir } from './hub-dir.ts'
import { post } from './webhook-post.ts'
import { digestShapes, type Shaped, webhookShapes } from './webhook-shapes.ts'
import { webhookSecret } from './webhook-signature.ts'

export interface WebhookOptions {
  url: string
  /** Called with what could not be delivered, and why. */
  onProblem: (problem: { id: string; reason: string; again: boolean }) => void
  /** The first pause after a failure. Each further one is twice as long. @default 1000 */
  pauseMs?: number
  /** How often to see whether the person's hours have begun, or a digest is due. @default 20_000 */
  lookMs?: number
  /** Where the person can open a message, or give an answer by its key; without one, all that waits for them. */
  linkTo?: (message?: Message, choice?: string) => string
}

const longestPauseMs = 5 * 60_000
/** A hub that was off for months says what happened in the last week. */
const longestDigestMs = 7 * 86_400_000

/** How far the webhook is, in `SPACE/hub/webhook.json`. */
interface Position {
  /** The last entry that was looked at. */
  seq: number
  /** The ids of mail that came outside the person's hours, and since when. */
  held: string[]
  heldSince?: string | undefined
  /** Up to when there was a digest. */
  digestAt: number
}

/**
 * Posts every message to the person to the webhook, in the shape of the setting, in order. The position is saved after
 * each, so a hub that was killed continues where it was: a receiver gets each message at least once and can tell repeats
 * by the id. Mail from before the first start is not posted. Outside the person's hours only urgent mail is; the rest is
 * when they begin. Resolves when it is stopped.
 */
export async function runWebhook(
  space: DiskSpace,
  options: WebhookOptions,
  signal: AbortSignal,
): Promise<void> {
  const webhook = new Webhook(space, options, signal)
  await webhook.begin()
  const timer = setInterval(() => void webhook.look(), options.lookMs ?? 20_000)
  try {
    await webhook.look()
    for await (const { entry } of space.follow({ after: webhook.seq, signal })) {
      // Imported mail is old.
      const isMail = entry.kind === 'message' && entry.originalAt === undefined
      const isForPerson = isMail && entry.message.to.includes(person)
      if (!(await webhook.take(entry.seq, isForPerson ? entry.message : undefined))) return
    }
  } finally {
    clearInterval(timer)
    await webhook.settled()
  }
}

class Webhook {
  readonly #space: DiskSpace
  readonly #options: WebhookOptions
  readonly #signal: AbortSignal
  readonly #file: string
  #at: Position = { seq: 0, held: [], digestAt: 0 }
  /** One thing at a time: what comes meanwhile waits. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(space: DiskSpace, options: WebhookOptions, signal: AbortSignal) {
    this.#space = space
    this.#options = options
    this.#signal = signal
    this.#file = join(hubDir(space.dir), 'webhook.json')
  }

  get seq(): number {
    return this.#at.seq
  }

  async begin(): Promise<void> {
    const known = readJsonIfAny<Partial<Position>>(this.#file) ?? {}
    const { seq, held, heldSince, digestAt } = known
    this.#at = {
      seq: Number.isSafeInteger(seq) ? seq! : await this.#space.lastSeq(),
      held: Array.isArray(held) ? held.filter((one) => typeof one === 'string') : [],
      ...(typeof heldSince === 'string' && { heldSince }),
      digestAt: typeof digestAt === 'number' ? digestAt : this.#space.now(),
    }
    makeHubDir(this.#space.dir)
    this.#save({})
  }

  #save(change: Partial<Position>): void {
    this.#at = { ...this.#at, ...change }
    writeFileAtomically(this.#file, JSON.stringify(this.#at))
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => {})
    return turn
  }

  /** Once what has begun is over. */
  settled = (): Promise<unknown> => this.#last

  get #isQuiet(): boolean {
    return !isWithinHours(this.#space.settings.hours, this.#space.now())
  }

  /** Takes an entry, with the message to the person that it is. False when it was stopped before. */
  take(seq: number, message: Message | undefined): Promise<boolean> {
    return this.#inTurn(async () => {
      if (message !== undefined && this.#isQuiet && message.priority !== 'urgent') {
        const { held, heldSince = isoTime(this.#space.now()) } = this.#at
        this.#save({ seq, held: [...held, message.id], heldSince })
        return true
      }
      const isOver = message === undefined || (await this.#postMessage(message.id))
      if (isOver) this.#save({ seq })
      return isOver
    })
  }

  /** Posts what has waited for the person's hours, and a digest that is due. */
  look = (): Promise<void> =>
    this.#inTurn(async () => {
      if (this.#at.held.length > 0 && !this.#isQuiet) await this.#postHeld()
      const { now, settings } = this.#space
      const due = nextTime(settings['webhook.digest'], this.#at.digestAt)
      if (due === undefined || due > now()) return
      const since = Math.max(this.#at.digestAt, now() - longestDigestMs)
      if (await this.#postDigest(isoTime(since))) this.#save({ digestAt: now() })
    }).catch((error: unknown) =>
      this.#options.onProblem({
        id: '',
        reason: error instanceof Error ? error.message : String(error),
        again: true,
      }),
    )

  /** A program gets each message; a person gets one notification for all of them, if anything is left to say. */
  async #postHeld(): Promise<void> {
    const { held, heldSince } = this.#at
    const isForProgram = this.#space.settings['webhook.shape'] === 'cloudevents'
    const waiting: string[] = []
    for (const id of held)
      if ((await postingOf(this.#space.core, id, !isForProgram)) !== undefined) waiting.push(id)
    if (isForProgram || waiting.length === 1) {
      for (const id of waiting) {
        if (!(await this.#postMessage(id))) return
        this.#save({ held: this.#at.held.filter((one) => one !== id) })
      }
    } else if (waiting.length > 1 && !(await this.#postDigest(heldSince!))) return
    this.#save({ held: [], heldSince: undefined })
  }

  async #postMessage(id: string): Promise<boolean> {
    const { core, id: spaceId, settings } = this.#space
    const posting = await postingOf(core, id, false)
    if (posting === undefined) return true
    const { linkTo = () => '' } = this.#options
    const { message, choices } = posting
    const link = linkTo(message)
    // What a sender suggests is text as well, and what is encrypted stays in the space.
    const isShown = ({ key }: { key: string }) => message.encrypted === undefined || !/^\d$/.test(key)
    const shown = choices.filter(isShown).map((choice) => ({ ...choice, link: linkTo(message, choice.key) }))
    const posted = { spaceId, message, link, choices: shown }
    return this.#post(id, webhookShapes[settings['webhook.shape']](posted, this.#options.url))
  }

  async #postDigest(since: string): Promise<boolean> {
    const { id: spaceId, settings } = this.#space
    const digest = await this.#space.digest({ since })
    const posted = { spaceId, digest, link: this.#options.linkTo?.() ?? '' }
    const id = `digest-${digest.since}`
    return this.#post(id, digestShapes[settings['webhook.shape']](posted, this.#options.url))
  }

  /** Tries until it is accepted, or refused for good. False when it was stopped before. */
  async #post(id: string, shaped: Shaped): Promise<boolean> {
    const { url, onProblem, pauseMs = 1_000 } = this.#options
    for (let retry = 0; !this.#signal.aborted; retry++) {
      // A request in progress is not cancelled: it would have to be posted again.
      const { reason, again } = await post({ url, ...shaped }, id, webhookSecret(this.#space.dir))
      if (reason === undefined) return true
      onProblem({ id, reason, again })
      if (!again) return true
      await pause(backoffMs(retry, pauseMs, longestPauseMs), this.#signal)
    }
    return false
  }
}
