import { say } from '../agent/say.ts'
import { checkInput } from '../api/check-input.ts'
import { handlingOperations } from '../api/handling-operations.ts'
import type { Operation } from '../api/operation.ts'
import { plainLine } from '../conversation/fence.ts'
import { allActions, findStep, typeOf } from '../conversation/registry.ts'
import type { Handled, Mailbox } from '../space/mailbox/api.ts'

const { ack, claim, start, done, fail, release } = handlingOperations
/** Steps on any message: the same rows that the hub's routes run. */
const plainSteps: Record<string, Operation<Operation['input'], Operation['output'], Handled>> = {
  ...{ ack, claim, start, done, fail, release },
}
/** The field of their input that takes the note. */
const noteFields: Record<string, string> = { ack: 'note', done: 'note', fail: 'reason' }

/** Steps of conversations. */
const answers = allActions().filter(({ step }) => step !== undefined)

export const steps = [...new Set([...Object.keys(plainSteps), ...answers.map(({ step }) => step!)])]

/** `approve/reject: plan; accept/defer: shutdown` */
export const stepHelp = [...new Set(answers.map(({ conversation }) => conversation))]
  .map((one) => {
    const own = answers.filter(({ conversation }) => conversation === one).map(({ step }) => step)
    return `${own.join('/')}: ${one.name}`
  })
  .join('; ')

interface Outcome {
  id: string
  state: string
  text: string
}

/** Takes a step on a message, with a note that says why. */
export async function handle(mailbox: Mailbox, id: string, step: string, note?: string): Promise<Outcome> {
  const row = plainSteps[step]
  if (row === undefined) return answerWith(mailbox, id, step, note)
  const field = noteFields[step]
  const input = checkInput(row.input, {
    id,
    ...(field === undefined || note === undefined ? {} : { [field]: note }),
  })
  const { message, state } = await row.run(mailbox, input)
  return { id: message.id, state, text: `${message.id} is ${state}` }
}

/** Takes a step of a conversation. Where several have a step of that name, the message's type decides. */
async function answerWith(mailbox: Mailbox, id: string, step: string, note?: string): Promise<Outcome> {
  const named = answers.filter((one) => one.step === step)
  const [only, ...others] = named
  const { type } = others.length === 0 ? {} : (await mailbox.show(id)).message
  const action = named.find((one) => typeOf(one.type)?.answers === type) ?? only!
  const { reason, conversation } = action
  const why = note ?? reason?.otherwise
  const input = { id, ...(reason === undefined || why === undefined ? {} : { [reason.field]: why }) }
  const sent = await say(mailbox, action, input)
  const state = findStep(conversation.matter!.kind, step)!.to
  return { id: sent.id, state, text: `${state}; sent ${sent.id} to ${plainLine(sent.to.join(', '))}` }
}
