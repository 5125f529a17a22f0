import { existsSync } from 'node:fs'
import { given } from '../base/objects.ts'
import { person } from '../model/agent.ts'
import { isoTime } from '../model/time.ts'
import type { ExportLine } from '../model/transfer.ts'
import { bridgedOnDisk } from '../space/bridged.ts'
import type { DiskSpace } from '../space/space.ts'
import { type Imported, importLines, type NumberedLine } from '../space/transfer.ts'
import { isAgent } from './arrivals.ts'
import { Folder } from './folder.ts'
import type { CopyFact, Fact, Format } from './format.ts'
import { linesOf, stepLines } from './history.ts'
import { keyOf } from './letters.ts'
import { Memory } from './memory.ts'
import { sorted } from './order.ts'
import { hostOf } from './parts.ts'
import type { Problem } from './problem.ts'
import { bridgeId, memoryPath } from './remembered.ts'

export interface FolderImport extends Imported {
  /** What cannot be read, or is refused: it stays where it is. */
  problems: Problem[]
}

/** Takes over everything that is in a folder of another system as history: ids, times, threads and states. */
export async function importFolder(
  space: DiskSpace,
  format: Format,
  path: string,
  onProgress: (messages: number) => void = () => {},
): Promise<FolderImport> {
  const memory = new Memory(':memory:')
  const problems: Problem[] = []
  // Of each line; there can be very many, so not the facts, which have the messages in them.
  const places: string[] = []
  const linesThere: (number | undefined)[] = []
  try {
    const folder = new Folder(path, memory, space.now, hostOf(bridgedOnDisk(space)))
    folder.begin()
    const lines = new Lines(space, format, path)
    const numbered = async function* (): AsyncGenerator<NumberedLine> {
      let line = 0
      for (const fact of factsIn(format, folder)) {
        const found = lines.of(fact)
        for (const value of found instanceof Promise ? await found : found) {
          if (fact.kind === 'copy' && value.kind === 'message') onProgress(line)
          const { place = '', line: at } = fact as Partial<CopyFact>
          places.push(place)
          linesThere.push(at)
          yield { line: ++line, value }
        }
      }
    }
    const done = await importLines(space.core, numbered(), {
      onRefused: ({ line, reason }) => {
        problems.push({ place: places[line - 1]!, reason, ...given({ line: linesThere[line - 1] }) })
      },
    })
    for (const fact of folder.problems)
      if (fact.kind === 'problem')
        problems.push({ place: fact.place, reason: fact.reason, ...given({ line: fact.line }) })
    return { ...done, problems }
  } finally {
    memory.close()
  }
}

const factsIn = (format: Format, folder: Folder): Iterable<Fact> =>
  format.sorts ? sorted(format.read(folder)) : format.read(folder)

/** The lines of an export that facts of a folder are. */
class Lines {
  readonly #space: DiskSpace
  readonly #format: Format
  readonly #path: string
  /** By the ids there: the ids here. */
  readonly #known = new Map<string, string>()
  /** The role that a message was for, by its id here. */
  readonly #roles = new Map<string, string>()
  readonly #ids = { idOf: (foreign: string) => this.#known.get(foreign), threadOf: () => undefined }
  readonly #agents = new Set<string>()
  /** A bridge of this folder may have brought some of it. */
  readonly #mayBeHere: boolean

  constructor(space: DiskSpace, format: Format, path: string) {
    this.#space = space
    this.#format = format
    this.#path = path
    this.#mayBeHere = existsSync(memoryPath(space.dir, bridgeId(format.name, path)))
  }

  of(fact: Fact): ExportLine[] | Promise<ExportLine[]> {
    if (fact.kind === 'agent') return this.#agent(fact.name, fact.roles, fact.tags)
    if (fact.kind === 'state') {
      const known = this.#known.get(fact.id)
      if (known === undefined) return []
      const at = fact.at ?? isoTime(this.#space.now())
      return this.#stepsOf(known, fact.owner, fact.state, at)
    }
    return fact.kind === 'copy' ? this.#message(fact) : []
  }

  #message(fact: CopyFact): ExportLine[] | Promise<ExportLine[]> {
    if (this.#known.has(keyFor(fact))) return []
    if (!this.#mayBeHere) return this.#linesOf(fact)
    return this.#isHere(fact).then((isHere) => (isHere ? [] : this.#linesOf(fact)))
  }

  #linesOf(fact: CopyFact): ExportLine[] {
    const { id, lines } = linesOf(this.#format, this.#path, fact, this.#ids, this.#space.now())
    this.#known.set(fact.id, id)
    if (fact.copy !== undefined) this.#known.set(keyFor(fact), id)
    if (fact.owner.startsWith('role:')) this.#roles.set(id, fact.owner)
    const { from } = fact.letter
    const isNew = (name: string) => !this.#agents.has(name)
    if (!isNew(from) && !isNew(fact.owner)) return lines
    const owner = isNew(fact.owner) && isAgent(fact.owner) ? this.#agent(fact.owner) : []
    return [...this.#agent(from), ...owner, ...lines]
  }

  #isHere(fact: CopyFact): Promise<boolean> {
    const { core } = this.#space
    const key = keyOf(this.#format.name, this.#path, fact)
    return core.query((source) => core.viewOf(source).keyed(fact.letter.from, key) !== undefined)
  }

  /** Mail to a role is in the box of whoever has taken it. */
  #stepsOf(id: string, by: string, state: CopyFact['state'], at: string) {
    const lines = stepLines(id, by, state ?? 'unread', at)
    const owner = this.#roles.get(id)
    if (owner === undefined) return lines
    return lines.map((line) =>
      line.kind === 'receipt'
        ? { ...line, changes: line.changes.map((change) => ({ ...change, owner, box: by })) }
        : line,
    )
  }

  /** Whoever is named is in the roster, and expected. */
  #agent(name: string, roles: readonly string[] = [], tags: readonly string[] = []): ExportLine[] {
    if (name === person || this.#agents.has(name)) return []
    this.#agents.add(name)
    const at = isoTime(this.#space.now())
    const session = { generation: 0, startedAt: at, client: 'bridge' }
    const agent = {
      name,
      state: 'frozen' as const,
      roles: [...roles],
      tags: [...tags],
      session,
      lastSeenAt: at,
    }
    return [{ kind: 'agent', at, agent }]
  }
}

const keyFor = ({ id, copy }: CopyFact): string => (copy === undefined ? id : JSON.stringify([id, copy]))
