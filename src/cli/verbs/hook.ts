import type { Command } from 'commander'
import { clients } from '../../model/client.ts'
import { action } from '../cli.ts'
import { examples } from '../help.ts'
import { spaceDir, spaceExists } from '../open.ts'
import { whole } from '../options.ts'

export function hook(command: Command): void {
  command
    .description(
      'Answer an event of an agent client, which gives its JSON on standard input. `mailbox init` puts this into the settings of the clients.',
    )
    .argument('<client>', clients.join(', '))
    .argument('<event>', 'the event, as the client calls it')
    .option('--pid <n>', "the client's process (default: found above this one)", whole(1))
    .addHelpText('after', examples(`echo '{"session_id":"s1"}' | mailbox hook codex UserPromptSubmit`))
  action(command, async (cli, client: string, event: string, { pid }: { pid?: number }) => {
    const space = spaceDir(cli)
    if (!spaceExists(space)) return
    const { runHook } = await import('../../clients/hook/run.ts')
    const known = pid ?? process.ppid
    const again = (other: string) => [
      process.argv[1]!,
      'hook',
      client,
      other,
      '--pid',
      `${known}`,
      '--space',
      space,
    ]
    process.exitCode = await runHook({ client, event, space, pid: known, again })
  })
}
