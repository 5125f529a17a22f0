// npm run docs: builds the documentation in docs/, README.md and ARCHITECTURE.md into site/, a folder of plain files
// with a search and the reference of the library. It asks nothing of the network, and neither do the pages. Whatever
// is wrong with a page fails the build: a link that leads nowhere, a page that no list names.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readApi } from './docs/api.mjs'
import { pageHtml } from './docs/page.mjs'
import { renderPage } from './docs/render.mjs'

const { values } = parseArgs({
  options: { root: { type: 'string' }, out: { type: 'string' }, declarations: { type: 'string' } },
})
const here = new URL('.', import.meta.url).pathname
const root = resolve(values.root ?? join(here, '..'))
const out = resolve(values.out ?? join(root, 'site'))

/** The pages, in the order of the sidebar. */
const groups = [
  ['Start', ['README.md', 'docs/demo.md', 'docs/console.md', 'docs/comparison.md']],
  ['Agents', ['docs/clients.md', 'docs/hooks.md', 'docs/mcp.md', 'docs/tmux.md', 'docs/bridges.md']],
  [
    'Mail',
    ['docs/conversations.md', 'docs/routing.md', 'docs/settling.md', 'docs/life.md', 'docs/limits.md'],
  ],
  [
    'Running it',
    [
      'docs/hub.md',
      'docs/remote.md',
      'docs/a2a.md',
      'docs/postgres.md',
      'docs/security.md',
      'docs/export.md',
    ],
  ],
  [
    'Inside',
    [
      'ARCHITECTURE.md',
      ...[
        'journal-format',
        'desk',
        'crashes',
        'reliability',
        'repair',
        'benchmarks',
        'scaling',
        'mutation',
      ].map((name) => `docs/${name}.md`),
      'docs/decisions/README.md',
    ],
  ],
  ['More', ['CONTRIBUTING.md', 'CHANGELOG.md']],
]
const problems = []
const named = groups.flatMap(([, pages]) => pages)
const found = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.md'))
  .map((file) => `docs/${file.replaceAll('\\', '/')}`)
const decisions = found.filter((file) => /^docs\/decisions\/\d/.test(file)).sort()
for (const file of found)
  if (!named.includes(file) && !decisions.includes(file))
    problems.push(`${file} is in no list of scripts/docs.mjs`)
const sources = [...named, ...decisions].filter((file) => {
  const isThere = existsSync(join(root, file))
  if (!isThere) problems.push(`${file} is listed in scripts/docs.mjs and does not exist`)
  return isThere
})

const addressOf = (file) =>
  file === 'README.md'
    ? 'index.html'
    : file
        .replace(/^docs\//, '')
        .replace(/README\.md$/, 'index.md')
        .replace(/\.md$/, '.html')
const addresses = new Map(sources.map((file) => [file, addressOf(file)]))

/** Files of the repository that pages link to, which are copied beside them. */
const copied = new Map()

/** Where a link of a page leads on the site. */
function resolveLink(from, href) {
  if (/^(https?:|mailto:)/.test(href)) return href
  const [path, hash = ''] = href.split('#')
  const target = path === '' ? from : relative(root, resolve(root, dirname(from), path))
  const anchor = hash === '' ? '' : `#${hash}`
  const address = addresses.get(target) ?? copy(target)
  if (address === undefined) {
    problems.push(`${from}: the link to ${href} leads nowhere`)
    return href
  }
  return `${relative(dirname(addresses.get(from)), address) || address}${anchor}`
}

function copy(target) {
  if (target.startsWith('..') || !existsSync(join(root, target))) return undefined
  const isPicture = /\.(svg|png|webp|gif)$/.test(target)
  // A folder, or code: its place in the repository says enough.
  const address = isPicture ? target.replace(/^docs\//, '') : `files/${target}`
  copied.set(target, address)
  return address
}

rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const pages = sources.map((file) => {
  const page = renderPage(readFileSync(join(root, file), 'utf8'), (href) => resolveLink(file, href))
  return { file, address: addresses.get(file), ...page }
})
const api = await readApi(root, values.declarations)
pages.push({ file: 'src/mod.ts', address: 'api.html', ...renderPage(api, (href) => href) })

const menu = [
  ...groups.map(([title, files]) => ({
    title,
    pages: pages
      .filter(({ file }) => files.includes(file))
      .sort((a, b) => files.indexOf(a.file) - files.indexOf(b.file)),
  })),
]
menu.find(({ title }) => title === 'Inside').pages.unshift(pages.at(-1))

for (const page of pages) {
  const up = '../'.repeat(page.address.split('/').length - 1)
  const path = join(out, page.address)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, pageHtml(page, menu, up))
}
for (const [target, address] of copied) {
  mkdirSync(dirname(join(out, address)), { recursive: true })
  cpSync(join(root, target), join(out, address), { recursive: true })
}
for (const file of ['site.css', 'site.js']) cpSync(join(here, 'docs', file), join(out, file))
const index = pages.flatMap(({ address, title, sections }) =>
  sections.map(({ id, heading, text }) => [`${address}${id === '' ? '' : `#${id}`}`, title, heading, text]),
)
// A script, because a page that is opened as a file may not fetch anything.
writeFileSync(join(out, 'search.js'), `const sections=${JSON.stringify(index).replaceAll('<', '\\u003c')}\n`)

checkLinks()
if (problems.length > 0) {
  for (const problem of problems) console.error(problem)
  console.error(`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}; nothing was published`)
  rmSync(out, { recursive: true, force: true })
  process.exit(1)
}
console.log(
  `${pages.length} pages in ${relative(process.cwd(), out) || '.'}: open ${relative(process.cwd(), join(out, 'index.html'))}`,
)

/** Every link of every page that was written leads to a file, and to a heading in it. */
function checkLinks() {
  const ids = new Map()
  const idsOf = (path) => {
    if (!ids.has(path))
      ids.set(path, new Set([...readFileSync(path, 'utf8').matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)))
    return ids.get(path)
  }
  for (const { file, address } of pages) {
    const html = readFileSync(join(out, address), 'utf8')
    for (const [, kind, raw] of html.matchAll(/ (href|src)="([^"]*)"/g)) {
      const href = raw.replaceAll('&amp;', '&')
      if (/^https:/.test(href) && kind === 'href') continue
      if (href === 'data:,') continue
      if (/^(http:|\/\/|https:)/.test(href)) {
        problems.push(`${file}: ${kind} ${href} is a request to the outside, or not https`)
        continue
      }
      const [path, hash] = href.split('#')
      const target = path === '' ? join(out, address) : resolve(out, dirname(address), decodeURI(path))
      if (!existsSync(target)) problems.push(`${file}: the link to ${href} leads nowhere`)
      else if (hash && !(target.endsWith('.html') && idsOf(target).has(decodeURIComponent(hash))))
        problems.push(`${file}: ${href} names a heading that is not there`)
    }
  }
}
