import { execFile } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createBox } from '../helpers/cli.ts'
import { skipTest } from '../helpers/skip.ts'
import { tempDir } from '../helpers/temp.ts'

const loader = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))
const padding = `// ${'x'.repeat(20_000)}\n`

/** A bundle that says a word. Bundles with words of the same length have sources of the same length. */
const bundle = (word: string) =>
  `${padding}const say = () => '${word}'\nexports.run = ([verb], onVerb) => { onVerb(verb); process.stdout.write(say()) }\n`

/** A program of one bundle, started by the loader of the command line, with its compiled code in a directory. */
function createProgram(word: string) {
  const dir = tempDir()
  const codeDir = join(dir, 'config', 'agent-mailbox', 'code')
  const path = join(dir, 'program.cjs')
  copyFileSync(loader, join(dir, 'cli.cjs'))
  writeFileSync(path, bundle(word))
  const run = async (verb = 'inbox', env: Record<string, string> = {}) => {
    const found = { ...process.env, NODE_COMPILE_CACHE: '', XDG_CONFIG_HOME: join(dir, 'config'), ...env }
    const { stdout } = await promisify(execFile)(process.execPath, [join(dir, 'cli.cjs'), verb], {
      env: found,
    })
    return stdout
  }
  const files = () => (existsSync(codeDir) ? readdirSync(codeDir) : [])
  const file = () => join(codeDir, files()[0]!)
  return { path, codeDir, run, files, file }
}

type Program = ReturnType<typeof createProgram>

/**
 * A program whose kept code says something else than its text. That is the code that runs, unless there is something
 * wrong with it.
 */
async function createDoctored(): Promise<Program & { bytes: Buffer }> {
  const program = createProgram('other')
  await program.run()
  const bytes = Buffer.from(
    readFileSync(program.file()).toString('latin1').replace(bundle('other'), bundle('first')),
    'latin1',
  )
  writeFileSync(program.file(), bytes)
  writeFileSync(program.path, bundle('first'))
  return { ...program, bytes }
}

describe('the compiled code of earlier runs', () => {
  it('runs, instead of being compiled again', async () => {
    const { run, file } = await createDoctored()
    const { ino } = statSync(file())
    expect(await run()).toBe('other')
    expect(statSync(file()).ino).toBe(ino)
  })

  it('is only for the owner, in one file for a bundle', async () => {
    const { run, files, file, codeDir } = createProgram('hello')
    expect(await run()).toBe('hello')
    expect(files()).toEqual([expect.stringMatching(/^program\.cjs-[0-9a-f]{8}$/)])
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(statSync(codeDir).mode & 0o777).toBe(0o700)
  })

  it('is kept again when another command has compiled more', async () => {
    const { run, file } = createProgram('hello')
    await run('inbox')
    const { ino } = statSync(file())
    await run('sent')
    expect(statSync(file()).ino).not.toBe(ino)
    const both = statSync(file()).ino
    for (const verb of ['inbox', 'sent']) expect(await run(verb)).toBe('hello')
    expect(statSync(file()).ino).toBe(both)
  })

  it('is kept again when a run of the same command has loaded more', async () => {
    const { path, run, file } = createProgram('hello')
    writeFileSync(join(path, '../more.cjs'), '')
    const more = "if (process.env.MORE) require('./more.cjs'); "
    writeFileSync(path, bundle('hello').replace('process.stdout', `${more}process.stdout`))
    await run('inbox')
    const { ino } = statSync(file())
    await run('inbox', { MORE: '1' })
    const both = statSync(file()).ino
    expect(both).not.toBe(ino)
    for (const env of [{}, { MORE: '1' }]) expect(await run('inbox', env)).toBe('hello')
    expect(statSync(file()).ino).toBe(both)
  })

  it('is not used for a program that has changed, by as little as one character', async () => {
    const { path, run } = createProgram('hello')
    await run()
    writeFileSync(path, bundle('jello'))
    expect(await run()).toBe('jello')
    expect(await run()).toBe('jello')
  })

  it('is not used when it is damaged, wherever that is', async () => {
    const { run, file, bytes } = await createDoctored()
    const codeAt = bytes.indexOf(bundle('first')) + bundle('first').length
    const places = [0, 10, codeAt - 5, ...Array.from({ length: 12 }, (_, i) => codeAt + 1 + i * 97)]
    for (const at of places) {
      const damaged = Buffer.from(bytes)
      damaged[at % bytes.length]! ^= 0x10
      writeFileSync(file(), damaged)
      expect(await run()).toBe('first')
    }
    for (const length of [0, 1, codeAt, codeAt + 1, codeAt + 100, bytes.length - 2, bytes.length - 1]) {
      writeFileSync(file(), bytes.subarray(0, length))
      expect(await run()).toBe('first')
    }
  })

  it.each([
    ['the file can be written by others', ({ file }: Program) => chmodSync(file(), 0o666)],
    ['the directory can be written by others', ({ codeDir }: Program) => chmodSync(codeDir, 0o777)],
    ['the file is a link', ({ file }: Program) => moveBehindLink(file())],
    ['the directory is a link', ({ codeDir }: Program) => moveBehindLink(codeDir)],
  ])('is not used where %s', async (_, change) => {
    const program = await createDoctored()
    change(program)
    expect(await program.run()).toBe('first')
  })

  it.each([
    ['file', ({ file }: Program) => file()],
    ['directory', ({ codeDir }: Program) => codeDir],
  ])('is not used where the %s belongs to somebody else', async (_, pathOf) => {
    if (process.getuid?.() !== 0) skipTest('only root can give a file away')
    const program = await createDoctored()
    chownSync(pathOf(program), 12_345, 12_345)
    expect(await program.run()).toBe('first')
  })

  it('is another one with other options of Node', async () => {
    const { run, files } = await createDoctored()
    expect(await run('inbox', { NODE_OPTIONS: '--max-old-space-size=512' })).toBe('first')
    expect(files()).toHaveLength(2)
    expect(await run()).toBe('other')
  })

  it('is left alone where Node is told not to keep any', async () => {
    const { run } = await createDoctored()
    expect(await run('inbox', { NODE_DISABLE_COMPILE_CACHE: '1' })).toBe('first')
    expect(await run('inbox', { NODE_OPTIONS: '--enable-source-maps' })).toBe('first')
  })

  it('is not needed: where it cannot be kept, the program runs', async () => {
    const { run, codeDir } = createProgram('hello')
    expect(await run('inbox', { XDG_CONFIG_HOME: '', HOME: '' })).toBe('hello')
    expect(await run('inbox', { XDG_CONFIG_HOME: '/proc/nothing' })).toBe('hello')
    expect(existsSync(codeDir)).toBe(false)
    mkdirSync(join(codeDir, '..'), { recursive: true })
    writeFileSync(codeDir, 'a file')
    expect(await run()).toBe('hello')
    expect(readFileSync(codeDir, 'utf8')).toBe('a file')
  })

  it('is whole when many are first', async () => {
    const { run, files } = createProgram('hello')
    const said = await Promise.all(Array.from({ length: 8 }, (_, i) => run(`verb${i % 3}`)))
    expect(said).toEqual(Array(8).fill('hello'))
    expect(files()).toHaveLength(1)
    expect(await run('verb0')).toBe('hello')
  })

  it('is removed when the program has not been there for a month', async () => {
    const { run, codeDir } = createProgram('hello')
    await run()
    const old = join(codeDir, 'program.cjs-00000000')
    writeFileSync(old, 'of a version that was removed')
    await run('sent')
    expect(existsSync(old)).toBe(true)
    const before = Date.now() / 1_000 - 40 * 86_400
    utimesSync(old, before, before)
    await run('show')
    expect(existsSync(old)).toBe(false)
  })
})

function moveBehindLink(path: string): void {
  renameSync(path, `${path}-real`)
  symlinkSync(`${path}-real`, path)
}

describe('a command that opens a space', () => {
  it('loads no part of Node that it could do without', async () => {
    const box = await createBox('ada')
    const log = join(tempDir(), 'loaded')
    const preload = join(tempDir(), 'preload.cjs')
    const note = `require('node:fs').writeFileSync(${JSON.stringify(log)}, process.moduleLoadList.join('\\n'))`
    writeFileSync(preload, `process.on('exit', () => ${note})`)
    const env = { NODE_OPTIONS: `--require ${preload}`, MAILBOX_DESK: 'off' }
    expect(await box.run(['send', 'ada', '--as', 'ada', '--body', 'hi'], { env })).toMatchObject({ code: 0 })
    const loaded = readFileSync(log, 'utf8').split('\n')
    expect(loaded).toContain('NativeModule crypto')
    const needless = ['child_process', 'internal/process/report', 'perf_hooks'].map(
      (name) => `NativeModule ${name}`,
    )
    expect(loaded.filter((name) => needless.includes(name))).toEqual([])
  })
})
