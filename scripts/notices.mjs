// Third-party notices: the licenses of the packages whose code is in our bundles, taken from the module graph.
import { existsSync, readdirSync, readFileSync } from 'node:fs'

const licenseFile = /^(licen[cs]e|copying|notice)(\.|-|$)/i

/** The folder of the package that a module is part of, if it is part of one. */
function packageDirOf(module) {
  const [path] = module.replace(/^\0+/, '').split('?')
  const at = path.lastIndexOf('/node_modules/')
  if (at === -1) return undefined
  const [scope, name] = path.slice(at + '/node_modules/'.length).split('/')
  const dir = `${path.slice(0, at)}/node_modules/${scope.startsWith('@') ? `${scope}/${name}` : scope}`
  return existsSync(`${dir}/package.json`) ? dir : undefined
}

const repositoryOf = ({ repository, homepage }) =>
  (typeof repository === 'string' ? repository : repository?.url) ?? homepage

function noticeOf(dir) {
  const about = JSON.parse(readFileSync(`${dir}/package.json`, 'utf8'))
  const texts = readdirSync(dir)
    .filter((file) => licenseFile.test(file) && !/\.[cm]?[jt]s$/.test(file))
    .sort()
    .map((file) => readFileSync(`${dir}/${file}`, 'utf8').trim())
  if (typeof about.license !== 'string' || about.license === '')
    throw new Error(`${about.name} is bundled and names no license`)
  const author = typeof about.author === 'string' ? about.author : about.author?.name
  const from = repositoryOf(about)
  const head = [
    `${about.name} ${about.version}`,
    `License: ${about.license}`,
    ...(from === undefined ? [] : [`From: ${from}`]),
  ]
  const body = texts.length > 0 ? texts : [`Copyright: ${author ?? `the authors of ${about.name}`}`]
  return { name: about.name, text: [head.join('\n'), ...body].join('\n\n') }
}

/** Our files that are made of the data of others. */
const dataFiles = {
  '/src/model/confusable-characters.ts': {
    name: 'Unicode confusables (UTS #39), shortened',
    license: 'Unicode-3.0',
    from: 'https://www.unicode.org/Public/security/latest/confusables.txt',
    file: new URL('licenses/unicode.txt', import.meta.url),
  },
}

function noticeOfData(module) {
  const found = Object.entries(dataFiles).find(([path]) => module.endsWith(path))
  if (found === undefined) return []
  const { name, license, from, file } = found[1]
  const head = [name, `License: ${license}`, `From: ${from}`].join('\n')
  return [{ name, text: [head, readFileSync(file, 'utf8').trim()].join('\n\n') }]
}

/** The notices for all packages that these modules are part of, and for the data in them, by name. */
export function noticesFor(modules) {
  const dirs = new Set([...modules].flatMap((module) => packageDirOf(module) ?? []))
  const data = [...modules].flatMap(noticeOfData)
  const notices = [...[...dirs].map(noticeOf), ...data].sort((a, b) => (a.name < b.name ? -1 : 1))
  const intro =
    'This package contains code and data of others, listed below. Each stays under its own license.'
  const line = `\n\n${'-'.repeat(78)}\n\n`
  return `${[intro, ...notices.map(({ text }) => text)].join(line)}\n`
}
