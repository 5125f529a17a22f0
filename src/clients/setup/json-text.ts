import { applyEdits, type Edit, type Node, parseTree } from 'jsonc-parser'

/**
 * Edits of a JSON file (with comments, as far as its client takes them) that touch nothing but the entry
 * they add or take out: what stands beside it, its comments included, keeps its bytes. The library's own
 * `modify` moves the comments of neighbours and lays neighbours out anew, so only its tree is used here.
 */

type Path = readonly (string | number)[]

interface Layout {
  unit: string
  eol: string
  /** The whole file stands on one line: what is added does, too. */
  minified: boolean
}

const treeOf = (text: string): Node => parseTree(text, [], { allowTrailingComma: true })!

function layoutOf(text: string): Layout {
  const root = treeOf(text)
  const first = root.children?.[0]
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n'
  if (first === undefined) return { unit: '  ', eol, minified: false }
  const indent = indentAt(text, first.offset)
  return {
    unit: indent || '  ',
    eol,
    minified: !/\n/.test(text.slice(root.offset, root.offset + root.length)),
  }
}

/** What stands before it on its line, if that is nothing but blanks. */
function indentAt(text: string, offset: number): string | undefined {
  const before = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset)
  return /^[ \t]*$/.test(before) ? before : undefined
}

const lineIndent = (text: string, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))![0]

/** The value at a path; of doubled keys the last one counts, as it does for whoever reads the file. */
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

/** Adds a property behind the others. The object at `path` must be there. */
export const addProperty = (text: string, path: Path, key: string, value: unknown): string =>
  addChild(text, nodeAt(text, path)!, value, key)

/** Adds an element behind the others. The array at `path` must be there. */
export const addElement = (text: string, path: Path, value: unknown): string =>
  addChild(text, nodeAt(text, path)!, value, undefined)

export function replaceValue(text: string, path: Path, value: unknown): string {
  const node = nodeAt(text, path)!
  const layout = layoutOf(text)
  const oneLine = !text.slice(node.offset, node.offset + node.length).includes('\n')
  const content = oneLine ? writtenFlat(value, layout) : written(value, layout, lineIndent(text, node.offset))
  return applyEdits(text, [{ offset: node.offset, length: node.length, content }])
}

function written(value: unknown, layout: Layout, indent: string, key?: string): string {
  const label = key === undefined ? '' : `${JSON.stringify(key)}:${layout.minified ? '' : ' '}`
  return label + (layout.minified ? JSON.stringify(value) : laidOut(value, layout, indent, label.length))
}

/** For a neighbourhood that stands on one line. */
const writtenFlat = (value: unknown, layout: Layout, key?: string): string =>
  layout.minified
    ? written(value, layout, '', key)
    : (key === undefined ? '' : `${JSON.stringify(key)}: `) + onOneLine(value)

/** What fits on a line stands on one: somebody is going to read this before it is written. */
const lineWidth = 160

function laidOut(value: unknown, layout: Layout, indent: string, lead = 0): string {
  const flat = onOneLine(value)
  if (value === null || typeof value !== 'object' || indent.length + lead + flat.length < lineWidth)
    return flat
  const { unit, eol } = layout
  const inner = indent + unit
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const parts = Object.entries(value).map(([key, part]) => {
    const label = Array.isArray(value) ? '' : `${JSON.stringify(key)}: `
    return inner + label + laidOut(part, layout, inner, label.length)
  })
  return [open, parts.join(`,${eol}`), indent + close].join(eol)
}

function onOneLine(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`
  const pairs = Object.entries(value).map(([key, part]) => `${JSON.stringify(key)}: ${onOneLine(part)}`)
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`
}

function addChild(text: string, container: Node, value: unknown, key: string | undefined): string {
  const layout = layoutOf(text)
  const last = container.children?.at(-1)
  if (last === undefined) return addOnlyChild(text, container, value, key)
  const oneLine = !text.slice(container.offset, container.offset + container.length).includes('\n')
  const indent = indentAt(text, last.offset) ?? lineIndent(text, container.offset) + layout.unit
  const comma = commaBehind(text, last)
  const end = last.offset + last.length
  const lead = oneLine ? (layout.minified ? '' : ' ') : layout.eol + indent
  const added = lead + (oneLine ? writtenFlat(value, layout, key) : written(value, layout, indent, key))
  const edits: Edit[] =
    comma === undefined
      ? [
          { offset: end, length: 0, content: ',' },
          { offset: endOfComments(text, end), length: 0, content: added },
        ]
      : [{ offset: endOfComments(text, comma + 1), length: 0, content: `${added},` }]
  return applyEdits(text, edits)
}

function addOnlyChild(text: string, container: Node, value: unknown, key: string | undefined): string {
  const layout = layoutOf(text)
  const open = container.offset + 1
  const close = container.offset + container.length - 1
  const outer = lineIndent(text, container.offset)
  const indent = outer + layout.unit
  const added = written(value, layout, indent, key)
  // A comment in an otherwise empty object stays where it is, before what is added.
  const kept = text.slice(open, close).trimEnd()
  const content = layout.minified ? added : `${layout.eol}${indent}${added}${layout.eol}${outer}`
  return applyEdits(text, [{ offset: open + kept.length, length: close - open - kept.length, content }])
}

/** The comma that follows a child, if there is one: between two, or behind the last. */
function commaBehind(text: string, child: Node): number | undefined {
  const at = endOf(/(?:\s|\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)*/y, text, child.offset + child.length)
  return text[at] === ',' ? at : undefined
}

/** Comments behind an entry, on its line, are about that entry: what is added comes after them. */
const endOfComments = (text: string, from: number): number =>
  endOf(/(?:[ \t]*(?:\/\/[^\r\n]*|\/\*[\s\S]*?\*\/))*/y, text, from)

function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from
  return from + (pattern.exec(text)?.[0].length ?? 0)
}

/** Takes the property or element at `path` out, with its comma. */
export function removeAt(text: string, path: Path): string {
  const value = nodeAt(text, path)!
  const child = value.parent?.type === 'property' ? value.parent : value
  const siblings = child.parent!.children!
  const previous = siblings[siblings.indexOf(child) - 1]
  const comma = commaBehind(text, child)
  const edits: Edit[] = []
  const end = comma === undefined ? child.offset + child.length : comma + 1
  const indent = indentAt(text, child.offset)
  if (indent !== undefined) {
    // A line of its own goes as a whole, with the line end before it.
    const start = child.offset - indent.length
    const lineEnd = text.slice(0, start).endsWith('\r\n') ? 2 : start > 0 ? 1 : 0
    edits.push({ offset: start - lineEnd, length: end - start + lineEnd, content: '' })
  } else if (comma !== undefined && previous === undefined) {
    const blanks = /^[ \t]*/.exec(text.slice(end))![0].length
    edits.push({ offset: child.offset, length: end + blanks - child.offset, content: '' })
  } else {
    const blanks = /[ \t]*$/.exec(text.slice(0, child.offset))![0].length
    edits.push({ offset: child.offset - blanks, length: end - child.offset + blanks, content: '' })
  }
  if (comma === undefined && previous !== undefined) {
    const before = commaBehind(text, previous)
    if (before !== undefined) edits.unshift({ offset: before, length: 1, content: '' })
  }
  return collapse(applyEdits(text, edits), path.slice(0, -1))
}

/** A container that holds nothing any more, not even a comment, is written as such. */
function collapse(text: string, path: Path): string {
  const node = nodeAt(text, path)!
  const inner = text.slice(node.offset + 1, node.offset + node.length - 1)
  if (inner.trim() !== '' || inner === '') return text
  return applyEdits(text, [{ offset: node.offset + 1, length: inner.length, content: '' }])
}
