import { signal } from '@preact/signals'
import { toPath } from '../../../src/api/operation.ts'
import { fieldsOf } from '../../../src/conversation/field.ts'
import {
  actionsFor,
  matterOf,
  type NamedAction,
  replyTypeFor,
  typeOf,
} from '../../../src/conversation/registry.ts'
import { titleOf } from '../../../src/conversation/words.ts'
import type { Owed, StoredMessage } from '../data/types.ts'
import { newKey } from '../lib/drafts.ts'
import { line, plural, subjectOf } from '../lib/text.ts'
import { fullTime } from '../lib/time.ts'
import { decide, type Request } from './deferred.ts'
import { needsYou, openMatters } from './matters.ts'

const most = 9

/** What the person can do about a message. */
export interface Choices {
  /** Says yes: approves, accepts or acknowledges. */
  approve?: NamedAction | 'ack'
  /** Says no, with a reason. */
  reject?: NamedAction
  /** A reply settles it. */
  isAnswered: boolean
  /** Answers that the sender suggests. */
  options: string[]
}

type Open = Pick<Owed, 'kind' | 'by'>
const isOwn = ({ by }: Open): boolean => by === 'user'

/** What the list of needs says of a message, while the list of what is owed is not as new. */
function openByNeed({ id, type }: StoredMessage): Open[] {
  const need = needsYou.data.value?.find(({ message }) => message.id === id)
  if (need === undefined || need.kind === 'mail' || need.kind === 'notice') return []
  const kind = need.kind === 'ack' ? 'ack' : ((typeOf(type)?.opens ?? 'question') as Owed['kind'])
  return [{ kind, by: 'user' }]
}

export function choicesFor(message: StoredMessage): Choices {
  const open: Open[] = openMatters.value.get(message.id) ?? openByNeed(message)
  const actions = open.some(({ kind }) => kind === typeOf(message.type)?.opens)
    ? actionsFor(message.type)
    : []
  const yes = actions.find(({ button }) => button !== undefined && !button.asks)
  const no = actions.find(({ button }) => button?.asks !== undefined)
  const mustAck = open.some((one) => one.kind === 'ack' && isOwn(one))
  const approve = yes ?? (mustAck ? 'ack' : undefined)
  const { options } = fieldsOf(message.payload)
  return {
    ...(approve !== undefined && { approve }),
    ...(no !== undefined && { reject: no }),
    isAnswered: open.some(({ kind }) => matterOf(kind)?.byReply !== undefined),
    options: Array.isArray(options)
      ? options.filter((one): one is string => typeof one === 'string' && one.trim() !== '').slice(0, most)
      : [],
  }
}

export const nameOf = (action: NamedAction | 'ack'): string =>
  action === 'ack' ? 'Acknowledge' : action.button!.label

const requestFor = (message: StoredMessage, action: NamedAction | 'ack', why = ''): Request =>
  action === 'ack'
    ? { operation: 'ack', input: { id: message.id } }
    : {
        operation: toPath(action.name),
        input: { id: message.id, ...(action.reason && why !== '' && { [action.reason.field]: why }) },
      }

const about = (messages: readonly StoredMessage[], one: string, many: string): string =>
  messages.length === 1
    ? `${one}: ${subjectOf(titleOf(messages[0]!))}`
    : `${plural(messages.length, 'message')}: ${many}`

type OnUndo = (() => void) | undefined
const withUndo = (onUndo: OnUndo) => (onUndo === undefined ? {} : { onUndo })

/** Says yes or no to messages. Those that cannot be answered like that are left alone. */
export function answerWith(
  messages: readonly StoredMessage[],
  which: 'approve' | 'reject',
  why = '',
  onUndo?: OnUndo,
): boolean {
  const chosen = messages.flatMap((message) => {
    const action = choicesFor(message)[which]
    return action === undefined ? [] : [{ message, action }]
  })
  if (chosen.length === 0) return false
  const [first] = chosen
  const done = first!.action === 'ack' ? 'Acknowledged' : (first!.action.button?.done ?? 'Answered')
  decide({
    text: about(
      chosen.map(({ message }) => message),
      done,
      which === 'approve' ? 'approved' : 'rejected',
    ),
    ids: chosen.map(({ message }) => message.id),
    requests: chosen.map(({ message, action }) => requestFor(message, action, why)),
    ...withUndo(onUndo),
  })
  return true
}

export function reply(
  message: StoredMessage,
  body: string,
  onUndo?: OnUndo,
  onRefused: () => void = () => {},
): void {
  const type = replyTypeFor(message.type)
  decide({
    text: `Answered ${line(message.from)}: ${line(body).slice(0, 60)}`,
    ids: [message.id],
    requests: [
      {
        operation: 'reply',
        input: { id: message.id, body, key: newKey(), ...(type && { type, payload: {} }) },
      },
    ],
    onRefused,
    ...withUndo(onUndo),
  })
}

export function finish(messages: readonly StoredMessage[], onUndo?: OnUndo): void {
  if (messages.length === 0) return
  decide({
    text: about(messages, 'Marked as done', 'marked as done'),
    ids: messages.map(({ id }) => id),
    requests: messages.map(({ id }) => ({ operation: 'done', input: { id } })),
    ...withUndo(onUndo),
  })
}

function snooze(messages: readonly StoredMessage[], until: number, onUndo?: OnUndo): void {
  const at = new Date(until).toISOString()
  const ids = messages.map(({ id }) => id)
  decide({
    text: about(messages, `Snoozed until ${fullTime(at)}`, `snoozed until ${fullTime(at)}`),
    ids,
    requests: [{ operation: 'snooze', input: { ids, until: at } }],
    ...withUndo(onUndo),
  })
}

export function wake(message: StoredMessage): void {
  decide({
    text: about([message], 'No longer snoozed', ''),
    ids: [],
    requests: [{ operation: 'snooze', input: { ids: [message.id], until: null } }],
  })
}

/** What is about to be snoozed, while the dialog asks for how long. */
export const snoozing = signal<{ messages: readonly StoredMessage[]; pick: (until: number) => void } | null>(
  null,
)

export function askSnooze(messages: readonly StoredMessage[], onDone?: () => void, onUndo?: OnUndo): void {
  if (messages.length === 0) return
  snoozing.value = {
    messages,
    pick: (until) => {
      snoozing.value = null
      snooze(messages, until, onUndo)
      onDone?.()
    },
  }
}

/** Sends dead letters to another address. */
export function resend(ids: readonly string[], to: readonly string[], onUndo?: OnUndo): void {
  const whom = to.map(line).join(', ')
  decide({
    text: `Resent ${ids.length === 1 ? '' : `${plural(ids.length, 'message')} `}to ${whom}`,
    ids,
    requests: ids.map((id) => ({ operation: 'resend', input: { id, to } })),
    ...withUndo(onUndo),
  })
}
