// What a user gets: packs the package, installs it into an empty folder and plays with it there.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const maxPackedBytes = 1_500_000

/** Packs the repository at `root` as it is built, without running a script. Gives the tarball and its files. */
export function pack(root, into) {
  const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', into]
  const [packed] = JSON.parse(execFileSync('npm', words, { cwd: root, encoding: 'utf8' }))
  const file = join(into, packed.filename)
  return { file, bytes: statSync(file).size, paths: packed.files.map(({ path }) => path) }
}

/**
 * Installs the tarball into an empty folder below `dir` and runs it with an empty home: its version, a message from
 * one agent to another, and the demo. Throws when something is not as it should be; gives the version.
 */
export async function tryPackage(tarball, dir) {
  const [project, home] = ['project', 'home'].map((name) => join(dir, name))
  for (const one of [project, home]) mkdirSync(one, { recursive: true })
  writeFileSync(join(project, 'package.json'), '{"private":true}')
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--ignore-scripts', '--prefer-offline']
  execFileSync('npm', ['install', ...quiet, tarball], { cwd: project, stdio: ['ignore', 'ignore', 'pipe'] })

  const program = join(project, 'node_modules/.bin/mailbox')
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: dir, LANG: 'C.UTF-8' }
  const mailbox = (...words) => execFileSync(program, words, { cwd: project, env, encoding: 'utf8' }).trim()
  const version = mailbox('--version')
  for (const name of ['ada', 'bob']) mailbox('join', name)
  mailbox('send', 'bob', '--as', 'ada', '--subject', 'Hello', '--body', 'from the package')
  const { messages } = JSON.parse(mailbox('check', '--as', 'bob', '--json'))
  if (messages.length !== 1 || messages[0].body !== 'from the package')
    throw new Error(`the message did not arrive: ${JSON.stringify(messages)}`)
  await playDemo(program, { cwd: project, env })
  return version
}

/** Starts the demo, asks its hub for the console and stops it with Ctrl-C. */
async function playDemo(program, options) {
  const demo = spawn(program, ['demo', '--json', '--port', '0', '--speed', '20'], options)
  const ended = new Promise((resolve, reject) => demo.once('exit', resolve).once('error', reject))
  let said = ''
  let complaints = ''
  demo.stderr.on('data', (data) => (complaints += data))
  const url = await new Promise((resolve, reject) => {
    demo.stdout.on('data', (data) => {
      said += data
      // The first line has the address; a message after it shows that somebody is at work.
      if (/"url".*\n.*"message"/.test(said)) resolve(JSON.parse(said.split('\n')[0]).url)
    })
    ended.then((code) => reject(new Error(`the demo ended with ${code}: ${complaints}`)), reject)
  })
  const page = await fetch(url, { headers: { accept: 'text/html' } })
  if (!page.ok || !(await page.text()).includes('<script')) throw new Error('the demo serves no console')
  demo.kill('SIGINT')
  const code = await ended
  if (code !== 130) throw new Error(`the demo ended with ${code} after Ctrl-C: ${complaints}`)
}
