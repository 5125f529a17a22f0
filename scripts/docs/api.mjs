// The reference of the library, from its declarations: every name that the package exports, with its comment.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

/** The rooms whose names a program meets, in the order in which it meets them. */
const rooms = [
  ['space', 'Spaces and mailboxes'],
  ['model', 'Messages, agents and settings'],
  ['agent', 'Running agents'],
  ['conversation', 'Conversations'],
  ['delivery', 'Waiting and watching'],
  ['command', 'Joining'],
  ['query', 'Answers'],
  ['remote', 'Hubs'],
  ['base', 'Errors'],
  ['', 'Other'],
]

/** The reference as Markdown. */
export async function readApi(root, given) {
  const declarations = given ?? mkdtempSync(join(tmpdir(), 'mailbox-docs-'))
  try {
    if (given === undefined) {
      const tsc = join(root, 'node_modules', '.bin', 'tsc')
      execFileSync(tsc, ['-p', 'tsconfig.types.json', '--outDir', declarations], {
        cwd: root,
        stdio: 'inherit',
      })
    }
    return write(exportsOf(join(declarations, 'mod.d.ts')), declarations)
  } finally {
    if (given === undefined) rmSync(declarations, { recursive: true, force: true })
  }
}

const parsed = new Map()
function parse(file) {
  if (!parsed.has(file)) {
    const text = readFileSync(file, 'utf8')
    parsed.set(file, { text, body: parseAst(text, { lang: 'dts', astType: 'ts' }, file).body })
  }
  return parsed.get(file)
}

const fileOf = (from, specifier) => {
  const path = resolve(dirname(from), specifier.replace(/\.(js|ts)$/, ''))
  return [`${path}.d.ts`, join(path, 'index.d.ts')].find((one) => existsSync(one))
}

/** Every exported name, with the text of its declaration. */
function exportsOf(file) {
  const names = []
  for (const node of parse(file).body) {
    if (node.type !== 'ExportNamedDeclaration') continue
    if (node.source !== null && node.source !== undefined) {
      const target = fileOf(file, node.source.value)
      for (const { local, exported } of node.specifiers)
        names.push({ name: exported.name, ...find(target, local.name) })
    } else if (node.declaration) {
      for (const name of namesOf(node.declaration)) names.push({ name, ...declarationIn(file, node) })
    } else
      for (const { local, exported } of node.specifiers)
        names.push({ name: exported.name, ...find(file, local.name) })
  }
  return names
}

const namesOf = (declaration) =>
  declaration.declarations?.flatMap(({ id }) =>
    id.type === 'ObjectPattern' ? id.properties.map(({ value }) => value.name) : [id.name],
  ) ?? [declaration.id.name]

/** Follows a name to the file that declares it. */
function find(file, name) {
  if (file === undefined) throw new Error(`the declarations of ${name} are missing`)
  const own = parse(file).body.filter((node) => {
    const declaration = node.type === 'ExportNamedDeclaration' ? node.declaration : node
    return (
      /Declar/.test(declaration?.type ?? '') &&
      declaration.source === undefined &&
      namesIn(declaration).includes(name)
    )
  })
  // A function has a declaration for each way to call it.
  const all = own.map((node) => declarationIn(file, node, name))
  if (all.length > 0)
    return {
      ...{
        file,
        about: all
          .map(({ about }) => about)
          .filter(Boolean)
          .join('\n\n'),
      },
      code: all.map(({ code }) => code).join('\n'),
    }
  for (const node of parse(file).body) {
    if (node.type === 'ImportDeclaration' || (node.type === 'ExportNamedDeclaration' && node.source)) {
      const specifier = node.specifiers.find(({ local, exported }) => (exported ?? local).name === name)
      if (specifier !== undefined)
        return find(fileOf(file, node.source.value), (specifier.imported ?? specifier.local).name)
    }
  }
  throw new Error(`${name} is not declared in ${file}`)
}

function namesIn(declaration) {
  try {
    return namesOf(declaration)
  } catch {
    return []
  }
}

function declarationIn(file, node, name) {
  const { text } = parse(file)
  const before = text.slice(0, node.start)
  const [, comment = ''] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(before) ?? []
  let code = text.slice(node.start, node.end)
  const declared = (node.declaration ?? node).declarations
  // One of several that are declared together.
  const own = name === undefined ? undefined : declared?.find(({ id }) => id.name === name)
  if (own !== undefined && declared.length > 1) code = `const ${text.slice(own.start, own.end)}`
  return { file, about: toText(comment), code: code.replace(/^export (declare )?|^declare /, '').trim() }
}

const toText = (comment) =>
  comment
    .replace(/^\s*\* ?/gm, '')
    .replace(/\{@link (\S+)\}/g, '`$1`')
    .trim()

function write(names, declarations) {
  const byRoom = new Map(rooms.map(([room, title]) => [room, { title, names: [] }]))
  for (const one of names) {
    const [room] = one.file.slice(declarations.length + 1).split('/')
    ;(byRoom.get(room) ?? byRoom.get('')).names.push(one)
  }
  const lines = [
    '# Library reference',
    '',
    "Everything that `import … from 'agent-mailbox'` gives, from its type declarations.",
    '',
  ]
  for (const { title, names: listed } of byRoom.values()) {
    if (listed.length === 0) continue
    lines.push(`## ${title}`, '')
    // What is called comes before what it takes and gives.
    const isValue = ({ code }) => /^(function|const|class|abstract class)/.test(code)
    for (const { name, about, code } of listed.toSorted(
      (a, b) => Number(isValue(b)) - Number(isValue(a)) || a.name.localeCompare(b.name),
    ))
      lines.push(`### ${name}`, '', about.replace(/</g, '&lt;'), '', '```ts', code, '```', '')
  }
  return lines.join('\n')
}
