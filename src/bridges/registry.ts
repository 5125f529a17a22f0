import { MailboxError } from '../base/errors.ts'
import { nearest } from '../base/nearest.ts'
import type { Format } from './format.ts'
import { adr003 } from './formats/adr003.ts'
import { ao } from './formats/ao.ts'
import { claudeSessions } from './formats/claude-sessions.ts'
import { claudeTeams } from './formats/claude-teams.ts'
import { haak } from './formats/haak.ts'
import { jeanClaude } from './formats/jean-claude.ts'
import { ralph } from './formats/ralph.ts'

/** Every format, in the order in which help names them. */
export const formats: readonly Format[] = [adr003, haak, jeanClaude, ao, ralph, claudeTeams, claudeSessions]

const formatNames = formats.map(({ name }) => name)

export function formatNamed(name: string): Format {
  const found = formats.find((format) => format.name === name)
  if (found !== undefined) return found
  const [near] = nearest(name, formatNames)
  throw new MailboxError('invalid', `there is no format ${JSON.stringify(name.slice(0, 60))}`, {
    hint: `${near === undefined ? '' : `did you mean ${near}? `}formats: ${formatNames.join(', ')}`,
  })
}
