import { confusables } from '../model/confusables.ts'

/** Angle brackets and what looks like them, by how many of them each looks like. */
const angles = new Map(
  Object.entries({
    ...each('<‹˂ᐸᚲ≺⟨〈〈❮❰＜﹤⦑⧼⪪𝈶', '<'),
    ...each('>›˃ᐳ≻⟩〉〉❯❱＞﹥⦒⧽⪫𝈷𖼿', '>'),
    ...each('«≪《⟪⪡⪻⟬⫷', '< <'),
    ...each('»≫》⟫⪢⪼⟭⫸', '> >'),
    ...each('⋘', '< < <'),
    ...each('⋙', '> > >'),
  }),
)

function each(chars: string, spaced: string): Record<string, string> {
  return Object.fromEntries([...chars].map((char) => [char, spaced]))
}

const oneAngle = `[${[...angles.keys()].join('')}]`
/** Brackets in a row; marks on them and spaces that are no plain ones do not part them. */
const row = new RegExp(
  `${oneAngle}(?:[\\p{M}\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]*${oneAngle})*`,
  'gu',
)

/** How many letters and digits may be between the word and the brackets, so that they read as one mark. */
const reach = 40

/**
 * Breaks up what reads as a mark of a fence: three angle brackets with the word `mail` near them, also in characters
 * that look like these. The brackets get spaces between them, so that a reader can still tell what was written.
 * Brackets elsewhere, such as those of a merge conflict, are left alone.
 */
export function defuse(text: string): string {
  const rows = [...text.matchAll(row)].filter(([found]) => countOf(found) >= 3)
  if (rows.length === 0) return text
  const { letters, places } = lettersOf(text)
  const words = [...letters.matchAll(/rna[il]l/g)].map(({ index }) => index)
  if (words.length === 0) return text
  let out = ''
  let from = 0
  let at = 0
  let next = 0
  for (const { 0: found, index } of rows) {
    while (at < places.length && places[at]! < index) at++
    while (next < words.length && words[next]! + wordLength + reach < at) next++
    const word = words[next]
    if (word === undefined || word > at + reach) continue
    out += text.slice(from, index) + spaced(found)
    from = index + found.length
  }
  return out + text.slice(from)
}

const wordLength = 'rnail'.length

const countOf = (found: string): number =>
  [...found].reduce((sum, char) => sum + (angles.get(char)?.split(' ').length ?? 0), 0)

const spaced = (found: string): string =>
  [...found]
    .flatMap((char) => {
      const plain = angles.get(char)
      return plain === undefined ? [] : plain.length === 1 ? char : plain
    })
    .join(' ')

/** The letters and digits of a text as they look, and where in the text each of them is. */
function lettersOf(text: string): { letters: string; places: number[] } {
  const places: number[] = []
  let letters = ''
  let place = 0
  for (const char of text) {
    const look = lookOf(char)
    letters += look
    for (let n = 0; n < look.length; n++) places.push(place)
    place += char.length
  }
  return { letters, places }
}

const looks = new Map<string, string>()
const looksKept = 4_096

function lookOf(char: string): string {
  const known = looks.get(char)
  if (known !== undefined) return known
  const table = confusables()
  const small = char.normalize('NFKD').toUpperCase().toLowerCase()
  const look = [...small].map((one) => table.get(one) ?? one).join('')
  const kept = look.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
  if (looks.size < looksKept) looks.set(char, kept)
  return kept
}
