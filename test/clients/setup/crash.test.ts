import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { inStorm } from '../../helpers/storm.ts'
import { needTool } from '../../helpers/tools.ts'
import { homeWith, paths, put, snapshot } from './home.ts'

const cli = fileURLToPath(new URL('../../../dist/cli.cjs', import.meta.url))
const calls = ['mkdir', 'openat', 'write', 'fchmod', 'fsync', 'rename', 'unlink', 'rmdir']
/** Each call of these is one run; without a storm, every so many. */
const step = inStorm(1, 12)

beforeEach(() => needTool('strace'))

const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env
const envOf = (home: string) => ({ PATH, NODE_COMPILE_CACHE, HOME: home })

function run(home: string, words: readonly string[], under: readonly string[] = []): number | null {
  const [command, ...rest] = [...under, process.execPath, cli, ...words]
  return spawnSync(command!, rest, { cwd: home, env: envOf(home), encoding: 'utf8', timeout: 60_000 }).status
}

/** Three clients: one with settings, one with some, one with none. */
function template(): string {
  const home = homeWith({
    'claude-settings': '{\n\t"model": "opus", // mine\n}\n',
    'codex-config': 'a = 1\n',
  })
  put(home, '.gemini/other', 'x')
  return home
}

const words = ['init', '--yes', '--client', 'claude', '--client', 'codex', '--client', 'gemini']

const traced = (log: string, ...inject: string[]) => [
  ...['strace', '-f', '-qq', '-o', log, '-e', `trace=${calls.join(',')}`],
  ...inject.flatMap((fault) => ['-e', `inject=${fault}`]),
]

/** Which calls a run makes in the home (Node itself makes others), as numbers among all calls of that name. */
function callsOf(home: string, args: readonly string[]): { call: string; nth: number }[] {
  const log = `${home}.strace`
  expect(run(home, args, traced(log))).toBe(0)
  const count = new Map<string, number>()
  const found: { call: string; nth: number }[] = []
  const open = new Set<string>()
  for (const line of readFileSync(log, 'latin1').split('\n')) {
    const match = /^\d+ +(\w+)\((.*)$/.exec(line)
    if (match === null) continue
    const [, call = '', rest = ''] = match
    const nth = (count.get(call) ?? 0) + 1
    count.set(call, nth)
    const isOurs = rest.includes(home) && (call !== 'openat' || /O_CREAT|O_WRONLY|O_RDWR/.test(rest))
    const fd = /= (\d+)$/.exec(rest)?.[1]
    if (call === 'openat' && fd !== undefined) rest.includes(home) ? open.add(fd) : open.delete(fd)
    const isOnOurs = ['write', 'fchmod', 'fsync'].includes(call) && open.has(/^(\d+)/.exec(rest)?.[1] ?? '')
    if (isOurs || isOnOurs) found.push({ call, nth })
  }
  rmSync(log)
  return found
}

/** Kills a command at each of its calls in turn, in a home of its own each time. */
function killAtEach(
  prepare: () => string,
  args: readonly string[],
  check: (home: string, where: string) => void,
): number {
  const all = callsOf(prepare(), args)
  let kills = 0
  for (const [at, { call, nth }] of all.entries()) {
    if (at % step !== 0) continue
    const home = prepare()
    const log = `${home}.strace`
    run(home, args, traced(log, `${call}:signal=KILL:when=${nth}`))
    if (readFileSync(log, 'latin1').includes('killed by SIGKILL')) kills++
    rmSync(log)
    check(home, `killed at ${call} ${nth}`)
  }
  expect(kills).toBeGreaterThan(all.length / step / 2)
  return kills
}

describe('kill -9', { timeout: 300_000 }, () => {
  it('in the middle of init leaves each file old or new, and uninit restores', () => {
    const old = snapshot(template())
    const done = template()
    expect(run(done, words)).toBe(0)
    const renewed = snapshot(done)
    const kills = killAtEach(template, words, (killed, where) => {
      for (const path of [...Object.values(paths), '.codex/hooks.json', '.claude.json']) {
        const now = snapshot(killed)[path]
        expect([old[path], renewed[path]], `${path}, ${where}`).toContain(now)
      }
      expect(run(killed, ['uninit']), where).toBe(0)
      expect(snapshot(killed), where).toEqual(old)
    })
    console.log(`init: ${kills} kills`)
  })

  it('in the middle of init does not keep the next init from finishing', () => {
    const done = template()
    run(done, words)
    const settings = (of: string) =>
      Object.entries(snapshot(of)).filter(([path]) => !path.startsWith('.mailbox/setup/user/manifest'))
    const wanted = settings(done)
    const killed = template()
    const at = callsOf(template(), words).filter(({ call }) => call === 'rename')
    const { nth } = at[Math.floor(at.length / 2)]!
    const log = `${killed}.strace`
    run(killed, words, traced(log, `rename:signal=KILL:when=${nth}`))
    rmSync(log)
    expect(run(killed, words)).toBe(0)
    expect(settings(killed)).toEqual(wanted)
  })

  it('in the middle of uninit leaves it to the next one', () => {
    const old = snapshot(template())
    const prepare = () => {
      const home = template()
      expect(run(home, words)).toBe(0)
      return home
    }
    const kills = killAtEach(prepare, ['uninit'], (killed, where) => {
      expect(run(killed, ['uninit']), where).toBe(0)
      expect(snapshot(killed), where).toEqual(old)
      expect(existsSync(join(killed, '.mailbox')), where).toBe(false)
    })
    console.log(`uninit: ${kills} kills`)
  })
})
