import { person, systemAgent } from './agent.ts'
import { confusables } from './confusables.ts'
import { reserved } from './name.ts'

/** Lower-case ASCII that looks like nothing else. */
const plain = /^[a-ln-z2-9 ./_-]*$/
const ascii = /^[\u0020-\u007e]*$/

/** What the table has of ASCII, so that most names do not need it. */
const asciiLooks: Readonly<Record<string, string>> = {
  ...{ m: 'rn', '0': 'O', '1': 'l', I: 'l', '|': 'l', '`': "'", '"': "''" },
}

const invisible = /\p{Default_Ignorable_Code_Point}/gu

/**
 * The skeletons of a name (UTS #39): names that share one are easily taken for each other. Capitals and small letters
 * are the same, and so are the forms of a letter (NFKC). There may be two: a capital I looks like a small l, and is also
 * the capital of i.
 */
export function skeletonsOf(name: string): readonly string[] {
  if (plain.test(name)) return [name]
  const isAscii = ascii.test(name)
  const bare = isAscii ? name : name.normalize('NFKD').replace(invisible, '')
  const looks = (text: string) => (isAscii ? asciiLook(text) : unicodeLook(text))
  const small = fold(looks(fold(bare)))
  const asWritten = fold(looks(bare))
  return small === asWritten ? [small] : [small, asWritten]
}

const fold = (text: string): string => text.toUpperCase().toLowerCase().replaceAll('ς', 'σ')

const asciiLook = (text: string): string => text.replace(/[m01I|`"]/g, (char) => asciiLooks[char]!)

function unicodeLook(text: string): string {
  const table = confusables()
  let look = ''
  for (const char of text.normalize('NFKD')) look += table.get(char) ?? char
  return look.normalize('NFKD')
}

/** Names by what they look like. */
export class Looks {
  readonly #names = new Map<string, string>()

  constructor(names: Iterable<string>) {
    for (const name of names) this.add(name)
  }

  add(name: string): void {
    for (const skeleton of skeletonsOf(name)) if (!this.#names.has(skeleton)) this.#names.set(skeleton, name)
  }

  /** Another name that looks like this one. */
  find(name: string): string | undefined {
    for (const skeleton of skeletonsOf(name)) {
      const found = this.#names.get(skeleton)
      if (found !== undefined && found !== name) return found
    }
    return undefined
  }
}

let reservedLooks: Looks | undefined

/** The reserved name that a name looks like. */
export function reservedLookAlike(name: string): string | undefined {
  // Agents are numbered: `a11` is the eleventh of them, not `all`.
  if (ascii.test(name) && /\d/.test(name)) return undefined
  reservedLooks ??= new Looks([person, systemAgent, ...reserved])
  return reservedLooks.find(name)
}
