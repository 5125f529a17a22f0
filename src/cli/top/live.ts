import { once } from 'node:events'
import { toPrintableLine } from '../../model/text.ts'
import type { Need } from '../../query/needs.ts'
import type { OpenedSpace } from '../../space/api.ts'
import type { Mailbox } from '../../space/mailbox/api.ts'
import { isForPerson } from '../../space/survey.ts'
import type { Cli } from '../cli.ts'
import { translate } from '../exit.ts'
import { subjectIn } from '../format/foreign.ts'
import { messageBlock } from '../format/message.ts'
import { truncate, wrap } from '../format/table.ts'
import { answer, approval, completion, Decisions, rejection } from './decisions.ts'
import { draw } from './draw.ts'
import { Screen } from './screen.ts'
import { choicesFor, type Snapshot, takeSnapshot } from './snapshot.ts'

/** States of agents and ages change without an entry. */
const refreshMs = 1_000

/** A line that is being typed. */
interface Prompt {
  label: string
  text: string
  submit: (text: string) => void
}

/** Shows a space until whoever looks at it quits, or the signal ends it. */
export class Live {
  readonly #cli: Cli
  readonly #space: OpenedSpace
  readonly #screen: Screen
  readonly #decisions: Decisions
  readonly #quit = new AbortController()
  #snapshot: Snapshot
  #selected: string | undefined
  /** The message that is open, and its first visible line. */
  #opened: { need: Need; top: number } | undefined
  #prompt: Prompt | undefined
  #status = ''
  #isStale = false
  wasInterrupted = false

  constructor(cli: Cli, space: OpenedSpace, mailbox: Mailbox, first: Snapshot) {
    this.#cli = cli
    this.#space = space
    this.#snapshot = first
    this.#selected = first.needs[0]?.message.id
    this.#screen = new Screen({ onKey: (key) => this.#press(key), onResize: () => this.#show() })
    this.#decisions = new Decisions(mailbox, (problem) => {
      if (problem !== undefined) this.#status = `error: ${toPrintableLine(translate(problem).message)}`
      this.#isStale = true
      this.#show()
    })
  }

  async run(signal: AbortSignal): Promise<void> {
    const ended = AbortSignal.any([signal, this.#quit.signal])
    this.#screen.open()
    try {
      this.#show()
      await Promise.all([this.#follow(ended), this.#refresh(ended)])
    } finally {
      this.#screen.close()
      await this.#decisions.end()
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const after = await this.#space.lastSeq()
    for await (const _ of this.#space.follow({ after, signal })) this.#isStale = true
  }

  /** What has changed is on the screen soon; everything else within a second. */
  async #refresh(signal: AbortSignal): Promise<void> {
    const timer = setInterval(() => void this.#look().catch(() => {}), refreshMs)
    const soon = setInterval(() => void (this.#isStale && this.#look().catch(() => {})), refreshMs / 8)
    if (!signal.aborted) await once(signal, 'abort')
    for (const one of [timer, soon]) clearInterval(one)
  }

  #looking = false
  async #look(): Promise<void> {
    if (this.#looking) return
    this.#looking = true
    this.#isStale = false
    try {
      this.#snapshot = await takeSnapshot(this.#space, this.#cli.actor)
      this.#show()
    } finally {
      this.#looking = false
    }
  }

  get #needs(): Need[] {
    return this.#snapshot.needs.filter(({ message }) => !this.#decisions.decided.has(message.id))
  }

  #current(): Need | undefined {
    if (this.#opened !== undefined) return this.#opened.need
    const needs = this.#needs
    return needs.find(({ message }) => message.id === this.#selected) ?? needs[0]
  }

  #show(): void {
    this.#screen.show(this.#lines())
  }

  #lines(): string[] {
    const { width, height } = this.#screen.size
    const cli = { ...this.#cli, width, now: this.#space.now() }
    const room = height - 1
    this.#selected = this.#current()?.message.id
    const body =
      this.#opened === undefined
        ? draw(cli, { ...this.#snapshot, needs: this.#needs }, { selected: this.#selected, height: room })
        : this.#messageLines(cli, this.#opened, room)
    const padding = Array.from({ length: Math.max(0, room - body.length) }, () => '')
    return [...body.slice(0, room), ...padding, this.#footer(width)]
  }

  #messageLines(cli: Cli, opened: { need: Need; top: number }, room: number): string[] {
    const lines = messageBlock(cli, opened.need.message)
      .split('\n')
      // Colours are only in the head, which is wrapped already.
      .flatMap((line) => (line.includes('\x1b') ? [line] : wrap(line, cli.width)))
    opened.top = Math.max(0, Math.min(opened.top, lines.length - room))
    return lines.slice(opened.top, opened.top + room)
  }

  #footer(width: number): string {
    const { colors } = this.#cli
    if (this.#prompt !== undefined) {
      const { label, text } = this.#prompt
      const room = Math.max(8, width - label.length - 3)
      // The end of what is typed stays in sight.
      return `${colors.bold(label)} ${text.length > room ? `…${text.slice(1 - room)}` : text}_`
    }
    if (this.#status !== '') return truncate(this.#status, width)
    const need = this.#current()
    const { yes, no } = need === undefined ? {} : choicesFor(need)
    const keys = [
      ...(this.#opened === undefined ? (need === undefined ? [] : ['Enter open']) : ['Esc back']),
      ...(yes === undefined ? [] : [`a ${yes === 'ack' ? 'acknowledge' : yes.button!.label.toLowerCase()}`]),
      ...(no === undefined ? [] : [`x ${no.button!.label.toLowerCase()}`]),
      ...(need === undefined ? [] : ['r answer', 'e done']),
      'q quit',
    ]
    return colors.dim(truncate(keys.join(' · '), width))
  }

  #press(key: string): void {
    this.#status = ''
    if (key === 'interrupt' || (key === 'q' && this.#prompt === undefined)) {
      this.wasInterrupted = key === 'interrupt'
      this.#quit.abort()
    } else if (key === 'suspend') this.#screen.suspend()
    else if (key === 'redraw') this.#screen.redraw(this.#lines())
    else if (this.#prompt !== undefined) this.#type(this.#prompt, key)
    else if (key === 'z') this.#undo()
    else if (this.#opened !== undefined) this.#pressInMessage(this.#opened, key)
    else this.#pressInList(key)
    this.#show()
  }

  #pressInList(key: string): void {
    const needs = this.#needs
    const at = needs.findIndex(({ message }) => message.id === this.#selected)
    const page = Math.max(1, Math.floor(this.#screen.size.height / 2))
    const steps: Record<string, number> = {
      ...{ down: 1, j: 1, up: -1, k: -1, 'page-down': page, 'page-up': -page },
      ...{ home: -needs.length, g: -needs.length, end: needs.length, G: needs.length },
    }
    const step = steps[key]
    if (step !== undefined)
      this.#selected = needs[Math.max(0, Math.min(needs.length - 1, at + step))]?.message.id
    else if (key === 'enter') {
      const need = this.#current()
      if (need !== undefined) this.#opened = { need, top: 0 }
    } else this.#decide(key)
  }

  #pressInMessage(opened: { need: Need; top: number }, key: string): void {
    const page = Math.max(1, this.#screen.size.height - 2)
    const steps: Record<string, number> = {
      ...{
        down: 1,
        j: 1,
        up: -1,
        k: -1,
        'page-down': page,
        ' ': page,
        'page-up': -page,
        home: -1e9,
        end: 1e9,
      },
    }
    if (key === 'escape' || key === 'backspace' || key === 'h') this.#opened = undefined
    else if (steps[key] !== undefined) opened.top += steps[key]
    else this.#decide(key)
  }

  #decide(key: string): void {
    const need = this.#current()
    if (need === undefined) return
    const { yes, no } = choicesFor(need)
    const title = subjectIn(this.#cli, need.message)
    const decide = (decision: ReturnType<typeof answer>) => {
      this.#moveOn(need)
      this.#decisions.add(decision)
      this.#status = `${decision.done}: ${toPrintableLine(title)} · z undoes`
    }
    if (key === 'a' && yes !== undefined) decide(approval(need, yes))
    else if (key === 'x' && no !== undefined)
      this.#ask(`${no.button!.label}: ${no.button!.asks}`, (why) => decide(rejection(need, no, why)))
    else if (key === 'r') this.#ask(`Answer ${need.message.from}:`, (text) => decide(answer(need, text)))
    else if (key === 'e') decide(completion(need))
    else if (key === 'a' || key === 'x')
      this.#status = isForPerson(need)
        ? 'this asks for an answer in words: r answers it'
        : 'nothing to decide here: e marks it as done'
  }

  /** The next one is selected, and closes what is open. */
  #moveOn(need: Need): void {
    const needs = this.#needs
    const at = needs.findIndex(({ message }) => message.id === need.message.id)
    this.#selected = (needs[at + 1] ?? needs[at - 1])?.message.id
    this.#opened = undefined
  }

  #undo(): void {
    const id = this.#decisions.undo()
    this.#status = id === undefined ? 'nothing to undo' : 'taken back'
    if (id !== undefined) this.#selected = id
  }

  #ask(label: string, submit: (text: string) => void): void {
    this.#prompt = { label, text: '', submit }
  }

  #type(prompt: Prompt, key: string): void {
    if (key === 'escape') this.#prompt = undefined
    else if (key === 'clear') prompt.text = ''
    else if (key === 'backspace') prompt.text = [...prompt.text].slice(0, -1).join('')
    else if (key === 'enter') {
      const text = prompt.text.trim()
      this.#prompt = undefined
      if (text === '') this.#status = 'nothing was sent: it needs a text'
      else prompt.submit(text)
    } else if ([...key].length === 1) prompt.text += key
  }
}
