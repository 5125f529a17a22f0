import * as z from 'zod/mini'
import { MailboxError } from '../base/errors.ts'
import { person } from '../model/agent.ts'
import { parseTime } from '../model/time.ts'
import { saveView, snooze } from '../space/person-file.ts'
import { ids, word } from './inputs.ts'
import { type Newcomer, rosterOperation } from './operation.ts'
import * as s from './schemas.ts'

function mustBeOfPerson({ name }: Newcomer): void {
  if (name === person) return
  throw new MailboxError('not_permitted', 'only the person has saved searches and snoozed mail', {
    hint: `use the mailbox of ${person}`,
  })
}

/** What the person arranges for themselves. Nothing of it is in the journal. */
export const personOperations = {
  snooze: rosterOperation({
    summary: "Hide messages from the person's list until a time; null shows them again",
    input: z.strictObject({ ...ids, until: z.nullable(z.string()) }),
    output: s.object('Snoozed', { snoozed: z.record(z.string(), z.string()) }),
    async run(on, { ids, until }) {
      mustBeOfPerson(on)
      const { dir, now } = on.space
      const { snoozed } = snooze(dir, ids, until === null ? null : parseTime(until), now())
      return { snoozed }
    },
  }),
  saveView: rosterOperation({
    summary: 'Save a search under a name; null removes it',
    input: z.strictObject({ name: word, query: z.nullable(z.string()) }),
    output: s.object('SavedViews', { views: z.record(z.string(), z.string()) }),
    async run(on, { name, query }) {
      mustBeOfPerson(on)
      const { views } = saveView(on.space.dir, name, query)
      return { views }
    },
  }),
}
