import { answerOne, steps } from '../verbs/handle.ts'
import { any, type BriefVerb, type BriefVerbs, runBriefly } from './brief.ts'

/** An id or the beginning of one. A short name would have to be looked up. */
const oneId = { least: 1, most: 1, like: /^0[0-9a-f-]{7,35}$/ }

const step = (take: (typeof steps)[keyof typeof steps], options: BriefVerb['options'] = {}): BriefVerb => ({
  options,
  words: oneId,
  run: async (cli, mailbox, flags, [id]) => answerOne(cli, await take(mailbox, id!, flags)),
})

const verbs: BriefVerbs = {
  ack: step(steps.ack, { note: any }),
  start: step(steps.start),
  done: step(steps.done, { note: any, keep: true }),
  archive: step(steps.archive),
}

/** In a file of its own: what is said of a message takes the words of every conversation. */
export const run = (words: readonly string[]) => runBriefly(words, verbs)
