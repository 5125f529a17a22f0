import type { Question, Reply } from '../../desk/link.ts'
import type { SendInput } from '../../model/fields.ts'
import type { SentMessage } from '../mailbox/api.ts'
import type { ChosenId } from '../mailbox/looking.ts'

export type Direct = (chosen?: ChosenId) => Promise<SentMessage>
type AskDesk = (question: Question) => Promise<Reply<SentMessage>>

/** Has the desk send a message. Without an answer it is sent directly, unless it is there already. */
export async function sendThrough(
  ask: AskDesk,
  name: string,
  input: SendInput,
  chosen: ChosenId,
  direct: Direct,
): Promise<SentMessage> {
  const by = { name, pid: process.pid }
  const reply = await ask({ verb: 'send', by, id: chosen.id, since: chosen.since!.seq, args: [input] })
  return reply === undefined ? direct(chosen) : withBody(reply.value, input)
}

type Sent = Omit<SentMessage, 'body'> & Partial<Pick<SentMessage, 'body'>>

/** Its sender knows the body, which can be long. */
export function withoutBody({ body, ...sent }: SentMessage, input: SendInput): Sent {
  return body === input.body ? sent : { ...sent, body }
}

const withBody = (sent: Sent, { body = '' }: SendInput): SentMessage => ({ body, ...sent }) as SentMessage
