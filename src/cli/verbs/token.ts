import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { person } from '../../model/agent.ts'
import type { AuditDraft } from '../../model/entry.ts'
import { toPrintableLine } from '../../model/text.ts'
import { tryToRecord } from '../../space/audit.ts'
import { changeShared } from '../../space/shared.ts'
import type { Cli } from '../cli.ts'
import { table } from '../format/table.ts'
import { relative } from '../format/time.ts'
import { examples } from '../help.ts'
import { existingSpaceDir, openFiles, personAction } from '../open.ts'
import { finiteDuration, given } from '../options.ts'

interface TokenFlags {
  revoke?: boolean
  rotate?: boolean
  webhook?: boolean
  link?: boolean
  scope?: string
  expires?: number
}

export function token(command: Command): void {
  command
    .description(
      'Create a token with which an agent connects to the hub from another machine. It is valid for that agent only.\n' +
        'It is printed once; only its digest is stored. A new token replaces the old one. Without a name, list the tokens.',
    )
    .argument('[name]', `the agent; ${person} is you, with --rotate`)
    .option(
      '--scope <scopes>',
      'what it is good for, separated by commas: act, read-own, read-all, bridge, metrics (default: act,read-own)',
    )
    .option('--expires <duration>', 'how long it is valid: 12h, 30d (default: until revoked)', finiteDuration)
    .option('--rotate', "replace the person's token, or with --webhook the webhook's secret")
    .option('--revoke', 'revoke the token and close its connections')
    .option('--link', `with ${person}: print the link to the console of the running hub`)
    .option('--webhook', 'print the secret that webhooks are signed with')
    .addHelpText(
      'after',
      examples(
        'mailbox token ada',
        'mailbox token ada --expires 30d',
        'mailbox token prometheus --scope metrics',
        'mailbox token ao-bridge --scope read-all,bridge',
        'mailbox token ada --revoke',
        `mailbox token ${person} --rotate`,
        'mailbox token',
      ),
    )
  personAction(command, 'manage tokens', async (cli, name: string | undefined, flags: TokenFlags) => {
    const dir = existingSpaceDir(cli)
    if (flags.webhook) return printSecret(cli, dir, name, flags)
    if (name === undefined) return list(cli, dir, flags)
    if (flags.revoke) return revoke(cli, dir, name)
    if (flags.link) return printLink(cli, dir, name)
    if (flags.rotate) return rotate(cli, dir, name)
    const { createAgentToken, listAgentTokens, tokensName } = await import('../../hub/tokens.ts')
    const { fingerprintIfAny, withFingerprint } = await import('../../hub/certificate.ts')
    const { parseScopes } = await import('../../hub/scopes.ts')
    const scopes = flags.scope === undefined ? undefined : parseScopes(flags.scope)
    const fingerprint = fingerprintIfAny(dir)
    const create = () => createAgentToken(dir, name, { scopes, lastsMs: flags.expires })
    const created = withFingerprint(await changeShared(dir, tokensName, create), fingerprint)
    await record(cli, { event: 'token_created', about: name, ...given({ note: flags.scope }) })
    const { name: agent, createdAt: _, ...rest } = listAgentTokens(dir).find((one) => one.name === name)!
    cli.answer({ agent, token: created, ...rest, ...given({ fingerprint }) }, () => created)
    cli.tip(
      'Save it now; it is not shown again. To use it on another machine: mailbox login URL, or openSpace({ url, token })',
    )
  })
}

/** Says in the journal what was done with a token. */
async function record(cli: Cli, event: Pick<AuditDraft, 'event' | 'about' | 'note'>): Promise<void> {
  await using space = await openFiles(cli)
  await tryToRecord(space.core, { by: cli.actor, ...event })
}

async function printSecret(cli: Cli, dir: string, name: string | undefined, { rotate }: TokenFlags) {
  if (name !== undefined)
    throw new MailboxError('invalid', 'there is one secret for the webhook', { hint: 'omit the name' })
  const { webhookSecret } = await import('../../hub/webhook-signature.ts')
  const change = () => webhookSecret(dir, { renew: rotate ?? false })
  const secret = await changeShared(dir, 'hub/webhook-secret', change)
  cli.answer({ webhook: { secret } }, () => secret)
}

async function printLink(cli: Cli, dir: string, name: string): Promise<void> {
  if (name !== person)
    throw new MailboxError('invalid', 'only the person has a console', {
      hint: `mailbox token ${person} --link`,
    })
  const { linkIfAny } = await import('../../hub/link.ts')
  const link = linkIfAny(dir)
  if (link === undefined)
    throw new MailboxError('not_found', 'no hub of this space is running here', {
      hint: 'start one: mailbox serve',
    })
  cli.answer({ link }, () => link)
}

async function revoke(cli: Cli, dir: string, name: string): Promise<void> {
  const { revokeAgentToken, tokensName } = await import('../../hub/tokens.ts')
  const shown = toPrintableLine(name)
  if (!(await changeShared(dir, tokensName, () => revokeAgentToken(dir, name))))
    throw new MailboxError('not_found', `${shown} has no token`, {
      hint: name === person ? `replace it: mailbox token ${person} --rotate` : 'see `mailbox token`',
    })
  await record(cli, { event: 'token_revoked', about: name })
  cli.confirm({ agent: name, revoked: true }, () => `revoked the token of ${shown}`)
}

async function rotate(cli: Cli, dir: string, name: string): Promise<void> {
  if (name !== person)
    throw new MailboxError('invalid', '--rotate is for the token of the person', {
      hint: `for an agent: mailbox token ${toPrintableLine(name)}; it replaces the old one`,
    })
  const { rotatePersonToken } = await import('../../hub/person-token.ts')
  const { fingerprintIfAny, withFingerprint } = await import('../../hub/certificate.ts')
  const created = withFingerprint(rotatePersonToken(dir), fingerprintIfAny(dir))
  await record(cli, { event: 'token_rotated', about: name })
  cli.answer({ agent: name, token: created }, () => created)
  cli.tip('The old token has ended. Programs that use it need the new one; the console needs none of them.')
}

async function list(cli: Cli, dir: string, { revoke: revokes, rotate: rotates }: TokenFlags): Promise<void> {
  if (revokes || rotates) {
    const flag = revokes ? '--revoke' : '--rotate'
    throw new MailboxError('invalid', 'missing agent name', { hint: `mailbox token NAME ${flag}` })
  }
  const { readUses, tokenLines } = await import('../../hub/token-use.ts')
  const uses = readUses(dir)
  const useOf = (name: string) => uses.tokens.get(name) ?? { refused: 0 }
  const tokens = tokenLines(dir)
  cli.answer({ tokens, person: useOf(person), unknown: uses.unknown }, () => {
    const lines = tokens.length === 0 ? ['no agent has a token'] : tableOf(cli, tokens)
    if (uses.unknown > 0) lines.push(`${uses.unknown} refused without a valid token`)
    return lines.join('\n')
  })
}

interface Listed {
  name: string
  createdAt: string
  scopes: readonly string[]
  expiresAt?: string
  lastUsedAt?: string
  refused: number
}

function tableOf(cli: Cli, tokens: readonly Listed[]): string[] {
  const when = (at: string | undefined, none: string) => (at === undefined ? none : relative(at, cli.now))
  const rows = tokens.map(({ name, createdAt, scopes, expiresAt, lastUsedAt, refused }) => [
    ...[name, relative(createdAt, cli.now), scopes.join(',')],
    ...[expiresAt !== undefined && Date.parse(expiresAt) <= cli.now ? 'expired' : when(expiresAt, 'never')],
    ...[when(lastUsedAt, 'never'), String(refused)],
  ])
  const heads = ['AGENT', 'CREATED', 'SCOPE', 'EXPIRES', 'LAST USE', 'REFUSED'].map((head) => ({ head }))
  return table(heads, rows, cli.width, cli.colors)
}
