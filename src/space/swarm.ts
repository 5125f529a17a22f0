import { type Dirent, readdirSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { MailboxError } from '../base/errors.ts'

/**
 * The members listed in a swarm's directory: `swarms/dev/agents/architect.md` is `dev/architect`. Templates and notes
 * that lie beside them are none: `_template.md`, `README.md`, hidden files, folders.
 */
export function membersOf(dir: string): { swarm: string; names: string[] } {
  const swarm = basename(resolve(dir))
  let files: Dirent[]
  try {
    files = readdirSync(join(dir, 'agents'), { withFileTypes: true })
  } catch (cause) {
    throw new MailboxError('not_found', `cannot read ${join(dir, 'agents')}`, {
      cause,
      hint: 'pass the directory of a swarm, which contains agents/*.md',
    })
  }
  const members = files.filter((file) => !file.isDirectory() && isMember(file.name))
  return { swarm, names: members.map(({ name }) => `${swarm}/${name.slice(0, -'.md'.length)}`).sort() }
}

const isMember = (file: string): boolean => /^[^_.].*\.md$/.test(file) && !/^readme\.md$/i.test(file)
