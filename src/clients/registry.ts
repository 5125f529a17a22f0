import { existsSync } from 'node:fs'
import { MailboxError } from '../base/errors.ts'
import { type Client, clients } from '../model/client.ts'
import { claude } from './claude/dialect.ts'
import { claudeSetup } from './claude/setup.ts'
import { codex } from './codex/dialect.ts'
import { codexSetup } from './codex/setup.ts'
import { gemini } from './gemini/dialect.ts'
import { geminiSetup } from './gemini/setup.ts'
import type { Dialect } from './hook/dialect.ts'
import { opencode } from './opencode/dialect.ts'
import { opencodeSetup } from './opencode/setup.ts'
import type { ClientSetup } from './setup/client-setup.ts'
import { findProgram } from './setup/find-program.ts'

/** What the hooks know of each client. */
export const dialects: Record<Client, Dialect> = { claude, codex, gemini, opencode }

/** How `init`, `uninit` and `doctor` handle each. Apart from the dialects, so that hooks load none of this. */
export const clientSetups: readonly ClientSetup[] = [claudeSetup, codexSetup, geminiSetup, opencodeSetup]

/** The clients on this machine: those that are installed or have been used. */
export const findClients = (env: NodeJS.ProcessEnv): ClientSetup[] =>
  clientSetups.filter(
    (client) => existsSync(client.home(env)) || findProgram(client.binary, env) !== undefined,
  )

export function clientNamed(name: string): ClientSetup {
  const found = clientSetups.find((client) => client.name === name)
  if (found !== undefined) return found
  throw new MailboxError('invalid', `unknown client ${JSON.stringify(name)}`, {
    hint: `known clients: ${clients.join(', ')}`,
  })
}
