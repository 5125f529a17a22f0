/** What could stand where the person is typing. */
export interface Completion {
  /** The whole text with it. */
  text: string
  /** What is added. */
  word: string
  about?: string
}

const most = 8
const separator = /[,;\n]/

/** Completes the last of several words that commas separate. Words that are there already are not offered again. */
export function completeLast(
  typed: string,
  words: readonly Pick<Completion, 'word' | 'about'>[],
): Completion[] {
  const parts = typed.split(separator)
  const start = parts.at(-1)!.trim().toLowerCase()
  if (start === '') return []
  const taken = new Set(parts.slice(0, -1).map((part) => part.trim()))
  const before = typed.slice(0, typed.length - parts.at(-1)!.length)
  const rank = ({ word }: { word: string }) => {
    const name = word.toLowerCase()
    // `arch` finds `role:architect`, after the agents whose names begin with it.
    return name.startsWith(start)
      ? 0
      : name.slice(name.indexOf(':') + 1).startsWith(start.replace('#', ''))
        ? 1
        : 2
  }
  return words
    .filter((one) => !taken.has(one.word) && one.word.toLowerCase() !== start && rank(one) < 2)
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, most)
    .map((one) => ({
      ...one,
      text: `${before}${before === '' || before.endsWith(' ') ? '' : ' '}${one.word}, `,
    }))
}
