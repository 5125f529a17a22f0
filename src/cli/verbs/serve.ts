import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { clientAgents } from '../../space/acting.ts'
import { tryToRecord } from '../../space/audit.ts'
import { action } from '../cli.ts'
import { translate, usageHint } from '../exit.ts'
import { examples } from '../help.ts'
import { serviceSignal } from '../interrupt.ts'
import { openFiles } from '../open.ts'
import { collect, given, whole } from '../options.ts'

declare const __VERSION__: string

interface ServeFlags {
  host: string
  port?: number
  allowHost?: string[]
  tls?: boolean
  webhook: boolean
  install?: boolean
  uninstall?: boolean
  yes?: boolean
}

export function serve(command: Command): void {
  command
    .description(
      'Serve the space over HTTP: the console for the person; the API, streams and MCP for agents on other machines.\n' +
        'By default only this machine can connect, and every request needs a token. Press Ctrl-C to stop.',
    )
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <n>', 'the port to listen on (default: 7337, or the next free one)', whole(0))
    .option('--tls', 'speak TLS, with a certificate that the tokens vouch for')
    .option('--allow-host <name>', 'a host name that a proxy forwards requests for; repeatable', collect)
    .option('--no-webhook', 'leave the webhook to another hub of the same space')
    .option('--install', 'have systemd or launchd run it from now on, whenever you are logged in')
    .option('--uninstall', 'undo --install')
    .option('--yes', 'with --install: write the files without asking')
    .addHelpText(
      'after',
      examples(
        'mailbox serve',
        'mailbox serve --host 0.0.0.0 --port 8080 --tls',
        'mailbox serve --allow-host hub.example.org',
        'mailbox serve --install --port 7337',
      ),
    )
  action(command, async (cli, flags: ServeFlags) => {
    const { host, port, allowHost = [], tls = false, webhook } = flags
    if (flags.install || flags.uninstall) {
      const { installService, uninstallService } = await import('./service.ts')
      return flags.uninstall ? uninstallService(cli) : installService(cli, flags)
    }
    if (flags.yes) throw new MailboxError('invalid', '--yes goes with --install', { hint: usageHint })
    const { startHub } = await import('../../hub/hub.ts')
    const { passedFd } = await import('../../hub/listen.ts')
    const { beKeeper, bridgeLines } = await import('../../bridges/remembered.ts')
    const { withFingerprint } = await import('../../hub/certificate.ts')
    const { createLog } = await import('../../hub/log.ts')
    const { outsideSpace } = await import('../../hub/outside.ts')
    const { createMcpEndpoint } = await import('../../mcp/http.ts')
    const stop = serviceSignal()
    await using space = await openFiles(cli, { creates: true, runsBridges: false })
    // The link of the console is the person's: the log of an agent's client is no place for it.
    const isInside = (await clientAgents(space.core)).length > 0
    const mcp = createMcpEndpoint(outsideSpace(space), { version: __VERSION__ })
    const hub = await startHub({
      ...{ space, host, port, version: __VERSION__, log: createLog(), consoleDir: consoleDir() },
      ...{ allowHosts: allowHost, mcp, tls, webhook },
      ...{ listenFd: passedFd(process.env), bridges: () => bridgeLines(space.dir) },
    })
    const { url, link, socket, fingerprint } = hub
    const more = given({ socket, fingerprint })
    const secrets = isInside ? {} : { token: withFingerprint(hub.token, fingerprint), open: link }
    const where = isInside ? `${url} (for the link, outside the client: mailbox token user --link)` : link
    const { keepBridges } = await import('../../bridges/keeper.ts')
    beKeeper(space.dir)
    const bridges = keepBridges(space.dir, {
      ...{ signal: stop, program: 'serve', space: async () => space },
      onProblem: ({ format }, { place, reason }) => cli.warn(`bridge ${format}: ${place}: ${reason}`),
      onError: ({ format, path }, error) => cli.warn(`bridge ${format} ${path}: ${translate(error).message}`),
    })
    await tryToRecord(space.core, { event: 'hub_started', by: cli.actor, about: url })
    cli.answer({ url, space: space.dir, ...secrets, ...more }, () =>
      [
        ...[`open    ${where}`, `space   ${space.dir}`, 'stop    Ctrl-C'],
        ...(fingerprint === undefined ? [] : [`tls     sha256 ${fingerprint}`]),
      ].join('\n'),
    )
    const at = new URL(url).hostname.replace(/^\[|\]$/g, '')
    if (!tls && !isLoopback(at))
      cli.warn(
        `plain HTTP on ${at}: tokens and mail can be read on their way; use --tls, or listen on this machine behind a proxy with TLS`,
      )
    cli.tip(`agents on other machines need a token: ${cli.command('token NAME')}`)
    if (!stop.aborted) await new Promise((resolve) => stop.addEventListener('abort', resolve))
    // Close MCP first: the hub waits for its streams, which are connections of the hub.
    await mcp.close()
    await hub.stop()
    await bridges
  })
}

const isLoopback = (host: string): boolean => /^(?:localhost|127\..*|::1)$/i.test(host)

/** The console is next to the program, wherever the bundler puts this file. */
export function consoleDir(): string | undefined {
  return ['./console', '../console']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((dir) => existsSync(dir))
}
