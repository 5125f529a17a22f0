import type { Command } from 'commander'
import { action } from '../cli.ts'
import { examples } from '../help.ts'
import { open } from '../open.ts'

declare const __VERSION__: string

export function mcp(command: Command): void {
  command
    .description(
      "Serve one agent's mailbox as MCP tools over standard input and output. MCP clients start this themselves.\n" +
        'The agent is the one named by --as or MAILBOX_AGENT, otherwise it is named after the client. It stays alive as long as the client runs.',
    )
    .addHelpText('after', examples('mailbox mcp --as ada', 'claude mcp add mailbox -- mailbox mcp --as ada'))
  action(command, async (cli) => {
    const { serve } = await import('../../mcp/stdio.ts')
    const { wakeClaude } = await import('../../clients/claude/wake.ts')
    const { claudeSession } = await import('../../clients/claude/session.ts')
    const { openCodeCaller } = await import('../../clients/opencode/caller.ts')
    await using space = await open(cli, { creates: true })
    const name = cli.globals.as ?? (process.env['MAILBOX_AGENT'] || undefined)
    const pid = process.ppid
    await serve(space, {
      ...{ version: __VERSION__, name, pid },
      sessionId: () => claudeSession(pid)?.id ?? openCodeCaller(space.stateDir, pid),
      wake: (mailboxFor, signal) =>
        wakeClaude({
          ...{ mailbox: () => mailboxFor({ name: 'claude' }), stateDir: space.stateDir },
          ...{ pid, signal },
        }),
    })
  })
}
