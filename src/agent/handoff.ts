import { MailboxError } from '../base/errors.ts'
import { checkHandoff, fillTemplate, type Handoff, handoffBody, templates } from '../conversation/handoff.ts'
import type { Priority } from '../model/message.ts'
import type { Mailbox, SentMessage } from '../space/mailbox/api.ts'

export interface HandoffInput extends Handoff {
  to: string
  subject: string
  /** @default 'high' */
  priority?: Priority
  /** One of the built-in templates, or of the space's. */
  template?: string
  swarm?: string
  replyTo?: string
}

/** Hands work over with everything that the next one needs; files go along as attachments. */
export async function handOff(mailbox: Mailbox, input: HandoffInput): Promise<SentMessage> {
  const { to, subject, priority = 'high', template, swarm, replyTo, ...given } = input
  checkHandoff({ ...given })
  if (!given.workCompleted)
    throw new MailboxError('invalid', 'a handoff says what was done', { hint: 'give --work-completed' })
  const handoff = template === undefined ? given : fillTemplate(await findTemplate(mailbox, template), given)
  return mailbox.send({
    to,
    subject,
    type: 'handoff',
    priority,
    body: handoffBody(mailbox.name, to, handoff),
    context: { ...handoff },
    attachments: [...(handoff.filesModified ?? []), ...(handoff.filesCreated ?? [])],
    ...(swarm === undefined ? {} : { swarm }),
    ...(replyTo === undefined ? {} : { replyTo }),
  })
}

async function findTemplate(mailbox: Mailbox, name: string): Promise<Partial<Handoff>> {
  const own = await mailbox.template(name)
  if (own !== null) return checkHandoff(own)
  const known = Object.hasOwn(templates, name) ? templates[name] : undefined
  if (known !== undefined) return known
  throw new MailboxError('not_found', `there is no template ${JSON.stringify(name)}`, {
    hint: `built in: ${Object.keys(templates).join(', ')}; a space adds its own as templates/NAME.json`,
  })
}
