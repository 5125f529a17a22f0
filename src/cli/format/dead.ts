import { toPrintableLine } from '../../model/text.ts'
import type { DeadLetter } from '../../query/dead.ts'
import type { Cli } from '../cli.ts'
import { foreignWords, subjectIn } from './foreign.ts'
import { paintPriority } from './message.ts'
import { table } from './table.ts'
import { relative } from './time.ts'

/** Lists dead letters: an aligned line for each, with its id and the reason below. */
export function deadLetterList(cli: Cli, letters: readonly DeadLetter[]): string {
  const { colors, width, now } = cli
  const [head = '', ...lines] = table(
    [
      { head: 'FROM', flexible: true, paint: colors.cyan },
      { head: 'TO', flexible: true, paint: colors.cyan },
      {
        head: 'SUBJECT',
        flexible: true,
        paint: (text, at) => paintPriority(colors, letters[at]!.message.priority)(text),
      },
      { head: 'STATE', paint: colors.yellow },
      { head: 'SINCE', paint: colors.dim },
    ],
    letters.map(({ message, recipient, state, at }) => [
      message.from,
      recipient,
      subjectIn(cli, message),
      state,
      relative(at, now),
    ]),
    width,
    colors,
  )
  return [
    head,
    ...lines.flatMap((line, at) => {
      const { message, reason } = letters[at]!
      return [
        line,
        colors.dim(`  ${message.id}`),
        colors.dim(`  ${toPrintableLine(foreignWords(cli, reason))}`),
      ]
    }),
  ].join('\n')
}
