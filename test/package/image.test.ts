import { execFileSync, spawn } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { freePort, freshAddress, sharedServer } from '../helpers/postgres.ts'
import { skipTest } from '../helpers/skip.ts'
import { isStorm } from '../helpers/storm.ts'
import { tempDir } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

const root = new URL('../..', import.meta.url).pathname
const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED/

interface Step {
  does: string
  words: string
}

/** The steps of the Dockerfile, by stage. */
function stages(): Step[][] {
  const found: Step[][] = []
  for (const line of readFileSync(join(root, 'Dockerfile'), 'utf8').split('\n')) {
    const [, does, words] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    if (does === 'FROM') found.push([])
    if (does !== undefined && words !== undefined) found.at(-1)?.push({ does, words })
  }
  return found
}

/** Runs the steps of a stage in a directory that stands for its WORKDIR. `others`: what `COPY --from` copies from. */
function build(steps: readonly Step[], dir: string, others: string): void {
  for (const { does, words } of steps) {
    if (does === 'RUN' && !(words.startsWith('npm ci') && !isStorm))
      execFileSync('sh', ['-c', words], { cwd: dir, stdio: ['ignore', 'ignore', 'pipe'] })
    if (does !== 'COPY') continue
    const [to, ...from] = words.split(' ').reverse()
    const isOther = from.includes('--from=build')
    for (const one of from.filter((word) => !word.startsWith('--'))) {
      const source = isOther ? one.replace('/build', others) : join(root, one)
      const name = one.split('/').at(-1)!
      if (one === '.') copyRepository(dir)
      else cpSync(source, to === './' ? join(dir, name) : join(dir, to!), { recursive: true })
    }
  }
}

/** What `.dockerignore` leaves of it. */
function copyRepository(dir: string): void {
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .map((line) => line.replace('**/', ''))
  for (const name of readdirSync(root))
    if (!ignored.includes(name))
      cpSync(join(root, name), join(dir, name), {
        recursive: true,
        filter: (path) => !path.endsWith('/node_modules'),
      })
}

/** The command of a service in compose.yaml, which is JSON in one line. */
function commandOf(service: string, key: 'command' | 'entrypoint'): string[] {
  const text = readFileSync(join(root, 'compose.yaml'), 'utf8')
  const [, part = ''] = new RegExp(`\\n  ${service}:\\n((?:    .*\\n|\\n)+)`).exec(text) ?? []
  return JSON.parse(new RegExp(`^    ${key}: (\\[.*\\])$`, 'm').exec(part)![1]!) as string[]
}

it('the steps of the Dockerfile build an image whose commands work on PostgreSQL', {
  timeout: 900_000,
}, async () => {
  const address = await freshAddress()
  const { port: database } = await sharedServer()
  const [builder, app, home] = [tempDir(), tempDir(), tempDir()]
  const [first, second] = stages() as [Step[], Step[]]
  if (!isStorm) symlinkSync(join(root, 'node_modules'), join(builder, 'node_modules'))
  try {
    build(first, builder, builder)
    build(second, app, builder)
  } catch (problem) {
    const why = String((problem as { stderr?: Buffer }).stderr ?? '')
    if (offline.test(why)) skipTest(`needs npm to reach its registry: ${why.trim().split('\n')[0]}`)
    throw problem
  }
  const env = {
    ...{ HOME: home, PATH: `${join(app, 'node_modules/.bin')}:${process.env['PATH']}` },
    MAILBOX_SPACE: address,
  }
  const run = (words: readonly string[], more: Record<string, string> = {}) => {
    const child = spawn(words[0]!, words.slice(1), { cwd: app, env: { ...env, ...more } })
    onTestFinished(() => void child.kill('SIGKILL'))
    let said = ''
    child.stdout.on('data', (text) => (said += text))
    child.stderr.on('data', (text) => (said += text))
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    return { said: () => said, ended }
  }
  const stepOf = (does: string) => second.find((step) => step.does === does)!.words
  const entrypoint = JSON.parse(stepOf('ENTRYPOINT')) as string[]
  const check = JSON.parse(stepOf('HEALTHCHECK').replace(/^.*?CMD /, '')) as string[]

  // Both hubs of compose.yaml, on free ports.
  for (const service of ['hub-1', 'hub-2']) {
    const port = String(await freePort())
    const command = commandOf(service, 'command').map((word) => (/^733[78]$/.test(word) ? port : word))
    const hub = run([...entrypoint, ...command], { HOME: join(home, service) })
    await until(`${service} is up: ${hub.said()}`, () => hub.said().includes('open '))
    expect(await run(check, { PORT: port }).ended).toBe(0)
    expect((await fetch(`http://127.0.0.1:${port}/ready`)).status).toBe(200)
  }
  expect(await run(check, { PORT: '9' }).ended).toBe(1)
  const team = run([...commandOf('team', 'entrypoint'), '3'], { PAUSE_MS: '50' })
  expect(await team.ended, team.said()).toBe(0)
  expect(team.said()).toMatch(/task 3: (mia|noah) has done it/)
  const owed = run([...entrypoint, '--as', 'lead', 'owed', '--json'])
  expect(await owed.ended, owed.said()).toBe(0)
  // A database that is away makes it not ready, and says why.
  const wrong = run([...entrypoint, 'inbox'], { MAILBOX_SPACE: address.replace(`:${database}/`, ':9/') })
  expect(await wrong.ended).not.toBe(0)
  expect(wrong.said()).toMatch(/does not answer/)
})
