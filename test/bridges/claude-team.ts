import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DiskSpace } from '../../src/space/space.ts'
import { type Stage, stage } from './stage.ts'

/** An agent team in the manner of Claude Code 2.1.325, without the program. */
export interface ClaudeTeam extends Stage {
  team: string
  sessionId: string
  members: () => Record<string, unknown>[]
  inbox: (name: string) => Record<string, unknown>[]
  /** One member writes to the inbox of another, as SendMessage does. */
  post: (from: string, to: string, text: string | object, more?: object) => string
  /** A member takes its mail. */
  drain: (name: string) => void
  /** The lead starts a teammate, as far as the roster says it: without a place first. */
  start: (name: string) => { place: () => void; empty: () => void }
  /** A line in the conversation of the lead. */
  say: (text: string) => void
  /** Begins the roster from the start, as a resumed session does. */
  resume: () => void
  task: (id: string, more: object) => void
  taskFile: (id: string) => Record<string, unknown>
  end: () => void
}

let posted = 0

const startOf = (pid: number): string =>
  readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]!.split(' ')[19]!

/** A team whose lead is this process, with mates of these names. */
export async function claudeTeam(
  mates: readonly string[] = ['alice'],
  settings: object = {},
): Promise<ClaudeTeam> {
  const made = await stage('claude-teams', settings)
  const { folder } = made
  const sessionId = 'f1b8b09d-fa8d-4fc4-b57e-85f0a385b9ec'
  const team = 'session-f1b8b09d'
  const dir = join(folder, 'teams', team)
  const config = join(dir, 'config.json')
  const inboxOf = (name: string) => join(dir, 'inboxes', `${name}.json`)
  const read = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>[]
  const member = (name: string, more: object) => ({
    ...{ agentId: `${name}@${team}`, name, joinedAt: 1, subscriptions: [], cwd: '/proj' },
    ...more,
  })
  const resume = () => {
    mkdirSync(join(dir, 'inboxes'), { recursive: true })
    const leadProcess = { pid: process.pid, pidSpace: 'x', claimedAt: 1, procStart: startOf(process.pid) }
    const members = [member('team-lead', { agentType: 'team-lead', tmuxPaneId: 'leader' })]
    const whole = { name: team, createdAt: ++posted, leadSessionId: sessionId, leadProcess, members }
    writeFileSync(config, JSON.stringify(whole, null, 2))
  }
  resume()
  const roster = JSON.parse(readFileSync(config, 'utf8')) as { members: object[] }
  for (const mate of mates)
    roster.members.push(member(mate, { agentType: 'general-purpose', tmuxPaneId: 'in-process' }))
  writeFileSync(config, JSON.stringify(roster, null, 2))
  const locked = (name: string, change: (list: object[]) => object[]) => {
    const path = inboxOf(name)
    try {
      writeFileSync(path, '[]', { flag: 'wx' })
    } catch {
      // It is there.
    }
    while (spawnSync('mkdir', [`${path}.lock`]).status !== 0);
    writeFileSync(path, JSON.stringify(change(read(path)), null, 2))
    rmdirSync(`${path}.lock`)
  }
  const tasks = join(folder, 'tasks', team)
  return {
    ...made,
    team,
    sessionId,
    resume,
    members: () =>
      (JSON.parse(readFileSync(config, 'utf8')) as { members: Record<string, unknown>[] }).members,
    inbox: (name) => (existsSync(inboxOf(name)) ? read(inboxOf(name)) : []),
    post(from, to, text, more = {}) {
      const id = `00000000-0000-4000-8000-${String(++posted).padStart(12, '0')}`
      const words = typeof text === 'string' ? text : JSON.stringify(text)
      const timestamp = new Date().toISOString()
      const entry = {
        from,
        text: words,
        timestamp,
        msgV: 1,
        msg_id: id,
        type: 'message',
        read: false,
        ...more,
      }
      locked(to, (list) => [...list, entry])
      return id
    },
    drain: (name) => locked(name, () => []),
    start(name) {
      const change = (tmuxPaneId: string) => {
        const { members, ...rest } = JSON.parse(readFileSync(config, 'utf8')) as {
          members: { name: string }[]
        }
        const others = members.filter((one) => one.name !== name)
        const mate = member(name, { agentType: 'general-purpose', tmuxPaneId, joinedAt })
        writeFileSync(config, JSON.stringify({ ...rest, members: [...others, mate] }, null, 2))
      }
      const joinedAt = Date.now()
      change('')
      return {
        place: () => change('in-process'),
        empty() {
          if (!existsSync(inboxOf(name))) return
          writeFileSync(`${inboxOf(name)}.tmp.0`, '[]')
          renameSync(`${inboxOf(name)}.tmp.0`, inboxOf(name))
        },
      }
    },
    say(text) {
      const project = join(folder, 'projects', '-proj')
      mkdirSync(project, { recursive: true })
      const content = `<teammate-message teammate_id="x">\n${text}\n</teammate-message>`
      const line = JSON.stringify({ type: 'user', message: { role: 'user', content } })
      writeFileSync(join(project, `${sessionId}.jsonl`), `${line}\n`, { flag: 'a' })
    },
    task(id, more) {
      mkdirSync(tasks, { recursive: true })
      const task = {
        id,
        subject: `Task ${id}`,
        description: 'd',
        status: 'pending',
        blocks: [],
        blockedBy: [],
      }
      writeFileSync(join(tasks, `${id}.json`), JSON.stringify({ ...task, ...more }, null, 2))
    },
    taskFile: (id) => JSON.parse(readFileSync(join(tasks, `${id}.json`), 'utf8')) as Record<string, unknown>,
    end: () => rmSync(dir, { recursive: true }),
  }
}

/** The lead is an agent here, with hooks of its own. */
export const hookLead = (space: DiskSpace, id: string) =>
  space.join('claude-1', { session: { client: 'claude', id, pid: process.pid } })
