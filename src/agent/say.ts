import type { Action } from '../conversation/conversation.ts'
import type { Fields, InputOf } from '../conversation/field.ts'
import type { Mailbox, SentMessage } from '../space/mailbox/api.ts'

/** Sends what an action says: as a reply to `id`, to the given recipient, or to the lead. */
export async function say<F extends Fields, P extends readonly (keyof F & string)[]>(
  mailbox: Mailbox,
  action: Action<F, P>,
  given: InputOf<F>,
): Promise<SentMessage> {
  const { type } = action
  const input = (await action.prepare?.(mailbox, given)) ?? given
  const { id, to: named } = input as { id?: string; to?: string }
  if (id !== undefined)
    return mailbox.reply(id, { ...action.says(input, { name: mailbox.name, to: '' }), type })
  const to = named ?? (await mailbox.lead())
  return mailbox.send({ to, ...action.says(input, { name: mailbox.name, to }), type })
}

type Rest<F extends Fields, P extends readonly string[]> = Omit<InputOf<F>, P[number]>
/** The library's function for an action: its positional fields as arguments, the rest as an object. */
type Function<A> =
  A extends Action<infer F, infer P>
    ? (
        mailbox: Mailbox,
        ...input: [
          ...{ [At in keyof P]: string },
          ...(object extends Rest<F, P> ? [input?: Rest<F, P>] : [input: Rest<F, P>]),
        ]
      ) => Promise<SentMessage>
    : never

export const toFunctions = <A extends object>(actions: A): { [Name in keyof A]: Function<A[Name]> } =>
  Object.fromEntries(
    Object.entries(actions).map(([name, action]: [string, Action<Fields, string[]>]) => {
      const { positional = [] } = action
      const call = (mailbox: Mailbox, ...words: unknown[]) => {
        const leading = positional.map((field, at) => [field, words[at]])
        const input = { ...(words[positional.length] as object), ...Object.fromEntries(leading) }
        return say(mailbox, action, input as never)
      }
      return [name, call]
    }),
  ) as never
