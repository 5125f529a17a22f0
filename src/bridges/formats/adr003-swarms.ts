import { basename, dirname, join } from 'node:path'
import type { Agent } from '../../model/agent.ts'
import { Folder } from '../folder.ts'
import { isName } from '../letters.ts'

/** Swarms are in the folder, or beside it if it is called as usual. */
function swarmRoot(folder: Folder): { root: Folder; prefix: string } {
  const isBeside = !folder.has('swarms') && basename(folder.root) === 'workspace'
  if (!isBeside) return { root: folder, prefix: '' }
  return { root: new Folder(dirname(folder.root), folder.memory, folder.now), prefix: '..' }
}

const membersOf = (swarm: string): string => join('swarms', swarm, 'agents')

const swarmsIn = (root: Folder): string[] =>
  root.has('swarms') ? root.directories('swarms').filter((swarm) => root.has(membersOf(swarm))) : []

/** The members of the swarms, which are named without the swarm. */
export function* readSwarms(folder: Folder): Generator<{ swarm: string; member: string }> {
  const { root, prefix } = swarmRoot(folder)
  for (const swarm of swarmsIn(root)) {
    if (!isName(swarm) || !folder.isDue(join(prefix, membersOf(swarm)))) continue
    for (const path of root.files(membersOf(swarm), '.md')) {
      const member = basename(path, '.md')
      if (!/^[_.]/.test(member) && isName(member)) yield { swarm, member }
    }
  }
}

export function watchedSwarms(folder: Folder): string[] {
  const { root, prefix } = swarmRoot(folder)
  return swarmsIn(root).map((swarm) => join(prefix, membersOf(swarm)))
}

const sign = 'An agent of agent-mailbox, which this file adds to the swarm.'

/** Agents here that have the tag of a swarm there are members of it, so that its broadcasts reach them. */
export function writeSwarms(folder: Folder, agents: readonly Agent[]): void {
  const { root } = swarmRoot(folder)
  for (const swarm of swarmsIn(root)) {
    const dir = membersOf(swarm)
    const isOurs = (path: string) => root.read(path)?.text.includes(sign) === true
    const here = agents.filter(
      ({ name: agent, tags, gone }) =>
        tags.includes(`swarm:${swarm}`) && gone !== 'left' && !/[/\\]/.test(agent),
    )
    const wanted = new Map(here.map((agent) => [join(dir, `${agent.name}.md`), agent]))
    for (const [path, agent] of wanted)
      if (!root.has(path)) root.replace(path, `# ${agent.name}\n\n${sign}\n`)
    for (const path of root.files(dir, '.md')) if (!wanted.has(path) && isOurs(path)) root.remove(path)
  }
}
