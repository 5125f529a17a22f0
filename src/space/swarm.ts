import { readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { MailboxError } from '../base/errors.ts'

/** The members listed in a swarm's directory: `swarms/dev/agents/architect.md` is `dev/architect`. */
export function membersOf(dir: string): { swarm: string; names: string[] } {
  const swarm = basename(resolve(dir))
  let files: string[]
  try {
    files = readdirSync(join(dir, 'agents'))
  } catch (cause) {
    throw new MailboxError('not_found', `cannot read ${join(dir, 'agents')}`, {
      cause,
      hint: 'pass the directory of a swarm, which contains agents/*.md',
    })
  }
  const names = files.filter((file) => file.endsWith('.md')).map((file) => `${swarm}/${file.slice(0, -3)}`)
  return { swarm, names: names.sort() }
}
