// Writes src/model/confusable-characters.ts from the table that Unicode publishes with UTS #39:
//
//   node scripts/confusables.mjs confusables.txt
//
// The newest table: https://www.unicode.org/Public/security/latest/confusables.txt
import { readFileSync, writeFileSync } from 'node:fs'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('name the file: node scripts/confusables.mjs confusables.txt')
const text = readFileSync(file, 'utf8')
const version = /^# Version: (\S+)$/m.exec(text)?.[1]
const total = Number(/^# total: (\d+)$/m.exec(text)?.[1])
const rows = [...text.matchAll(/^([0-9A-F]+) ;\t([0-9A-F ]+) ;\tMA\t/gm)]
if (version === undefined || rows.length !== total)
  throw new Error(`${file} is not whole: it has ${rows.length} of ${total} rows`)

const decode = (hex) => String.fromCodePoint(...hex.split(' ').map((code) => Number.parseInt(code, 16)))

/** Characters by what they look like. Names are decomposed (NFKD) first, so that others never come up. */
const groups = new Map()
for (const [, source, target] of rows) {
  const char = decode(source)
  if (char.normalize('NFKD') !== char) continue
  const looks = decode(target)
  groups.set(looks, [...(groups.get(looks) ?? []), char.codePointAt(0)])
}

/** Numbers to the base 36: the characters of the look, then each character less the one before. */
const lines = [...groups].map(([looks, chars]) => {
  let before = 0
  const steps = chars
    .sort((a, b) => a - b)
    .map((char) => {
      const step = (char - before).toString(36)
      before = char
      return step
    })
  return `${[...looks].map((char) => char.codePointAt(0).toString(36)).join('+')}:${steps.join(',')}`
})

const width = 106
const packed = lines.join(' ')
const wrapped = []
for (let at = 0; at < packed.length; at += width) wrapped.push(packed.slice(at, at + width))

writeFileSync(
  new URL('../src/model/confusable-characters.ts', import.meta.url),
  `// Made by scripts/confusables.mjs from confusables.txt ${version} of Unicode, Inc. (UTS #39), which is shortened here.
// Its license is in scripts/licenses/unicode.txt.

/** Unpacked by confusables.ts. */
export const packed = \`
${wrapped.join('\n')}
\`
`,
)
