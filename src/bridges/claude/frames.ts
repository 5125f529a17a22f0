import { given, isObject } from '../../base/objects.ts'
import type { Letter } from '../format.ts'
import { timeOf } from '../letters.ts'
import type { InboxEntry } from './team-inbox.ts'

/*
 * Claude Code's team members talk in plain text and in frames: JSON objects inside the text of an entry. Frames about
 * permissions and modes are neither read nor written: what an agent may do is between its user and Claude Code.
 */

const silent =
  /^(?:permission_|sandbox_permission_|mode_set_request$|team_permission_update$|teammate_terminated$)/

type Frame = Record<string, unknown> & { type: string }

export function frameOf({ text }: InboxEntry): Frame | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    const frame: unknown = JSON.parse(text)
    return isObject(frame) && typeof frame['type'] === 'string' ? (frame as Frame) : undefined
  } catch {
    return undefined
  }
}

/** Whether an entry is nothing to read: a frame about permissions, or a note that somebody waits and reports nothing. */
export function isNoMail(entry: InboxEntry): boolean {
  const frame = frameOf(entry)
  if (frame === undefined) return false
  return (
    silent.test(frame.type) || (frame.type === 'idle_notification' && wordIn(frame, 'result') === undefined)
  )
}

const wordIn = (frame: Frame, name: string): string | undefined =>
  typeof frame[name] === 'string' && frame[name] !== '' ? (frame[name] as string) : undefined

/** What a task of a team is called here, everywhere. */
export const taskKey = (team: string, id: string): string => `${team}#${id}`
/** The id of a task, which is the name of its file as well. */
export const isTaskId = (id: unknown): id is string => typeof id === 'string' && /^\w[\w-]{0,63}$/.test(id)
/** The task that a frame gives to somebody. */
export function taskIn(frame: Frame | undefined): string | undefined {
  const id = frame?.type === 'task_assignment' ? frame['taskId'] : undefined
  return isTaskId(id) ? id : undefined
}
export const taskForeign = (team: string, id: string): string => `task:${team}:${id}`

/** The id of an entry there. Frames that are answered go by the id that the answer names. */
export function idOf(team: string, entry: InboxEntry): string {
  const frame = frameOf(entry)
  const task = taskIn(frame)
  if (task !== undefined) return taskForeign(team, task)
  const request = frame?.type === 'shutdown_request' ? wordIn(frame, 'requestId') : undefined
  return request ?? entry.msg_id ?? `${entry.from}|${entry.timestamp}|${entry.text}`.slice(0, 500)
}

/** The words of an entry by which it can be recognised in a transcript. */
export function wordsOf(entry: InboxEntry): string {
  const frame = frameOf(entry)
  if (frame === undefined) return entry.text
  const said = ['result', 'planContent', 'reason', 'feedback', 'description', 'subject'].map((name) =>
    wordIn(frame, name),
  )
  return said.find((one) => one !== undefined) ?? entry.text
}

/** An entry as a letter from somebody. */
export function toLetter(team: string, from: string, entry: InboxEntry): Letter {
  const frame = frameOf(entry)
  const letter = { from, expiresAt: null, ...given({ at: timeOf(entry.timestamp) }) }
  const plain = { ...letter, subject: entry.summary ?? '', body: entry.text }
  if (frame === undefined) return plain
  switch (frame.type) {
    case 'plan_approval_response': {
      const feedback = wordIn(frame, 'feedback')
      const approved = frame['approved'] === true
      return {
        ...letter,
        ...{ type: 'plan_approval', payload: { approved, ...given({ feedback }) } },
        body: feedback ?? (approved ? 'Approved.' : 'Rejected without feedback.'),
        ...given({ replyTo: planOf(wordIn(frame, 'requestId')) }),
      }
    }
    case 'shutdown_request': {
      const reason = wordIn(frame, 'reason')
      return {
        ...letter,
        ...{ type: 'shutdown_request', priority: 'urgent', subject: 'Please shut down', body: reason ?? '' },
        payload: given({ reason }),
      }
    }
    case 'task_assignment': {
      const description = wordIn(frame, 'description')
      return {
        ...letter,
        ...{ type: 'task_assignment', priority: 'high', subject: wordIn(frame, 'subject') ?? '' },
        body: description ?? '',
        payload: given({ taskId: taskKey(team, wordIn(frame, 'taskId') ?? '') }),
      }
    }
    case 'idle_notification':
      return { ...letter, subject: wordIn(frame, 'summary') ?? 'Report', body: wordIn(frame, 'result') ?? '' }
    default:
      return plain
  }
}

const planOf = (request: string | undefined): string | undefined =>
  request?.startsWith('plan_approval-') ? request.slice(request.lastIndexOf('@') + 1) : undefined
