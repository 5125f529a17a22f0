import type { Command } from 'commander'
import { promptFor } from '../../agent/prompt.ts'
import { type Agent, implicitPerson } from '../../model/agent.ts'
import { checkName } from '../../model/name.ts'
import { action, type Cli } from '../cli.ts'
import { examples } from '../help.ts'
import { foundPlace, open, spaceDir, spaceExists } from '../open.ts'

export function prompt(command: Command): void {
  command
    .description("Print the mailbox section of an agent's system prompt.")
    .argument('<name>', 'the agent; it need not have joined yet')
    .addHelpText('after', examples('mailbox prompt ada >> CLAUDE.md'))
  action(command, async (cli, name: string) => {
    checkName(name, 'agent name')
    const text = promptFor((await knownAgent(cli, name)) ?? { ...implicitPerson(), name })
    cli.answer({ prompt: text }, () => text)
  })
}

async function knownAgent(cli: Cli, name: string): Promise<Agent | undefined> {
  const place = foundPlace(cli)
  if (place.kind === 'directory' && !spaceExists(spaceDir(cli))) return undefined
  await using space = await open(cli)
  return (await space.agents()).find((agent) => agent.name === name)
}
