import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { toPrintableLine } from '../../model/text.ts'
import { type Login, readLogins, removeLogin, saveLogin } from '../../space/logins.ts'
import { openRemote } from '../../space/open.ts'
import { hubUrl } from '../../space/place.ts'
import { action, type Cli } from '../cli.ts'
import { table } from '../format/table.ts'
import { examples } from '../help.ts'
import { readText } from '../input.ts'
import { given } from '../options.ts'

/** A hub that was mistyped should say so soon. */
const patienceMs = 2_000

export function login(command: Command): void {
  command
    .description(
      'Keep a token for a hub, so that `mailbox --space URL` can use the space behind it. The token is read from\n' +
        'standard input, or asked for at a terminal, and kept in a file that only you can read. One token for each agent\n' +
        'is kept. Without an address, list the logins.',
    )
    .argument('[url]', 'the address that `mailbox serve` printed: https://hub.example.org:7337')
    .option('--name <name>', 'a name for it, to use as --space NAME')
    .addHelpText(
      'after',
      examples(
        'mailbox login https://hub.example.org:7337 --name work',
        'mailbox login http://127.0.0.1:7337 < token-of-ada',
        'mailbox --space work inbox',
        'mailbox login',
      ),
    )
  action(command, async (cli, named: string | undefined, { name }: { name?: string }) => {
    if (named === undefined) return list(cli)
    const url = hubUrl(named)
    const token = await readToken(url)
    await using space = await openRemote({ url, token, retryForMs: patienceMs })
    const { you: agent, version } = space
    saveLogin({ url, agent, token, ...given({ name }) }, process.env)
    cli.confirm({ url, agent, version, ...given({ name }) }, () =>
      toPrintableLine(`logged in to ${url} as ${agent}`),
    )
    if (isPlain(url))
      cli.warn(`plain HTTP to ${new URL(url).hostname}: the token and your mail can be read on their way`)
    cli.tip(`to use it: mailbox --space ${name ?? url} inbox`)
  })
}

export function logout(command: Command): void {
  command
    .description(
      'Forget the tokens for a hub. They stay valid: `mailbox token NAME --revoke` on its machine ends one.',
    )
    .argument('<hub>', 'its address, or the name of one login')
    .addHelpText('after', examples('mailbox logout work', 'mailbox logout https://hub.example.org:7337'))
  action(command, (cli, named: string) => {
    const logins = readLogins(process.env)
    const byName = logins.filter((one) => one.name === named)
    const found = byName.length > 0 ? byName : logins.filter((one) => one.url === hubUrl(named))
    if (found.length === 0)
      throw new MailboxError('not_found', `there is no login for ${named}`, {
        hint: 'list them: mailbox login',
      })
    for (const one of found) removeLogin(one, process.env)
    cli.confirm({ logins: found.map(shown) }, () =>
      found.map(({ url, agent }) => toPrintableLine(`logged out of ${url} as ${agent}`)).join('\n'),
    )
  })
}

/** Never from the command line, which other users of the machine can see. */
async function readToken(url: string): Promise<string> {
  const token = process.stdin.isTTY ? await askForToken(url) : (await readText('-')).trim()
  if (/^[\x21-\x7e]+$/.test(token)) return token
  throw new MailboxError('invalid', token === '' ? 'there is no token' : 'this is not a token', {
    hint: 'give it on standard input; on the machine of the hub, mailbox token NAME creates one',
  })
}

async function askForToken(url: string): Promise<string> {
  const { password, isCancel } = await import('@clack/prompts')
  const answer = await password({ message: `Token for ${url}`, output: process.stderr })
  if (isCancel(answer)) throw new MailboxError('interrupted', 'nothing was kept')
  return answer.trim()
}

const isPlain = (url: string): boolean =>
  url.startsWith('http:') && !/^(?:localhost|127\.[\d.]+|\[::1\])$/i.test(new URL(url).hostname)

/** Without its token. */
const shown = ({ url, agent, name }: Login) => ({ url, agent, ...given({ name }) })

function list(cli: Cli): void {
  const logins = readLogins(process.env)
  cli.answer({ logins: logins.map(shown) }, () => {
    if (logins.length === 0) return 'no logins; to add one: mailbox login URL'
    const columns = [{ head: 'NAME' }, { head: 'AGENT', flexible: true }, { head: 'HUB', flexible: true }]
    const rows = logins.map(({ name = '', agent, url }) => [name, agent, url])
    return table(columns, rows, cli.width, cli.colors).join('\n')
  })
}
