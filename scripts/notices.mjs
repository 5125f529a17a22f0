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

/** The notices for all packages that these modules are part of, by name. */
export function noticesFor(modules) {
  const dirs = new Set([...modules].flatMap((module) => packageDirOf(module) ?? []))
  const notices = [...dirs].map(noticeOf).sort((a, b) => (a.name < b.name ? -1 : 1))
  const intro = 'This package contains code of the packages below. Each stays under its own license.'
  const line = `\n\n${'-'.repeat(78)}\n\n`
  return `${[intro, ...notices.map(({ text }) => text)].join(line)}\n`
}
