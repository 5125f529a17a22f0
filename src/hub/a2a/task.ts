import { basename } from 'node:path'
import { type Artifact, type Message, type Part, Role, type Task, TaskState } from '@a2a-js/sdk'
import { a2aKey } from '../../model/a2a.ts'
import { systemAgent } from '../../model/agent.ts'
import type { LadderStep, ReceiptView } from '../../model/receipt.ts'
import type { StoredMessage } from '../../query/message.ts'
import type { ServedMailbox } from '../../space/mailbox/api.ts'

/** A task as the mail tells it. */
export interface MailTask {
  task: Task
  /** The message that the task is. */
  root: StoredMessage
  /** What the caller said last: what becomes of it is what becomes of the task. */
  latest: StoredMessage
  /** The question that waits for the caller. */
  question: StoredMessage | undefined
}

export const isOver = (state: TaskState | undefined): boolean =>
  state === TaskState.TASK_STATE_COMPLETED ||
  state === TaskState.TASK_STATE_FAILED ||
  state === TaskState.TASK_STATE_CANCELED ||
  state === TaskState.TASK_STATE_REJECTED

/** Nothing more happens by itself. */
export const isStill = (state: TaskState | undefined): boolean =>
  isOver(state) || state === TaskState.TASK_STATE_INPUT_REQUIRED

/** Whether a message of the caller began a task. */
export const beganTask = ({ key, replyTo }: StoredMessage): boolean =>
  replyTo === undefined && (key?.startsWith(a2aKey) ?? false)

/** What the index says of a task: the message, what became of it, and what was said since. Undefined if it is none. */
export async function readTask(mailbox: ServedMailbox, id: string): Promise<MailTask | undefined> {
  const { message: root } = await mailbox.show(id)
  if (root.from !== mailbox.name || !beganTask(root)) return undefined
  const said = conversationOf(await mailbox.thread(root.id), root, mailbox.name)
  const latest = said.findLast(({ from }) => from === mailbox.name) ?? root
  const since = said.filter(({ from, seq }) => from !== mailbox.name && seq > latest.seq)
  const { receipts } = await mailbox.show(latest.id)
  const last = since.at(-1)
  const question = last?.awaitingResponse ? last : undefined
  const { state, at } = stateOf(receipts, question)
  const artifacts = said.filter((one) => one.from !== mailbox.name && isResult(one))
  const status = state === TaskState.TASK_STATE_COMPLETED ? undefined : last
  return {
    ...{ root, latest, question },
    task: {
      ...{ id: root.id, contextId: root.threadId, metadata: undefined },
      status: {
        state,
        message: status && toMessage(status, root, mailbox.name),
        timestamp: at ?? last?.createdAt ?? latest.createdAt,
      },
      artifacts: artifacts.map(toArtifact),
      history: said.map((one) => toMessage(one, root, mailbox.name)),
    },
  }
}

/** The messages of a thread that belong to a task: those that answer it, and answers to those, between the two sides. */
function conversationOf(
  thread: readonly StoredMessage[],
  root: StoredMessage,
  caller: string,
): StoredMessage[] {
  const known = new Set([root.id])
  return thread.filter((message) => {
    if (message.id === root.id) return true
    const isBetween = message.from === caller || message.to.includes(caller)
    if (!isBetween || message.from === systemAgent || !known.has(message.replyTo ?? '')) return false
    known.add(message.id)
    return true
  })
}

/** News about the work is no result of it. */
const isResult = ({ type, awaitingResponse }: StoredMessage): boolean =>
  !awaitingResponse && !['ack', 'status_update', 'notification', 'error'].includes(type)

/** The state of a task by what its recipient has done; several recipients of a role are one. */
function stateOf(receipts: readonly ReceiptView[], question: StoredMessage | undefined) {
  if (question !== undefined) return { state: TaskState.TASK_STATE_INPUT_REQUIRED, at: question.createdAt }
  const found = receipts.map((receipt) => ({ state: stateOfOne(receipt), at: receipt.steps.at(-1)?.at }))
  // Whoever has got furthest.
  return found.sort((a, b) => order.indexOf(b.state) - order.indexOf(a.state))[0] ?? submitted
}

const submitted = { state: TaskState.TASK_STATE_SUBMITTED, at: undefined }
const order = [
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_SUBMITTED,
  TaskState.TASK_STATE_WORKING,
  TaskState.TASK_STATE_REJECTED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_COMPLETED,
]

function stateOfOne({ state, claimedBy, steps }: ReceiptView): TaskState {
  switch (state) {
    case 'stored':
    case 'notified':
      return claimedBy === undefined ? TaskState.TASK_STATE_SUBMITTED : TaskState.TASK_STATE_WORKING
    case 'completed':
      return TaskState.TASK_STATE_COMPLETED
    case 'archived':
      return wasCompleted(steps) ? TaskState.TASK_STATE_COMPLETED : TaskState.TASK_STATE_REJECTED
    case 'failed':
    case 'expired':
    case 'dead':
      return TaskState.TASK_STATE_FAILED
    case 'withdrawn':
      return TaskState.TASK_STATE_CANCELED
    default:
      return TaskState.TASK_STATE_WORKING
  }
}

const wasCompleted = (steps: readonly LadderStep[]): boolean =>
  steps.some(({ state }) => state === 'completed')

function toMessage(message: StoredMessage, root: StoredMessage, caller: string): Message {
  const isOwn = message.from === caller
  return {
    messageId: isOwn ? (message.key?.slice(a2aKey.length) ?? message.id) : message.id,
    ...{ contextId: root.threadId, taskId: root.id, role: isOwn ? Role.ROLE_USER : Role.ROLE_AGENT },
    parts: partsOf(message),
    metadata: { from: message.from, mailId: message.id },
    ...{ extensions: [], referenceTaskIds: [] },
  }
}

function toArtifact(message: StoredMessage): Artifact {
  return {
    ...{ artifactId: message.id, name: message.subject, description: '', parts: partsOf(message) },
    metadata: { from: message.from },
    extensions: [],
  }
}

/** Attachments are named, not sent: they are files of the recipient's machine. */
function partsOf({ body, payload, attachments }: StoredMessage): Part[] {
  const part = (content: NonNullable<Part['content']>, mediaType: string, filename = ''): Part => ({
    ...{ content, metadata: undefined, filename, mediaType },
  })
  return [
    ...(body === '' ? [] : [part({ $case: 'text', value: body }, 'text/plain')]),
    ...(payload === undefined ? [] : [part({ $case: 'data', value: payload }, 'application/json')]),
    ...attachments.map((path) => part({ $case: 'text', value: path }, 'text/plain', basename(path))),
  ]
}
