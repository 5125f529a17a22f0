import * as z from 'zod/mini'
import { MailboxError } from '../base/errors.ts'
import { mustBeGranted } from '../space/acting.ts'
import { type BridgedMailbox, messagesKeyed } from '../space/bridged.ts'
import { importLines } from '../space/transfer.ts'
import { ofBridges } from './brought.ts'
import { content, ids, note, replyTo, word, words } from './inputs.ts'
import { type Newcomer, rowOn } from './operation.ts'
import * as s from './schemas.ts'

/** What a bridge on another machine does for whoever is in the folder of the other system. */
const row = rowOn<Newcomer, { bridges: true }>()

const bridged = { client: 'bridge' }
const roles = z.exactOptional(words)
const tags = z.exactOptional(words)
const linesAtOnce = 4_000

const origin = z.strictObject({
  ...{ format: word, path: z.string(), id: z.string() },
  ...{ at: z.exactOptional(z.string()), type: z.exactOptional(z.string()), raw: z.exactOptional(z.string()) },
})

/** Each step as the owner of a message takes it. */
const steps = {
  notified: (mailbox, id) => mailbox.notified([id]),
  take: (mailbox, id) => mailbox.take(id),
  retry: (mailbox, id) => mailbox.retry(id),
  ack: (mailbox, id) => mailbox.ack(id),
  start: (mailbox, id) => mailbox.start(id),
  fail: (mailbox, id, reason) => mailbox.fail(id, { reason }),
  done: (mailbox, id) => mailbox.done(id, { archive: false }),
  file: (mailbox, id) => mailbox.done(id),
  archive: (mailbox, id) => mailbox.archive(id),
} satisfies Record<string, (mailbox: BridgedMailbox, id: string, reason: string) => Promise<unknown>>

export type BridgeStep = keyof typeof steps
const stepNames = Object.keys(steps) as [BridgeStep, ...BridgeStep[]]

const nothing = s.object('BridgeStepTaken', { result: z.null() })

export const bridgeOperations = {
  bridgeJoin: row({
    summary:
      'Join an agent that is in the folder of another system; roles that the person gives are left out',
    bridges: true,
    input: z.strictObject({ roles, tags, ...note }),
    output: s.agent,
    async run({ space, name }, { roles, ...input }) {
      const known = space.core.agents.get(name)
      if (known !== undefined && known.gone === undefined && known.session.client !== bridged.client)
        throw new MailboxError('conflict', `${name} is an agent of its own, not one of a bridge`, {
          hint: 'it joins by itself',
        })
      const granted = await grantedOf({ space, name }, roles)
      return space.join(name, { ...input, ...(granted && { roles: granted }), session: bridged })
    },
  }),
  bridgeUpdate: row({
    summary:
      'Add the roles and tags that an agent has in the folder; roles that the person gives are left out',
    bridges: true,
    input: z.strictObject({ addRoles: roles, addTags: tags }),
    output: s.agent,
    async run(on, { addRoles, ...input }) {
      const granted = await grantedOf(on, addRoles)
      return on.space.update(on.name, { ...input, ...(granted && { addRoles: granted }) })
    },
  }),
  bridgeLeave: row({
    summary: 'Freeze an agent of a bridge that is in the folder no more',
    bridges: true,
    input: z.strictObject({}),
    output: s.agent,
    run({ space, name }) {
      if (space.core.agents.get(name)?.session.client === bridged.client)
        return space.leave(name, { frozen: true })
      throw new MailboxError('not_permitted', `${name} did not come by a bridge`, {
        hint: 'it leaves by itself',
      })
    },
  }),
  bring: row({
    summary: 'Send what was found in the folder; the message says where it comes from',
    bridges: true,
    input: z.strictObject({ to: z.exactOptional(s.addresses), replyTo, ...content, origin }),
    output: s.sentMessage,
    run: ({ space, name }, { origin, ...input }) => space.mailboxInside(name).bring(input, origin),
  }),
  bridgeStep: row({
    summary: 'Take a step that was taken in the folder',
    bridges: true,
    input: z.strictObject({ ...ids, step: z.enum(stepNames), reason: z.exactOptional(word) }),
    output: nothing,
    async run({ space, name }, { ids, step, reason = 'failed there' }) {
      const mailbox = space.mailboxInside(name)
      for (const id of ids) await steps[step](mailbox, id, reason)
      return { result: null }
    },
  }),
  bridgeKeyed: row({
    summary: 'Get the ids of messages that the agent has sent, by their keys',
    bridges: true,
    input: z.strictObject({ keys: z.array(z.string()).check(z.maxLength(1_000)) }),
    output: s.object('Keyed', { ids: z.array(z.nullable(s.text)) }),
    run: async ({ space, name }, { keys }) => {
      const found = await messagesKeyed(
        space,
        keys.map((key) => ({ from: name, key })),
      )
      return { ids: found.map((id) => id ?? null) }
    },
  }),
  bridgeImport: row({
    summary: 'Add what was finished in the folder before: messages and their steps, as lines of an export',
    bridges: true,
    input: z.strictObject({ lines: z.array(z.unknown()).check(z.maxLength(linesAtOnce)) }),
    output: s.object('BridgeImported', {
      imported: s.count,
      refused: z.array(z.strictObject({ line: s.count, reason: s.text })),
    }),
    async run({ space }, { lines }) {
      const refused: { line: number; reason: string }[] = []
      const onRefused = (refusal: { line: number; reason: string }) => void refused.push(refusal)
      const { imported } = await importLines(space.core, ofBridges(lines), { onRefused })
      return { imported, refused }
    },
  }),
}

/** The roles that the person need not give. Whoever leads is no word of a folder on another machine. */
async function grantedOf(
  { space, name }: Newcomer,
  roles: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (roles === undefined) return undefined
  const granted: string[] = []
  for (const role of roles)
    try {
      await mustBeGranted(space.core, name, [role], true)
      granted.push(role)
    } catch (error) {
      if (!(error instanceof MailboxError) || error.code !== 'not_permitted') throw error
    }
  return granted
}
