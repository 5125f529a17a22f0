/**
 * Changes single members of a JSON object in its text. Everything else stays as its writer wrote it: the order of the
 * keys, the blanks, the spelling of numbers and escapes.
 */
export function setMembers(text: string, values: Record<string, unknown>): string {
  let changed = text
  for (const [key, value] of Object.entries(values)) changed = setMember(changed, key, JSON.stringify(value))
  return changed
}

function setMember(text: string, key: string, value: string): string {
  const members = membersOf(text)
  const found = members.findLast((member) => member.key === key)
  if (found !== undefined) return text.slice(0, found.from) + value + text.slice(found.to)
  const last = members.at(-1)
  if (last === undefined) {
    const open = text.indexOf('{') + 1
    return `${text.slice(0, open)}${JSON.stringify(key)}: ${value}${text.slice(open)}`
  }
  // Written like the member before it.
  const gap = text.slice(last.lead, last.keyFrom)
  const colon = text.slice(last.keyTo, last.from)
  return `${text.slice(0, last.to)},${gap}${JSON.stringify(key)}${colon}${value}${text.slice(last.to)}`
}

interface Member {
  key: string
  /** Where the blanks before its key begin, the key itself, and its value. */
  lead: number
  keyFrom: number
  keyTo: number
  from: number
  to: number
}

/** The members of the object that a text is, which has been parsed before. */
function membersOf(text: string): Member[] {
  const members: Member[] = []
  let at = text.indexOf('{') + 1
  for (;;) {
    const lead = at
    at = skipBlanks(text, at)
    if (at >= text.length || text[at] === '}') return members
    const keyFrom = at
    const keyTo = endOfString(text, at)
    const from = skipBlanks(text, skipBlanks(text, keyTo) + 1)
    const to = endOfValue(text, from)
    members.push({ key: JSON.parse(text.slice(keyFrom, keyTo)) as string, lead, keyFrom, keyTo, from, to })
    at = skipBlanks(text, to)
    if (text[at] !== ',') return members
    at++
  }
}

function skipBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && /[\s\ufeff]/.test(text[at]!)) at++
  return at
}

function endOfString(text: string, from: number): number {
  let at = from + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at + 1
}

function endOfValue(text: string, from: number): number {
  if (text[from] === '"') return endOfString(text, from)
  let depth = 0
  for (let at = from; at < text.length; at++) {
    const char = text[at]!
    if (char === '"') at = endOfString(text, at) - 1
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') {
      if (depth === 0) return trimmedEnd(text, from, at)
      depth--
      if (depth === 0) return at + 1
    } else if (char === ',' && depth === 0) return trimmedEnd(text, from, at)
  }
  return text.length
}

function trimmedEnd(text: string, from: number, end: number): number {
  let at = end
  while (at > from && /\s/.test(text[at - 1]!)) at--
  return at
}
