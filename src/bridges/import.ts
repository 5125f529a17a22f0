import { existsSync } from 'node:fs'
import { person } from '../model/agent.ts'
import { isoTime } from '../model/time.ts'
import type { ExportLine } from '../model/transfer.ts'
import type { DiskSpace } from '../space/space.ts'
import { type Imported, importLines, type NumberedLine } from '../space/transfer.ts'
import { isAgent } from './arrivals.ts'
import type { Problem } from './bridge.ts'
import { Folder } from './folder.ts'
import type { CopyFact, Fact, Format } from './format.ts'
import { linesOf, stepLines } from './history.ts'
import { keyOf } from './letters.ts'
import { Memory } from './memory.ts'
import { inOrder } from './order.ts'
import { hostOf } from './parts.ts'
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
  const places: CopyFact[] = []
  try {
    const folder = new Folder(path, memory, space.now, hostOf(space))
    folder.begin()
    const lines = new Lines(space, format, path)
    const numbered = async function* (): AsyncGenerator<NumberedLine> {
      let line = 0
      for (const fact of factsIn(format, folder)) {
        for (const value of await lines.of(fact)) {
          if (fact.kind === 'copy' && value.kind === 'message') onProgress(line)
          places[line] = fact as CopyFact
          yield { line: ++line, value }
        }
      }
    }
    const done = await importLines(space.core, numbered(), {
      onRefused: ({ line, reason }) => {
        const { place, line: at } = places[line - 1]!
        problems.push({ place, reason, ...(at === undefined ? {} : { line: at }) })
      },
    })
    for (const fact of folder.problems)
      if (fact.kind === 'problem')
        problems.push({
          place: fact.place,
          reason: fact.reason,
          ...(fact.line === undefined ? {} : { line: fact.line }),
        })
    return { ...done, problems }
  } finally {
    memory.close()
  }
}

const factsIn = (format: Format, folder: Folder): Iterable<Fact> =>
  format.sorts ? inOrder([...format.read(folder)], () => format.read(folder)) : format.read(folder)

/** The lines of an export that facts of a folder are. */
class Lines {
  readonly #space: DiskSpace
  readonly #format: Format
  readonly #path: string
  /** By the ids there: the id here, and who it was for. */
  readonly #known = new Map<string, { id: string; owner: string }>()
  readonly #agents = new Set<string>()
  /** A bridge of this folder may have brought some of it. */
  readonly #mayBeHere: boolean

  constructor(space: DiskSpace, format: Format, path: string) {
    this.#space = space
    this.#format = format
    this.#path = path
    this.#mayBeHere = existsSync(memoryPath(space.dir, bridgeId(format.name, path)))
  }

  async of(fact: Fact): Promise<ExportLine[]> {
    if (fact.kind === 'agent') return this.#agent(fact.name, fact.roles, fact.tags)
    if (fact.kind === 'state') {
      const known = this.#known.get(fact.id)
      if (known === undefined) return []
      const at = fact.at ?? isoTime(this.#space.now())
      return this.#stepsOf(known, fact.owner, fact.state, at)
    }
    return fact.kind === 'copy' ? this.#message(fact) : []
  }

  async #message(fact: CopyFact): Promise<ExportLine[]> {
    if (this.#known.has(keyFor(fact)) || (this.#mayBeHere && (await this.#isHere(fact)))) return []
    const idOf = (foreign: string) => this.#known.get(foreign)?.id
    const known = { idOf, threadOf: () => undefined }
    const { id, lines } = linesOf(this.#format, this.#path, fact, known, this.#space.now())
    this.#known.set(fact.id, { id, owner: fact.owner })
    if (fact.copy !== undefined) this.#known.set(keyFor(fact), { id, owner: fact.owner })
    const owner = isAgent(fact.owner) ? this.#agent(fact.owner) : []
    return [...this.#agent(fact.letter.from), ...owner, ...lines]
  }

  #isHere(fact: CopyFact): Promise<boolean> {
    const { core } = this.#space
    const key = keyOf(this.#format.name, this.#path, fact)
    return core.query((source) => core.viewOf(source).keyed(fact.letter.from, key) !== undefined)
  }

  /** Mail to a role is in the box of whoever has taken it. */
  #stepsOf({ id, owner }: { id: string; owner: string }, by: string, state: CopyFact['state'], at: string) {
    const lines = stepLines(id, by, state ?? 'unread', at)
    if (!owner.startsWith('role:')) return lines
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
