import type { Command } from 'commander'
import { clients } from '../../model/client.ts'
import { action } from '../cli.ts'
import { examples } from '../help.ts'
import { foundPlace, spaceDir } from '../open.ts'
import { whole } from '../options.ts'

export function hook(command: Command): void {
  command
    .description(
      "Handle an event of an agent client. Reads the client's JSON from standard input. `mailbox init` adds this to the settings of the clients.",
    )
    .argument('<client>', clients.join(', '))
    .argument('<event>', 'the event, as the client names it')
    .option('--pid <n>', "the client's process (default: found above this one)", whole(1))
    .addHelpText('after', examples(`echo '{"session_id":"s1"}' | mailbox hook codex UserPromptSubmit`))
  action(command, async (cli, client: string, event: string, flags: { pid?: number }) => {
    const place = foundPlace(cli)
    const space = place.kind === 'hub' ? (cli.globals.space ?? process.env['MAILBOX_SPACE']!) : spaceDir(cli)
    const { runHook } = await import('../../clients/hook/run.ts')
    const pid = flags.pid ?? process.ppid
    const program = process.argv[1]!
    const argsFor = (other: string) => [
      ...[program, 'hook', client, other],
      ...['--pid', `${pid}`, '--space', space],
    ]
    const isNamed = cli.globals.space !== undefined || Boolean(process.env['MAILBOX_SPACE'])
    process.exitCode = await runHook({ client, event, space, isNamed, pid, argsFor })
  })
}
