import type { Command } from 'commander'
import { MailboxError } from '../base/errors.ts'
import { collect } from './options.ts'

/** Refuses an option with a value that is given twice, where commander would keep the last one in silence. */
export function refuseRepeats(command: Command): void {
  for (const option of command.options) {
    const takesOne = (option.required || option.optional) && option.parseArg !== collect
    if (!takesOne) continue
    let isGiven = false
    command.on(`option:${option.name()}`, () => {
      if (isGiven) {
        throw new MailboxError('invalid', `${option.long} is given twice`, {
          hint: 'give it once; the options that can be repeated say so in --help',
        })
      }
      isGiven = true
    })
  }
  for (const sub of command.commands) if (command.parent !== null) refuseRepeats(sub)
}
