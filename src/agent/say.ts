import { MailboxError } from '../base/errors.ts'
import { nearest } from '../base/nearest.ts'
import type { Action, AnyAction, Spoken } from '../conversation/conversation.ts'
import type { Fields, InputOf } from '../conversation/field.ts'
import { typeOf } from '../conversation/registry.ts'
import { textOf } from '../conversation/words.ts'
import type { SendInput } from '../model/fields.ts'
import type { Mailbox, SentMessage } from '../space/mailbox/api.ts'

/**
 * Sends what an action says: as a reply to `id`, to the given recipient, or to the lead. `more` are fields of the
 * message besides it: they win over the action's defaults, and texts and lists are joined.
 */
export async function say<F extends Fields, P extends readonly (keyof F & string)[]>(
  mailbox: Mailbox,
  action: Action<F, P>,
  given: InputOf<F>,
  more: Partial<SendInput> = {},
): Promise<SentMessage> {
  checkNames(action, given)
  const input = (await action.prepare?.(mailbox, given)) ?? given
  const { id, to: named } = input as { id?: string; to?: string }
  const said = (to: string) => {
    const saying = action.says(input, { name: mailbox.name, to })
    const spoken = { from: mailbox.name, to: [to], ...saying } as unknown as Spoken
    const text = saying.body || textOf(spoken, typeOf(action.type))
    const body = [more.body, text].filter(Boolean).join('\n\n')
    const attachments = [...(saying.attachments ?? []), ...(more.attachments ?? [])]
    return { ...saying, ...more, body, attachments, type: action.type }
  }
  if (id !== undefined) return mailbox.reply(id, said(''))
  const to = named ?? (await mailbox.lead())
  return mailbox.send({ to, ...said(to) })
}

/** Refuses what an action does not take, as the hub does. */
function checkNames({ type, input }: Pick<AnyAction, 'type' | 'input'>, given: object): void {
  const names = Object.keys(input)
  const unknown = Object.entries(given).find(([name, value]) => value !== undefined && !names.includes(name))
  if (unknown === undefined) return
  const [near] = nearest(unknown[0], names)
  throw new MailboxError('invalid', `a ${type} takes no field ${JSON.stringify(unknown[0])}`, {
    hint: `${near === undefined ? '' : `did you mean ${near}? `}fields: ${names.join(', ')}`,
  })
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
