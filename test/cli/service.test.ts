import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { launchdPlist, systemdUnits } from '../../src/cli/service/units.ts'
import { createBox, script } from '../helpers/cli.ts'
import { freePort } from '../helpers/postgres.ts'
import { skipTest } from '../helpers/skip.ts'
import { tempDir } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'
import { until } from '../helpers/wait.ts'

const service = {
  ...{ name: 'mailbox', host: '127.0.0.1', port: 7337, log: '/home/a/log' },
  dir: '/home/a/100% "mine" $HOME/.mailbox',
  command: ['/usr/bin/env', 'serve', '--space', '/home/a/100% "mine" $HOME\\x/.mailbox'],
}

it('shows what it would write, writes nothing without being told to, and leaves every file as it was', async () => {
  if (process.platform !== 'linux') skipTest('is about the files of systemd')
  const box = await createBox('ada')
  const home = dirname(box.dir)
  const units = join(home, '.config', 'systemd', 'user')
  const shown = await box.run(['serve', '--install', '--tls', '--port', '7400'])
  expect(shown).toMatchObject({ code: 2, stderr: expect.stringContaining('serve --install --yes') })
  expect(shown.stdout).toContain('ListenStream=127.0.0.1:7400')
  expect(shown.stdout).toMatch(/ExecStart=.*"serve" "--host" "127.0.0.1" "--port" "7400" "--tls"/)
  expect(existsSync(units)).toBe(false)

  await box.run(['serve', '--install', '--yes'])
  const [service = '', socket = ''] = readdirSync(units).sort()
  expect([service, socket]).toEqual([
    expect.stringMatching(/^mailbox-space-\w{6}\.service$/),
    expect.stringMatching(/^mailbox-space-\w{6}\.socket$/),
  ])
  expect(readFileSync(join(units, service), 'utf8')).not.toMatch(/mbx_|token/i)
  await box.ok('serve', '--uninstall')
  expect(existsSync(join(home, '.config', 'systemd'))).toBe(false)

  // What somebody else has put there comes back, byte for byte, however often it is installed.
  mkdirSync(units, { recursive: true })
  const own = '[Unit]\r\nDescription=mine\n'
  writeFileSync(join(units, service), own)
  chmodSync(join(units, service), 0o640)
  await box.run(['serve', '--install', '--yes', '--port', '7401'])
  await box.run(['serve', '--install', '--yes', '--host', 'localhost'])
  expect(readdirSync(units)).toEqual([service])
  writeFileSync(join(units, service), `${readFileSync(join(units, service), 'utf8')}# changed\n`)
  expect(await box.refused(5, 'serve', '--uninstall')).toMatchObject({ code: 'conflict' })
  await box.run(['serve', '--install', '--yes'])
  await box.ok('serve', '--uninstall')
  expect(readdirSync(units)).toEqual([service])
  expect(readFileSync(join(units, service), 'utf8')).toBe(own)
  expect(statSync(join(units, service)).mode & 0o777).toBe(0o640)
  expect(await box.ok('serve', '--uninstall')).toContain('no service is installed')
})

it.each([
  { host: '127.0.0.1', files: 2 },
  { host: '::1', files: 2 },
  { host: 'localhost', files: 1 },
])('writes units that systemd accepts, for $host', ({ host, files }) => {
  needTool('systemd-analyze')
  const dir = tempDir()
  const units = systemdUnits({ ...service, host })
  expect(units).toHaveLength(files)
  for (const { file, text } of units) writeFileSync(join(dir, file), text)
  const paths = units.map(({ file }) => join(dir, file))
  const env = { ...process.env, XDG_RUNTIME_DIR: dir }
  const { status, stderr } = spawnSync('systemd-analyze', ['--user', 'verify', ...paths], {
    ...{ env, encoding: 'utf8' },
  })
  expect([status, stderr]).toEqual([0, ''])
})

it('writes a property list that means what was said, and shows no link in a log', () => {
  const { file, text } = launchdPlist({ ...service, command: ['/bin/a b', '--host', '<&>'] })
  expect(file).toBe('mailbox.plist')
  needTool('python3')
  const read = 'import json, plistlib, sys; print(json.dumps(plistlib.loads(sys.stdin.buffer.read())))'
  const { stdout, stderr } = spawnSync('python3', ['-c', read], { input: text, encoding: 'utf8' })
  expect(JSON.parse(stdout), stderr).toEqual({
    ...{ Label: 'mailbox', ProgramArguments: ['/bin/a b', '--host', '<&>'], ProcessType: 'Background' },
    ...{ RunAtLoad: true, KeepAlive: { SuccessfulExit: false }, Umask: 0o77 },
    ...{ StandardOutPath: '/dev/null', StandardErrorPath: '/home/a/log' },
  })
})

it('takes the socket that was opened for it, and no other', async () => {
  needTool('systemd-socket-activate')
  const box = await createBox('ada')
  const port = await freePort()
  const { PATH = '' } = process.env
  const words = ['-l', `127.0.0.1:${port}`, process.execPath, script, 'serve', '--json', '--port', '1']
  const env = { PATH, HOME: dirname(box.dir), MAILBOX_SPACE: box.dir }
  const child = spawn('systemd-socket-activate', words, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  child.stdout.on('data', (data) => (printed += data))
  // Whoever connects first starts it.
  await until(
    async () => (await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.ok === true,
  )
  expect(JSON.parse(printed)).toMatchObject({ url: `http://127.0.0.1:${port}` })
  // Sockets of another process are none of ours.
  const started = box.start(['serve', '--json'], { env: { LISTEN_FDS: '1', LISTEN_PID: '1' } })
  await started.says('"url"')
  expect(JSON.parse(started.stdout())).toMatchObject({ url: expect.not.stringContaining(`:${port}`) })
})

it('runs as a service of the user, comes back after kill -9, and is gone without a trace', async () => {
  for (const tool of ['systemctl', 'unshare']) needTool(tool)
  const apart = ['-m', '-p', '-f', '--mount-proc']
  if (spawnSync('unshare', [...apart, 'mount', '-t', 'cgroup2', 'none', '/sys/fs/cgroup']).status !== 0)
    skipTest('needs `unshare -m -p` and cgroup2, which this system does not allow')
  const box = await createBox('ada')
  const home = dirname(box.dir)
  const port = String(await freePort())
  const { PATH = '' } = process.env
  const env = { PATH, HOME: home, MAILBOX_SPACE: box.dir, NODE: process.execPath, CLI: script, PORT: port }
  const night = join(import.meta.dirname, 'in-systemd.sh')
  const { stdout, stderr } = spawnSync('unshare', [...apart, 'bash', night], { env, encoding: 'utf8' })
  expect(stdout.split('\n'), stderr).toEqual([
    ...['true', '200 true', '200 true', 'another process', '1', 'removed removed', 'inactive', ''],
  ])
  expect(existsSync(join(home, '.config', 'systemd'))).toBe(false)
})
