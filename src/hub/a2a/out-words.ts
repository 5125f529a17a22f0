import { type Message, type Part, Role, type Task, TaskState } from '@a2a-js/sdk'
import type { InboxMessage } from '../../query/inbox.ts'

/** What the id of a task begins with that is none: the other side has answered with a message. */
export const withoutTask = 'message:'

/** Why a task has failed, where the other side does not say. */
export const reasonOf = (state: TaskState | undefined): string =>
  state === TaskState.TASK_STATE_REJECTED
    ? 'the other side has rejected it'
    : state === TaskState.TASK_STATE_CANCELED
      ? 'the other side has cancelled it'
      : 'it failed on the other side'

/** Mail as a message of the protocol. */
export function toMessage(
  { id, threadId, replyTo, subject, body, payload }: InboxMessage,
  taskId: string,
): Message {
  const part = (content: NonNullable<Part['content']>): Part => ({
    ...{ content, metadata: undefined, filename: '', mediaType: '' },
  })
  // The subject of a reply says nothing that the task does not.
  const text = [replyTo === undefined ? subject : '', body].filter((one) => one !== '').join('\n\n')
  return {
    ...{ messageId: id, contextId: threadId, taskId, role: Role.ROLE_USER },
    parts: [
      part({ $case: 'text', value: text }),
      ...(payload === undefined ? [] : [part({ $case: 'data', value: payload })]),
    ],
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  }
}

/** An answer that came without a task, as one that is over. */
export const answeredBy = ({ messageId, parts }: Message, { threadId }: InboxMessage): Task => ({
  ...{ id: `${withoutTask}${messageId}`, contextId: threadId, history: [], metadata: undefined },
  status: { state: TaskState.TASK_STATE_COMPLETED, message: undefined, timestamp: undefined },
  artifacts: [
    ...[{ artifactId: messageId, name: '', description: '', parts, metadata: undefined, extensions: [] }],
  ],
})

/** A task that the other side says it does not have. */
export const lostTask = (id: string): Task => ({
  ...{ id, contextId: '', history: [], artifacts: [], metadata: undefined },
  status: { state: TaskState.TASK_STATE_FAILED, message: lost, timestamp: undefined },
})

const lost: Message = {
  ...{ messageId: '', contextId: '', taskId: '', role: Role.ROLE_AGENT, metadata: undefined },
  parts: [
    ...[{ content: { $case: 'text' as const, value: 'the other side does not know the task any more' } }],
  ].map((part) => ({ ...part, metadata: undefined, filename: '', mediaType: '' })),
  ...{ extensions: [], referenceTaskIds: [] },
}

/** What the parts of a message or an artifact say. */
export const textIn = (parts: readonly Part[]): string =>
  parts
    .flatMap(({ content }) => {
      if (content?.$case === 'text' || content?.$case === 'url') return [content.value]
      return content?.$case === 'data' ? [JSON.stringify(content.value, null, 2)] : []
    })
    .join('\n\n')
