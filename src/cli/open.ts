import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { openDisk } from '../space/open.ts'
import { findSpace } from '../space/settings.ts'
import type { DiskSpace } from '../space/space.ts'
import type { Cli } from './cli.ts'
import { createProgress } from './progress.ts'

export interface OpenOptions {
  /** Refuse a space that does not exist instead of making it. @default false */
  existing?: boolean
}

export const spaceDir = ({ globals }: Cli): string =>
  findSpace({ given: globals.space, env: process.env, cwd: process.cwd() })

export const spaceExists = (dir: string): boolean => existsSync(join(dir, 'journal'))

/** Opens the space that is meant. A new one is never made in silence: it may be a mistyped path. */
export async function open(cli: Cli, { existing = false }: OpenOptions = {}): Promise<DiskSpace> {
  const dir = spaceDir(cli)
  const isNew = !spaceExists(dir)
  if (isNew && existing) {
    throw new MailboxError('not_found', `there is no space in ${dir}`, {
      hint: 'name another with --space DIR, or make one: mailbox join NAME',
    })
  }
  const progress = createProgress(cli, 'building the index')
  try {
    const space = await openDisk({ dir, onProgress: (seq) => progress.report(seq) })
    // People are told times by the clock that the space goes by.
    cli.now = space.now()
    if (isNew) cli.hint(`made a new space in ${dir}`)
    return space
  } finally {
    progress.end()
  }
}

/** The mailbox of whoever the verb acts as; somebody who has not joined is told how to. */
export const openMailbox = (cli: Cli, space: DiskSpace): Promise<Mailbox> =>
  space.mailbox(cli.actor, { join: false })
