import { join } from 'node:path'
import type { TokenLine } from '../api/reading.ts'
import { readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { isObject } from '../base/objects.ts'
import type { Caller } from './callers.ts'
import { hubDir } from './hub-dir.ts'
import { listAgentTokens } from './tokens.ts'

/** What became of a name's requests. */
interface Use {
  lastUsedAt?: string
  /** How many requests with its token were refused. */
  refused: number
}

/** What tokens were used for, and how many requests had none that is valid. */
export interface Uses {
  tokens: Map<string, Use>
  unknown: number
}

const useFile = (dir: string) => join(hubDir(dir), 'use.json')
const writeMs = 60_000

/** What is known of the use of tokens. It may be a minute old. */
export function readUses(dir: string): Uses {
  const found = readJsonIfAny<{ tokens?: unknown; unknown?: unknown }>(useFile(dir))
  const rows = isObject(found?.tokens) ? Object.entries(found.tokens) : []
  return {
    tokens: new Map(
      rows.map(([name, row]) => [
        name,
        {
          ...(isObject(row) && typeof row['lastUsedAt'] === 'string'
            ? { lastUsedAt: row['lastUsedAt'] }
            : {}),
          refused: isObject(row) ? countOf(row['refused']) : 0,
        },
      ]),
    ),
    unknown: countOf(found?.unknown),
  }
}

/** The tokens of agents, with what each was used for. */
export function tokenLines(dir: string): TokenLine[] {
  const { tokens } = readUses(dir)
  return listAgentTokens(dir).map(({ scopes, ...one }) => ({
    ...one,
    scopes: [...scopes],
    ...(tokens.get(one.name) ?? { refused: 0 }),
  }))
}

const countOf = (value: unknown): number => (Number.isSafeInteger(value) ? (value as number) : 0)

const requests = (count: number): string => `${count} ${count === 1 ? 'request' : 'requests'}`

/** Remembers when tokens were last used and what was refused; writes it down now and then, and at the end. */
export class TokenUse {
  readonly #dir: string
  readonly #report: (note: string) => void
  #used = new Map<string, number>()
  #refused = new Map<string, number>()
  #unknown = 0
  #timer: NodeJS.Timeout | undefined

  /** `report`: is told now and then of what was refused. */
  constructor(dir: string, report: (note: string) => void = () => {}) {
    this.#dir = dir
    this.#report = report
  }

  used({ agent }: Caller): void {
    this.#used.set(agent, Date.now())
    this.#plan()
  }

  /** `agent`: whose token it was, if that is known. */
  refused(agent: string | undefined): void {
    if (agent === undefined) this.#unknown++
    else this.#refused.set(agent, (this.#refused.get(agent) ?? 0) + 1)
    this.#plan()
  }

  #plan(): void {
    this.#timer ??= setTimeout(() => this.write(), writeMs).unref()
  }

  /** Adds what is new to the file: several hubs can serve one space. */
  write(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#used.size + this.#refused.size + this.#unknown === 0) return
    for (const [name, times] of this.#refused) this.#report(`${requests(times)} with the token of ${name}`)
    if (this.#unknown > 0) this.#report(`${requests(this.#unknown)} without a valid token`)
    const { tokens, unknown } = readUses(this.#dir)
    for (const name of new Set([...this.#used.keys(), ...this.#refused.keys()])) {
      const before = tokens.get(name)
      const at = this.#used.get(name)
      const lastUsedAt = at === undefined ? before?.lastUsedAt : new Date(at).toISOString()
      tokens.set(name, {
        ...(lastUsedAt === undefined ? {} : { lastUsedAt }),
        refused: (before?.refused ?? 0) + (this.#refused.get(name) ?? 0),
      })
    }
    const whole = { tokens: Object.fromEntries(tokens), unknown: unknown + this.#unknown }
    try {
      writeFileAtomically(useFile(this.#dir), `${JSON.stringify(whole)}\n`, { expendable: true })
    } catch {
      // Where nothing can be written, nothing is remembered.
    }
    this.#used = new Map()
    this.#refused = new Map()
    this.#unknown = 0
  }
}
