import { spawn } from 'node:child_process'
import { chmodSync, chownSync, cpSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BreakingProxy } from '../helpers/breaking-proxy.ts'
import { appendMessage, subjectsIn } from '../helpers/drafts.ts'
import { freePort, freshAddress, serverOwner, sharedServer } from '../helpers/postgres.ts'
import { tempDir, tempPostgres } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'

const program = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))

/** A machine is a home with its own cache. */
function machine(home = tempDir()) {
  return async (words: readonly string[], env: Record<string, string> = {}, script = program) => {
    const child = spawn(process.execPath, [script, ...words], {
      env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (text) => (stdout += text))
    child.stderr.on('data', (text) => (stderr += text))
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    return { code, stdout, stderr, json: () => JSON.parse(stdout) }
  }
}

describe('the command line', () => {
  it('takes the address of a space where it takes a directory', async () => {
    const url = await freshAddress()
    const [here, there] = [machine(), machine()]
    const none = await here(['--space', url, 'inbox', '--json'])
    expect(none.json().error).toMatchObject({ code: 'not_found', message: /there is no space at/ })
    expect(await here(['--space', url, 'join', 'ada'])).toMatchObject({ code: 0 })
    expect(await there(['join', 'bob'], { MAILBOX_SPACE: url })).toMatchObject({ code: 0 })
    await there(['--as', 'bob', 'send', 'ada', '--subject', 'Plan', '--body', 'x'], { MAILBOX_SPACE: url })
    const { messages } = (await here(['--space', url, '--as', 'ada', 'check', '--json'])).json()
    expect(messages).toMatchObject([{ subject: 'Plan', from: 'bob' }])
    await here(['--space', url, 'config', 'set', 'claimTtlMs', '61000'])
    expect((await there(['config', 'get', 'claimTtlMs'], { MAILBOX_SPACE: url })).stdout.trim()).toBe('61s')
    expect(await here(['--space', url, 'verify', '--deep'])).toMatchObject({ code: 0 })
    expect(await here(['--space', url, 'rebuild'])).toMatchObject({ code: 0 })
    const mirror = await here(['--space', url, 'config', 'set', 'journal.mirror', '/tmp/x', '--json'])
    expect(mirror.json().error).toMatchObject({ code: 'invalid', hint: /docs\/postgres.md/ })
  })

  it('creates a space there with what brings something into it, and with nothing else', async () => {
    const [from, to] = [await freshAddress(), await freshAddress()]
    const here = machine()
    await here(['--space', from, 'join', 'ada'])
    const home = tempDir()
    const exported = join(home, 'space.jsonl')
    expect(await here(['--space', from, 'export', '--out', exported])).toMatchObject({ code: 0 })
    const refused = await here(['--space', to, 'archive-old', '--json'])
    expect(refused.json().error).toMatchObject({ code: 'not_found' })
    expect(await here(['--space', to, 'import', exported])).toMatchObject({ code: 0 })
    const { agents } = (await here(['--space', to, 'agents', '--json'])).json()
    expect(agents.map(({ name }: { name: string }) => name)).toContain('ada')
  })

  it('says how to get the driver where it is missing', async () => {
    const alone = tempDir()
    cpSync(join(program, '..'), join(alone, 'dist'), { recursive: true })
    // Everything that is installed with it, and nothing else.
    for (const name of ['libsql', '@libsql', '@neon-rs', 'detect-libc', 'zod']) {
      const from = fileURLToPath(new URL(`../../node_modules/${name}`, import.meta.url))
      if (existsSync(from)) cpSync(from, join(alone, 'node_modules', name), { recursive: true })
    }
    const ran = await machine()(
      ['--space', await freshAddress(), 'join', 'ada', '--json'],
      {},
      join(alone, 'dist', 'cli.cjs'),
    )
    expect(ran.json().error).toMatchObject({ code: 'invalid', hint: /npm install pg/ })
  })

  it('queues a message while the database is away, and the next command sends it', async () => {
    const { port } = await sharedServer()
    const proxy = await BreakingProxy.to(port)
    const url = (await freshAddress()).replace(`:${port}/`, `:${proxy.port}/`)
    const env = { MAILBOX_SPACE: `${url}&timeout=1&connect_timeout=1` }
    const here = machine()
    await here(['join', 'ada'], env)
    proxy.cut()
    const refused = await here(['--as', 'ada', 'send', 'ada', '--body', 'x', '--json'], env)
    expect(refused.json().error).toMatchObject({ code: 'unreachable' })
    const words = ['--as', 'ada', 'send', 'ada', '--subject', 'later', '--body', 'x', '--queue', '--json']
    const queued = await here(words, env)
    expect(queued).toMatchObject({ code: 0, stderr: /this is what this machine knew/ })
    expect(queued.json()).toMatchObject({ queued: { key: /^queued-/ } })
    proxy.restore()
    const { messages } = (await here(['--as', 'ada', 'inbox', '--json'], env)).json()
    expect(messages).toMatchObject([{ subject: 'later' }])
  })
})

it('a pooler in transaction mode is no hindrance', async () => {
  needTool('pgbouncer')
  const { port } = await sharedServer()
  const dir = tempDir()
  const own = await freePort()
  const settings = [
    ...['[databases]', `postgres = host=127.0.0.1 port=${port}`, '[pgbouncer]', 'listen_addr = 127.0.0.1'],
    ...[`listen_port = ${own}`, 'auth_type = trust', 'pool_mode = transaction', 'default_pool_size = 2'],
    ...['unix_socket_dir =', `auth_file = ${dir}/users`],
  ]
  writeFileSync(join(dir, 'users'), '"tester" ""\n')
  writeFileSync(join(dir, 'pgbouncer.ini'), `${settings.join('\n')}\n`)
  const { uid, gid } = serverOwner()
  if (uid !== undefined) {
    chmodSync(dir, 0o755)
    for (const file of ['users', 'pgbouncer.ini']) chownSync(join(dir, file), uid, gid!)
  }
  const pooler = spawn('pgbouncer', [join(dir, 'pgbouncer.ini')], {
    uid,
    gid,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void pooler.kill('SIGKILL'))
  await new Promise<void>((resolve, reject) => {
    let said = ''
    pooler.stderr.on('data', (text) => {
      said += text
      if (/process up/.test(said)) resolve()
    })
    pooler.once('exit', () => reject(new Error(said)))
  })
  const url = (await freshAddress()).replace(`:${port}/`, `:${own}/`)
  const machines = await Promise.all([tempPostgres({ url }), tempPostgres({ url }), tempPostgres({ url })])
  await Promise.all(
    machines.map(async (journal, at) => {
      for (let n = 0; n < 10; n++) await appendMessage(journal, { subject: `${at} ${n}` })
    }),
  )
  for (const journal of machines) await journal.pull()
  expect(new Set(await subjectsIn(machines[0]!)).size).toBe(30)
  expect(await subjectsIn(machines[1]!)).toEqual(await subjectsIn(machines[0]!))
})
