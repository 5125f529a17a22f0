import type { Command } from 'commander'
import { promptFor } from '../../agent/prompt.ts'
import { implicitPerson } from '../../model/agent.ts'
import { checkName } from '../../model/name.ts'
import { action } from '../cli.ts'
import { examples } from '../help.ts'
import { open } from '../open.ts'

export function prompt(command: Command): void {
  command
    .description("Print the mailbox section of an agent's system prompt.")
    .argument('<name>', 'the agent; it need not have joined yet')
    .addHelpText('after', examples('mailbox prompt ada >> CLAUDE.md'))
  action(command, async (cli, name: string) => {
    checkName(name, 'agent name')
    await using space = await open(cli)
    const known = (await space.agents()).find((agent) => agent.name === name)
    const text = promptFor(known ?? { ...implicitPerson(), name })
    cli.answer({ prompt: text }, () => text)
  })
}
