/** A colour for a name, the same everywhere. */
export function hueOf(name: string): number {
  let hash = 7
  for (const char of name) hash = (hash * 31 + char.codePointAt(0)!) % 3_600
  return hash / 10
}
