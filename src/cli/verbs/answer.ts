import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { choicesOf, suggestedAnswers } from '../../conversation/choices.ts'
import { toPrintableLine } from '../../model/text.ts'
import type { Cli } from '../cli.ts'
import { foreignWords, subjectIn } from '../format/foreign.ts'
import { examples } from '../help.ts'
import { mailboxAction } from '../open.ts'
import { given } from '../options.ts'

export function answer(command: Command): void {
  command
    .description(
      'Answer a message in a word: with the number of an answer that its sender suggests, or with approve, reject, accept, defer, done or ack.\n' +
        'Without a word, lists what it can be answered with. For any other answer: mailbox reply.',
    )
    .argument('<id>', 'the message')
    .argument('[choice]', 'a number, or a word')
    .option('--note <text>', 'why: the reason of reject and defer, a note for the others')
    .addHelpText(
      'after',
      examples('mailbox answer 12', 'mailbox answer 12 2', 'mailbox answer 12 reject --note "Too large."'),
    )
  mailboxAction(
    command,
    async (cli, mailbox, id: string, choice: string | undefined, { note }: { note?: string }) => {
      const { message } = await mailbox.show(id)
      const choices = choicesOf(message)
      if (choice === undefined) {
        return cli.answer({ id: message.id, choices }, () =>
          [
            subjectIn(cli, message),
            ...choices.map(({ key, label }) => `  ${key}  ${foreignWords(cli, toPrintableLine(label))}`),
            ...(choices.length === 0
              ? [`  nothing in a word: ${cli.command(`reply '#${message.seq}' --body TEXT`)}`]
              : []),
          ].join('\n'),
        )
      }
      if (!choices.some(({ key }) => key === choice)) throw unknownChoice(cli, choice, choices)
      const text = /^\d$/.test(choice) ? suggestedAnswers(message)[Number(choice) - 1] : undefined
      if (text !== undefined) {
        const body = note === undefined ? text : `${text}\n\n${note}`
        const sent = await mailbox.reply(message.id, { body })
        return cli.confirm(
          { id: message.id, choice, sent: sent.id },
          () => `answered: ${toPrintableLine(text)}`,
        )
      }
      const { handle } = await import('../../mcp/handle.ts')
      const done = await handle(mailbox, message.id, choice, note)
      cli.confirm({ id: message.id, choice, ...given({ state: done.state }) }, () => done.text)
    },
  )
}

function unknownChoice(cli: Cli, choice: string, choices: ReturnType<typeof choicesOf>): MailboxError {
  const words = choices.map(({ key }) => key).join(', ')
  return new MailboxError('invalid', `${JSON.stringify(choice.slice(0, 40))} is no answer to this message`, {
    hint: words === '' ? `write one: ${cli.command('reply ID --body TEXT')}` : `use ${words}`,
  })
}
