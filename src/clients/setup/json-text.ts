import { applyEdits, type Node, parseTree } from 'jsonc-parser'

/**
 * Edits a JSON file, possibly with comments, and touches nothing but the entry that is added or removed: its
 * neighbours and their comments keep their bytes. The library's own `modify` moves and reformats neighbours, so only
 * its parser is used here.
 */

type Path = readonly (string | number)[]

interface Layout {
  unit: string
  eol: string
  /** The whole file is on one line, and so is what we add. */
  minified: boolean
}

const treeOf = (text: string): Node => parseTree(text, [], { allowTrailingComma: true })!

const sourceOf = (text: string, { offset, length }: Node): string => text.slice(offset, offset + length)

function layoutOf(text: string): Layout {
  const root = treeOf(text)
  const first = root.children?.[0]
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n'
  if (first === undefined) return { unit: '  ', eol, minified: false }
  return { unit: indentAt(text, first.offset) || '  ', eol, minified: !sourceOf(text, root).includes('\n') }
}

/** What precedes it on its line, if that is only white space. */
function indentAt(text: string, offset: number): string | undefined {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[ \t]*$/.test(before) ? before : undefined
}

const lineIndent = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))![0]

/** The value at a path. Of duplicate keys the last one counts, as it does for JSON parsers. */
export function nodeAt(text: string, path: Path): Node | undefined {
  let at: Node | undefined = treeOf(text)
  for (const step of path) {
    if (typeof step === 'number') at = at?.type === 'array' ? at.children?.[step] : undefined
    else at = at?.type === 'object' ? propertiesOf(at, step).at(-1)?.children?.[1] : undefined
  }
  return at
}

const propertiesOf = (object: Node, key: string): Node[] =>
  (object.children ?? []).filter((property) => property.children?.[0]?.value === key)

export function replaceValue(text: string, path: Path, value: unknown): string {
  const node = nodeAt(text, path)!
  const { offset, length } = node
  const indent = sourceOf(text, node).includes('\n') ? lineIndent(text, offset) : undefined
  return applyEdits(text, [{ offset, length, content: written(value, layoutOf(text), indent) }])
}

/** Without an indent it is on one line, like what surrounds it. */
function written(value: unknown, layout: Layout, indent: string | undefined, key?: string): string {
  const label = key === undefined ? '' : `${JSON.stringify(key)}:${layout.minified ? '' : ' '}`
  if (layout.minified) return label + JSON.stringify(value)
  return label + (indent === undefined ? onOneLine(value) : formatted(value, layout, indent, label.length))
}

/** What fits on a line is put on one: a person reviews this. */
const lineWidth = 160

function formatted(value: unknown, layout: Layout, indent: string, lead = 0): string {
  const flat = onOneLine(value)
  if (value === null || typeof value !== 'object' || indent.length + lead + flat.length < lineWidth)
    return flat
  const { unit, eol } = layout
  const inner = indent + unit
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const parts = Object.entries(value).map(([key, part]) => {
    const label = Array.isArray(value) ? '' : `${JSON.stringify(key)}: `
    return inner + label + formatted(part, layout, inner, label.length)
  })
  return [open, parts.join(`,${eol}`), indent + close].join(eol)
}

function onOneLine(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`
  const pairs = Object.entries(value).map(([key, part]) => `${JSON.stringify(key)}: ${onOneLine(part)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

/** Adds a property, or without a key an element, after the others of the object or array at `path`. */
export function addAt(text: string, path: Path, value: unknown, key?: string): string {
  const container = nodeAt(text, path)!
  const layout = layoutOf(text)
  const last = container.children?.at(-1)
  if (last === undefined) return addOnlyChild(text, container, layout, value, key)
  const indent = sourceOf(text, container).includes('\n')
    ? (indentAt(text, last.offset) ?? lineIndent(text, container.offset) + layout.unit)
    : undefined
  const lead = indent === undefined ? (layout.minified ? '' : ' ') : layout.eol + indent
  const added = lead + written(value, layout, indent, key)
  const comma = commaBehind(text, last)
  if (comma !== undefined) return insert(text, endOfComments(text, comma + 1), `${added},`)
  const end = last.offset + last.length
  return insert(insert(text, endOfComments(text, end), added), end, ',')
}

const insert = (text: string, offset: number, content: string): string =>
  applyEdits(text, [{ offset, length: 0, content }])

function addOnlyChild(text: string, container: Node, layout: Layout, value: unknown, key?: string): string {
  const open = container.offset + 1
  const close = container.offset + container.length - 1
  const outer = lineIndent(text, container.offset)
  const indent = outer + layout.unit
  const added = written(value, layout, indent, key)
  // A comment in an otherwise empty object stays where it is, before the new entry.
  const kept = text.slice(open, close).trimEnd()
  const content = layout.minified ? added : `${layout.eol}${indent}${added}${layout.eol}${outer}`
  return applyEdits(text, [{ offset: open + kept.length, length: close - open - kept.length, content }])
}

/** The comma that follows a child, if there is one: between two, or behind the last. */
function commaBehind(text: string, child: Node): number | undefined {
  const at = endOf(/(?:\s|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y, text, child.offset + child.length)
  return text[at] === ',' ? at : undefined
}

/** Comments after an entry, on its line, belong to it: a new entry comes after them. */
const endOfComments = (text: string, from: number): number =>
  endOf(/(?:[ \t]*(?:\/\/[^\r\n]*|\/\*[\s\S]*?\*\/))*/y, text, from)

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return from + (pattern.exec(text)?.[0].length ?? 0)
}

/** Removes the property or element at `path`, with its comma. */
export function removeAt(text: string, path: Path): string {
  const value = nodeAt(text, path)!
  const child = value.parent?.type === 'property' ? value.parent : value
  const siblings = child.parent!.children!
  const previous = siblings[siblings.indexOf(child) - 1]
  const comma = commaBehind(text, child)
  const before = text.slice(0, child.offset)
  const after = text.slice(comma === undefined ? child.offset + child.length : comma + 1)
  const isFirstOnLine = indentAt(text, child.offset) === undefined && comma !== undefined && !previous
  // An entry with lines to itself is removed with them and the preceding line break.
  let now = isFirstOnLine
    ? before + after.replace(/^[ \t]+/, '')
    : before.replace(/(?:(?:^|\r?\n)[ \t]*|[ \t]+)$/, '') + after
  if (comma === undefined && previous !== undefined) {
    const spare = commaBehind(text, previous)!
    now = now.slice(0, spare) + now.slice(spare + 1)
  }
  return collapse(now, path.slice(0, -1))
}

/** An object or array that is empty now, with not even a comment, becomes `{}` or `[]`. */
function collapse(text: string, path: Path): string {
  const node = nodeAt(text, path)!
  const inner = sourceOf(text, node).slice(1, -1)
  if (inner.trim() !== '') return text
  return applyEdits(text, [{ offset: node.offset + 1, length: inner.length, content: '' }])
}
