import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const built = new URL('../../dist/console/', import.meta.url).pathname

/** The scripts a browser loads before it shows anything: the entry and its imports. */
export function entryScripts(): string[] {
  const page = readFileSync(join(built, 'index.html'), 'utf8')
  const found = new Set([...page.matchAll(/"\/(assets\/[^"]+\.js)"/g)].map((match) => match[1]!))
  for (const file of found) {
    const text = readFileSync(join(built, file), 'utf8')
    for (const match of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) found.add(`assets/${match[1]}`)
  }
  return [...found]
}

/** All files reachable from the page. An earlier build may have left others. */
export function builtFiles(): string[] {
  const found = new Set(['index.html', 'icon.svg'])
  const names = readdirSync(join(built, 'assets'))
  for (const file of found) {
    const text = readFileSync(join(built, file), 'utf8')
    for (const name of names) if (text.includes(name)) found.add(`assets/${name}`)
  }
  return [...found]
}
