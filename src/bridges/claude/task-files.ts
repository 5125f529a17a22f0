import { join } from 'node:path'
import { given, isObject } from '../../base/objects.ts'
import type { Folder } from '../folder.ts'
import type { CopyState, Fact, Link } from '../format.ts'
import { setMembers } from '../json-text.ts'
import { stringsIn } from '../letters.ts'
import { isTaskId, taskForeign, taskKey } from './frames.ts'
import { nameHere } from './names.ts'
import { leadName, type Team } from './team-files.ts'
import { changeTask } from './team-inbox.ts'

/* The shared task list of a team. A task with an owner is a task of that owner here, given by the lead. */

const dirOf = (team: string): string => join('tasks', team)

export const taskPath = (team: string, id: string): string => join(dirOf(team), `${id}.json`)

const states: Record<string, CopyState> = { pending: 'unread', in_progress: 'processing', completed: 'done' }

/** `guests`: the names of our agents, by what they are called in the team. */
export function* readTasks(folder: Folder, team: Team, guests: ReadonlyMap<string, string>): Generator<Fact> {
  for (const path of folder.files(dirOf(team.name), '.json')) {
    const file = folder.changed(path)
    if (file === undefined) continue
    const task = parsed(file.text)
    if (task === undefined) {
      if (folder.isSettled(path)) folder.problem(path, 'is not a task', undefined, file.mark)
      continue
    }
    const { id, subject, description, status, owner, blockedBy } = task
    const state = states[String(status)]
    const isOwned = typeof owner === 'string' && owner !== '' && state !== undefined
    if (!isOwned) {
      yield { kind: 'mark', mark: file.mark }
      continue
    }
    const here = guests.get(owner) ?? nameHere(folder, team, owner)
    const after = stringsIn(blockedBy).map((one) => taskKey(team.name, one))
    yield {
      ...{ kind: 'copy', id: taskForeign(team.name, id), place: path, state, isPast: state === 'done' },
      // Each owner that it is given to has a task of its own here.
      ...{ owner: here, copy: here },
      letter: {
        from: nameHere(folder, team, leadName),
        ...{ type: 'task_assignment', priority: 'high', expiresAt: null },
        at: new Date(folder.stat(path)?.mtimeMs ?? folder.now()).toISOString(),
        subject: typeof subject === 'string' ? subject : '',
        body: typeof description === 'string' ? description : '',
        payload: given({ taskId: taskKey(team.name, id), after: after.length > 0 ? after : undefined }),
      },
      raw: file.text,
      mark: file.mark,
    }
  }
}

function parsed(text: string): (Record<string, unknown> & { id: string }) | undefined {
  try {
    const task: unknown = JSON.parse(text)
    return isObject(task) && isTaskId(task['id']) ? { ...task, id: task['id'] } : undefined
  } catch {
    return undefined
  }
}

export function setTaskState(folder: Folder, { foreign }: Link, state: CopyState, _at: string): CopyState {
  const [, team = '', id = ''] = foreign.split(':')
  const path = taskPath(team, id)
  const status = state === 'done' ? 'completed' : state === 'processing' ? 'in_progress' : undefined
  if (status !== undefined && folder.has(path))
    changeTask(folder, path, (text) => setMembers(text, { status }))
  return state
}
