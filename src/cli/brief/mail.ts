import { priorities } from '../../model/message.ts'
import { answerChecked, answerCount } from '../verbs/inbox.ts'
import { answerSent } from '../verbs/send.ts'
import { any, type BriefVerbs, runBriefly } from './brief.ts'

const none = { least: 0, most: 0, like: any }

const verbs: BriefVerbs = {
  check: {
    options: {},
    words: none,
    run: async (cli, mailbox) => answerChecked(cli, await mailbox.check({})),
  },
  count: {
    options: {},
    words: none,
    run: async (cli, mailbox) => answerCount(cli, await mailbox.count()),
  },
  send: {
    options: { subject: any, body: any, priority: new RegExp(`^(?:${priorities.join('|')})$`) },
    needsOne: ['subject', 'body'],
    words: { least: 1, most: 100, like: any },
    run: async (cli, mailbox, flags, to) => answerSent(cli, await mailbox.send({ ...flags, to })),
  },
}

export const run = (words: readonly string[]) => runBriefly(words, verbs)
