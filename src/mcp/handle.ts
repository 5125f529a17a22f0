import { say } from '../agent/say.ts'
import { actions, findStep, knownTypes, typeOf } from '../conversation/registry.ts'
import { toPrintableLine } from '../model/text.ts'
import type { Handled, Mailbox } from '../space/mailbox/api.ts'

const answers = actions.filter(({ step }) => step !== undefined)
/** Every step of the tool: those of any mail, and those of the conversations. */
export const steps = [
  'ack',
  'claim',
  'start',
  'done',
  'fail',
  'release',
  ...new Set(answers.map(({ step }) => step!)),
] as [string, ...string[]]
/** `approve/reject: plan; accept/defer: shutdown` */
export const stepWords = [...new Set(answers.map(({ conversation }) => conversation))]
  .map((one) => {
    const own = answers.filter(({ conversation }) => conversation === one).map(({ step }) => step)
    return `${own.join('/')}: ${one.name}`
  })
  .join('; ')

/** Types that a model may send to ask for something; programs send the others. */
export const sendTypes = knownTypes
  .filter((type) => {
    const { opens, payload, isComposed, conversation } = typeOf(type)!
    return opens !== undefined && payload !== undefined && (isComposed || conversation.verb !== undefined)
  })
  .join(', ')

/** One verb for all that can become of a message. */
export async function handle(
  mailbox: Mailbox,
  id: string,
  step: string,
  note: string | undefined,
): Promise<{ id: string; state: string; text: string }> {
  const said = note === undefined ? {} : { note }
  const receipts: Record<string, () => Promise<Handled>> = {
    ack: () => mailbox.ack(id, said),
    claim: () => mailbox.claim(id),
    start: () => mailbox.start(id),
    done: () => mailbox.done(id, said),
    fail: () => mailbox.fail(id, { reason: note ?? '' }),
    release: () => mailbox.release(id),
  }
  const handled = await receipts[step]?.()
  if (handled === undefined) return answerWith(mailbox, id, step, note)
  const { message, state } = handled
  return { id: message.id, state, text: `${message.id} is ${state}` }
}

/** Takes a step of a conversation. Where several know a step of that name, the message says which is meant. */
async function answerWith(mailbox: Mailbox, id: string, step: string, note: string | undefined) {
  const named = answers.filter((one) => one.step === step)
  const [only, ...others] = named
  const { type } = others.length === 0 ? {} : (await mailbox.show(id)).message
  const action = named.find((one) => typeOf(one.type)?.answers === type) ?? only!
  const { reason, conversation } = action
  const why = note ?? reason?.otherwise
  const input = { id, ...(reason === undefined || why === undefined ? {} : { [reason.field]: why }) }
  const sent = await say(mailbox, action, input)
  const state = findStep(conversation.matter!.kind, step)!.to
  return {
    ...{ id: sent.id, state },
    text: `${state}; ${toPrintableLine(sent.to.join(', '))} is told (${sent.id})`,
  }
}
