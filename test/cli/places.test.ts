import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'
import { needTool } from '../helpers/tools.ts'

/** What can be in the place of a file. */
const strangers = {
  'a FIFO': (path: string) => void spawnSync('mkfifo', ['-m', '600', path]),
  'a directory': (path: string) =>
    mkdirSync(join(path, 'with', 'something'), { recursive: true, mode: 0o700 }),
  'a link to itself': (path: string) => symlinkSync(path, path),
  garbage: (path: string) => writeFileSync(path, '\0\x01 garbage\n'.repeat(500), { mode: 0o600 }),
}
type Stranger = keyof typeof strangers

const segment = join('journal', '00000001.jsonl')

/** Runs a verb with a stranger in the place of a file, and returns its error; undefined if it succeeded. */
async function meet(file: string, what: Stranger, words: readonly string[]) {
  const box = await createBox('ada')
  const path = join(box.dir, file)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  rmSync(path, { force: true })
  strangers[what](path)
  const { code, signal, stdout, stderr } = await box.run([...words, '--json'])
  expect({ signal, stderr }).toEqual({ signal: null, stderr: '' })
  const { error } = JSON.parse(stdout) as { error?: { code: string; message: string; hint: string } }
  expect(code === 0).toBe(error === undefined)
  return error
}

const send = ['send', 'ada', '--body', 'x']

it.each<[Stranger, string, readonly string[], string[]]>([
  ['a FIFO', 'config.json', send, ['damaged']],
  ['a directory', 'config.json', send, ['damaged']],
  ['a link to itself', 'config.json', send, ['damaged']],
  ['garbage', 'config.json', send, ['invalid']],
  ['a FIFO', segment, send, ['damaged']],
  ['a directory', segment, send, ['damaged']],
  ['a link to itself', segment, send, ['damaged']],
  ['a directory', 'lock', send, ['damaged']],
  ['garbage', 'lock', send, ['damaged']],
  ['a FIFO', join('hub', 'token'), ['serve', '--port', '0'], ['damaged']],
  ['a directory', join('hub', 'token'), ['serve', '--port', '0'], ['damaged']],
  ['garbage', join('hub', 'token'), ['serve', '--port', '0'], ['damaged']],
  ['garbage', join('hub', 'agents.json'), ['token', 'ada'], ['damaged']],
  ['a directory', join('hub', 'agents.json'), ['token', 'ada'], ['damaged']],
])('%s in the place of %s is an error with a code and a hint', async (what, file, words, codes) => {
  const error = await meet(file, what, words)
  expect(codes).toContain(error?.code)
  expect(error?.message).toContain(file)
  expect(error?.hint).toEqual(expect.any(String))
})

it('needs no index in the place of the index', async () => {
  for (const what of ['a directory', 'a FIFO', 'garbage'] as const)
    expect(await meet('index.db', what, ['inbox']), what).toBeUndefined()
})

it('replaces an empty token, which nobody can have', async () => {
  const box = await createBox('ada')
  mkdirSync(join(box.dir, 'hub'), { mode: 0o700 })
  writeFileSync(join(box.dir, 'hub', 'token'), '', { mode: 0o600 })
  const hub = box.start(['serve', '--port', '0', '--json'])
  await hub.says('"token"')
  const { token } = JSON.parse(hub.stdout()) as { token: string }
  expect(token).toMatch(/^mbx_/)
  expect(readFileSync(join(box.dir, 'hub', 'token'), 'utf8')).toBe(`${token}\n`)
  hub.process.kill('SIGTERM')
  expect(await hub.exit).toMatchObject({ code: 0, signal: null })
})

it('keeps and names settings that only a newer version knows', async () => {
  const box = await createBox('ada')
  const config = join(box.dir, 'config.json')
  writeFileSync(config, JSON.stringify({ 'journal.colour': 'blue', pollMs: 300 }))
  await box.ok('send', 'ada', '--body', 'x')
  await box.ok('config', 'set', 'pollMs', '400')
  expect(JSON.parse(readFileSync(config, 'utf8'))).toEqual({ 'journal.colour': 'blue', pollMs: 400 })
  const { code, stdout, stderr } = await box.run(['config', 'list'])
  expect({ code, named: stdout.includes('journal.colour') }).toEqual({ code: 0, named: false })
  expect(stderr).toContain('this version does not know journal.colour')
  expect(JSON.parse(await box.ok('config', 'list', '--json'))).toMatchObject({ unknown: ['journal.colour'] })
  const { checks } = JSON.parse(await box.ok('doctor', '--json')) as { checks: { check: string }[] }
  expect(checks).toContainEqual({
    check: 'settings',
    state: 'warn',
    found: expect.stringContaining('journal.colour'),
    next: expect.any(String),
  })
})

it('tells of a file that it may not read', async ({ skip }) => {
  if (process.getuid?.() === 0) skip('root may read every file')
  const box = await createBox('ada')
  writeFileSync(join(box.dir, 'config.json'), '{}')
  chmodSync(join(box.dir, 'config.json'), 0)
  expect(await box.refused(4, 'send', 'ada', '--body', 'x')).toMatchObject({ code: 'not_permitted' })
})

/** The calls of a process that sync or rename, in order, with their paths. */
function syncsAndRenames(box: { dir: string }, words: readonly string[]): string[] {
  const log = join(box.dir, 'strace.log')
  const calls = 'fsync,fdatasync,rename,renameat,renameat2,link,linkat'
  const script = new URL('../../dist/cli.cjs', import.meta.url).pathname
  const { status } = spawnSync(
    'strace',
    [
      '-f',
      '--seccomp-bpf',
      '-y',
      '-qq',
      '-e',
      `trace=${calls}`,
      '-o',
      log,
      process.execPath,
      script,
      ...words,
    ],
    { env: { PATH: process.env['PATH'], HOME: box.dir, MAILBOX_SPACE: box.dir } },
  )
  expect(status).toBe(0)
  return readFileSync(log, 'utf8')
    .split('\n')
    .flatMap(
      (line) =>
        /^\d+ +(fsync|fdatasync|rename\w*|link\w*)\((.*)\) +=/.exec(line)?.slice(1, 3).join(' ') ?? [],
    )
    .map((call) => call.replaceAll(box.dir, '').replaceAll(/\.\d+\.tmp/g, '.tmp'))
}

it('syncs every name on the way to the first line of a new space', async () => {
  needTool('strace')
  const box = await createBox()
  const dir = join(box.dir, 'deep', 'space')
  mkdirSync(box.dir, { recursive: true })
  const calls = syncsAndRenames(box, ['--space', dir, 'join', 'ada'])
  const first = calls.findIndex((call) => call.startsWith('fdatasync') && call.includes('00000001.jsonl'))
  for (const each of ['/deep/space/journal', '/deep/space', '/deep', ''])
    expect(calls.slice(0, first), each).toContainEqual(
      expect.stringMatching(new RegExp(`^fsync \\d+<${each}>$`)),
    )
})

it('syncs the name of a segment that somebody began and left empty', async () => {
  needTool('strace')
  const box = await createBox('ada')
  writeFileSync(join(box.dir, 'journal', '00000002.jsonl'), '', { mode: 0o600 })
  const calls = syncsAndRenames(box, ['send', 'ada', '--body', 'x'])
  const written = calls.findIndex((call) => call.startsWith('fdatasync') && call.includes('00000002.jsonl'))
  expect(written, calls.join('\n')).toBeGreaterThan(0)
  expect(calls.slice(0, written)).toContainEqual(expect.stringMatching(/^fsync \d+<\/journal>$/))
})

it.each([
  ['config.json', ['config', 'set', 'pollMs', '400']],
  ['hub/agents.json', ['token', 'ada']],
])('syncs %s before it is in its place, and its place after that', async (file, words) => {
  needTool('strace')
  const box = await createBox('ada')
  const calls = syncsAndRenames(box, words)
  const synced = calls.findIndex((call) => call.startsWith('fsync') && call.includes(`/${file}.tmp>`))
  const renamed = calls.findIndex((call) => call.startsWith('rename') && call.includes(`/${file}"`))
  const placed = calls.findLastIndex(
    (call) =>
      call.startsWith('fsync') && call.endsWith(`</${dirname(file).replace('.', '')}>`.replace('</>', '<>')),
  )
  expect(synced, calls.join('\n')).toBeGreaterThanOrEqual(0)
  expect(renamed, calls.join('\n')).toBeGreaterThan(synced)
  expect(placed, calls.join('\n')).toBeGreaterThan(renamed)
})
