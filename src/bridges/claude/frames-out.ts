import { isObject } from '../../base/objects.ts'
import type { Letter, Outgoing } from '../format.ts'

/** When a message was sent, in ms: its id begins with that. */
const msOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

/** What our message is in the texts of entries there, in order. */
export function textsOf({ id, letter }: Pick<Outgoing, 'id' | 'letter'>, from: string): string[] {
  const { type, at, body = '', subject = '', replyTo, payload } = letter
  const said = (isObject(payload) ? payload : {}) as Record<string, unknown>
  const text = body || subject
  const frame = (value: object) => JSON.stringify(value)
  if (type === 'plan_submission') {
    const requestId = `plan_approval-${msOf(id)}@${from}@${id}`
    const planContent = subject === '' ? body : `# ${subject}\n\n${body}`
    const planFilePath = `mailbox:${id}`
    return [
      frame({ type: 'plan_approval_request', from, timestamp: at, planFilePath, planContent, requestId }),
    ]
  }
  if (type === 'shutdown_response' && replyTo?.startsWith('shutdown-')) {
    if (said['accepted'] === true)
      return [frame({ type: 'shutdown_approved', requestId: replyTo, from, timestamp: at })]
    return [frame({ type: 'shutdown_rejected', requestId: replyTo, from, reason: text, timestamp: at })]
  }
  const task = type === 'status_update' && typeof said['taskId'] === 'string' ? said['taskId'] : undefined
  const ended = { completed: 'resolved', failed: 'failed' }[String(said['status'])]
  if (task?.includes('#') && ended !== undefined) {
    const completedTaskId = task.slice(task.lastIndexOf('#') + 1)
    const note = { from, timestamp: at, idleReason: 'available', completedTaskId, completedStatus: ended }
    // The report is a message of its own: what is said only in a note can be overlooked.
    return [...(text === '' ? [] : [text]), frame({ type: 'idle_notification', ...note, summary: subject })]
  }
  return [text]
}

/** Whether a message ends our membership in a team. */
export const isFarewell = ({ type, payload, replyTo }: Letter): boolean =>
  type === 'shutdown_response' &&
  replyTo?.startsWith('shutdown-') === true &&
  isObject(payload) &&
  (payload as Record<string, unknown>)['accepted'] === true
