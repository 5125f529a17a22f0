import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import type { Agent } from '../../model/agent.ts'
import { checkName } from '../../model/name.ts'
import { toPrintableLine } from '../../model/text.ts'
import { mustBePerson } from '../../space/acting.ts'
import type { OpenedSpace } from '../../space/api.ts'
import { action, type Cli, shellWord } from '../cli.ts'
import { agentTable } from '../format/agents.ts'
import { examples } from '../help.ts'
import { open, openFiles } from '../open.ts'
import { collect, given, whole } from '../options.ts'

interface JoinFlags {
  role?: string[]
  tag?: string[]
  note?: string
  pid?: number
  client?: string
  swarm?: string
  a2a?: string
}

export function join(command: Command): void {
  command
    .description('Join the roster, or start a new run of an agent that has joined before.')
    .argument('[name]', 'the name of the agent')
    .option('--role <role>', 'a role, such as architect; repeatable', collect)
    .option('--tag <tag>', 'a tag, such as project:inscription; repeatable', collect)
    .option('--note <text>', 'a line about this agent, shown to others')
    .option('--pid <n>', "the agent's process id", whole(1))
    .option('--client <name>', 'the client it runs in, such as claude-code')
    .option(
      '--a2a <url>',
      'an agent of another system, by its A2A agent card; MAILBOX_A2A_TOKEN is its token, if it asks for one',
    )
    .option('--swarm <dir>', 'instead of one agent, register all agents in DIR/agents/*.md as SWARM/NAME')
    .addHelpText(
      'after',
      examples(
        'mailbox join ada --role architect --tag project:inscription',
        'mailbox join bob --pid $$',
        'mailbox join --swarm swarms/dev',
        'mailbox join helsinki --a2a https://example.org/.well-known/agent-card.json',
      ),
    )
  action(command, async (cli, name: string | undefined, flags: JoinFlags) => {
    const { role, tag, note, pid, client, swarm, a2a } = flags
    if ((name === undefined) === (swarm === undefined)) {
      throw new MailboxError('invalid', 'give either a name or --swarm', { hint: 'mailbox join ada' })
    }
    if (name === undefined) {
      await using space = await openFiles(cli, { creates: true })
      const agents = await space.seedSwarm(swarm!)
      cli.confirm({ agents }, () => agents.map((agent) => `${summary(agent)} registered`).join('\n'))
      return
    }
    checkName(name, 'agent name')
    if (a2a !== undefined) return joinRemote(cli, name, { card: a2a, roles: role, tags: tag })
    await using space = await open(cli, { creates: true, agent: name })
    const session = given({ pid, client })
    const agent = await space.join(name, { ...given({ roles: role, tags: tag, note }), session })
    cli.confirm({ agent }, () => `${summary(agent)} joined`)
    cli.tip(`to read its mail: ${cli.command(`check --as ${shellWord(name)}`)}`)
  })
}

interface RemoteFlags {
  card: string
  roles: string[] | undefined
  tags: string[] | undefined
}

/** Makes an agent of another system a member of the roster. Its card is read first, and the hub brings it its mail. */
async function joinRemote(cli: Cli, name: string, { card, roles, tags }: RemoteFlags): Promise<void> {
  await using space = await openFiles(cli, { creates: true })
  await mustBePerson(space.core, 'add agents of other systems')
  const { a2aClient, saveRemoteAgent } = await import('../../hub/a2a/remote-agents.ts')
  const { readCard } = await import('../../hub/a2a/remote-card.ts')
  const token = process.env['MAILBOX_A2A_TOKEN'] || undefined
  const remote = { card, ...given({ token }) }
  const { name: title, description } = await readCard(remote, space.settings['a2a.allow'])
  saveRemoteAgent(space.dir, name, remote)
  const agent = await space.join(name, { ...given({ roles, tags }), session: { client: a2aClient } })
  cli.confirm({ agent, card: { name: title, description } }, () => `${summary(agent)} joined, at ${card}`)
  cli.hint('its mail is sent while a hub runs: mailbox serve')
}

export function leave(command: Command): void {
  command
    .description('Leave the roster, for good or, with --frozen, for a while.')
    .argument('[name]', 'the agent that leaves (default: the one given by --as)')
    .option('--frozen', 'the agent will return; keep its mail')
    .addHelpText('after', examples('mailbox leave ada --frozen', 'mailbox leave --as bob'))
  action(command, async (cli, name: string | undefined, { frozen = false }: { frozen?: boolean }) => {
    await using space = await open(cli, { agent: name })
    const agent = await space.leave(name ?? cli.actor, { frozen })
    cli.answer(
      { agent },
      () => `${toPrintableLine(agent.name)} ${frozen ? 'is frozen; its mail is kept' : 'left'}`,
    )
  })
}

export function agents(command: Command): void {
  command.addHelpText('after', examples('mailbox agents', "mailbox agents --json | jq '.agents[].name'"))
  action(command, async (cli) => {
    await using space = await open(cli)
    const all = await space.agents()
    cli.answer({ agents: all }, () => agentTable(cli, all))
    for (const { warning } of space.helpers()) if (warning !== undefined) cli.warn(warning)
    if (all.length === 1)
      cli.tip(`no agent has joined yet; to add one: ${cli.command('join NAME --role ROLE')}`)
  })
}

/** Checked by the space. */
type UpdateState = Parameters<OpenedSpace['update']>[1]['state']

interface UpdateFlags {
  role?: string[]
  removeRole?: string[]
  tag?: string[]
  removeTag?: string[]
  state?: string
  alive?: boolean
  note?: string
}

export function update(command: Command): void {
  command
    .description('Change the roles, tags, state or note of the agent given by --as.')
    .option('--role <role>', 'add a role; repeatable', collect)
    .option('--remove-role <role>', 'remove a role; repeatable', collect)
    .option('--tag <tag>', 'add a tag; repeatable', collect)
    .option('--remove-tag <tag>', 'remove a tag; repeatable', collect)
    .option('--state <state>', 'set the state: alive, idle or waiting')
    .option('--alive', 'send a heartbeat only (for agents on other machines)')
    .option('--note <text>', 'a line about this agent, shown to others')
    .addHelpText(
      'after',
      examples('mailbox update --as ada --role reviewer --remove-tag project:inscription'),
    )
  action(command, async (cli, { alive, ...flags }: UpdateFlags) => {
    const { role, removeRole, tag, removeTag, note } = flags
    const change = given({
      addRoles: role,
      removeRoles: removeRole,
      addTags: tag,
      removeTags: removeTag,
      state: flags.state as UpdateState,
      note,
    })
    if (Object.keys(change).length === 0 && !alive) {
      throw new MailboxError('invalid', 'nothing to change', {
        hint: 'use --role, --remove-role, --tag, --remove-tag, --state, --note or --alive',
      })
    }
    await using space = await open(cli)
    const agent = await space.update(cli.actor, change)
    cli.confirm({ agent }, () => summary(agent))
  })
}

function summary({ name, roles, tags }: Agent): string {
  const labels = [...roles.map((role) => `role:${role}`), ...tags].join(' ')
  return toPrintableLine(labels === '' ? name : `${name} (${labels})`)
}
