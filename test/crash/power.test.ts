import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, it } from 'vitest'
import { bundleLean } from '../helpers/lean.ts'
import { skipTest } from '../helpers/skip.ts'
import { Campaign, campaignSize, inStorm } from '../helpers/storm.ts'
import { tempDir } from '../helpers/temp.ts'
import { needTool } from '../helpers/tools.ts'
import type { Promises } from './boot.ts'

const cuts = campaignSize('power', 200, 1)
/** A disk is left after so many: every space on it is checked after each cut. */
const cutsPerDisk = 10

beforeEach(() => {
  for (const tool of ['unshare', 'losetup', 'mkfs.ext4', 'perl']) needTool(tool)
  if (process.getuid?.() !== 0) skipTest('needs root, to mount a file system')
  if (spawnSync('losetup', ['--find']).status !== 0) skipTest('needs a loop device')
})

/**
 * In a mount namespace of its own, so that nothing stays mounted whatever happens: another boot, the disk without
 * the kindness of writing out a file that is renamed over another, and the program.
 */
const inMachine = `
mount --bind "$1/boot-id" /proc/sys/kernel/random/boot_id
mount -o loop,noauto_da_alloc "$1/disk" "$1/mounted" || exit 90
shift 1
"$@"
status=$?
umount "$0/mounted" || exit 91
exit $status`

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8', timeout: 120_000 })
  if (status === 90)
    skipTest(`needs to mount a file system, which this machine does not allow: ${stderr.trim()}`)
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stderr}`)
  return stdout
}

it(
  `the power is cut ${cuts} times, and nothing that was promised is lost`,
  async () => {
    const campaign = new Campaign('power', cuts)
    const boot = fileURLToPath(await bundleLean(new URL('boot.ts', import.meta.url)))
    const victim = fileURLToPath(await bundleLean(new URL('victim.ts', import.meta.url)))
    const figures = {
      'power cuts': 0,
      'sends acknowledged': 0,
      'receipts acknowledged': 0,
      'settings and tokens acknowledged': 0,
      'spaces opened afterwards': 0,
      'lost or unusable': 0,
      'unsynced files lost, for comparison': 0,
    }
    const found: string[] = []
    while (figures['power cuts'] < cuts) {
      const machine = realpathSync(tempDir())
      const told = join(machine, 'told.json')
      writeFileSync(told, JSON.stringify({ boots: 0, spaces: {}, unsynced: [] } satisfies Promises))
      mkdirSync(join(machine, 'mounted'))
      run('truncate', '-s', '256M', join(machine, 'disk'))
      run('mkfs.ext4', '-q', '-E', 'lazy_itable_init=1,lazy_journal_init=1', join(machine, 'disk'))
      const lives = Math.min(cutsPerDisk, cuts - figures['power cuts'])
      for (let n = 0; n <= lives; n++) {
        writeFileSync(join(machine, 'boot-id'), `${randomUUID()}\n`)
        // The last one only looks at what the cut before it has left.
        const cut = n === lives ? 'none' : Math.random() < 0.5 ? '1' : '2'
        const words = [process.execPath, boot, join(machine, 'mounted'), victim, cut, told]
        const spaces = Object.keys((JSON.parse(readFileSync(told, 'utf8')) as Promises).spaces).length
        const script = ['-m', '--propagation', 'private', 'sh', '-c', inMachine, machine, machine]
        const { wrong, went } = JSON.parse(run('unshare', ...script, ...words)) as {
          wrong: string[]
          went: number
        }
        found.push(...wrong)
        figures['spaces opened afterwards'] += spaces
        figures['unsynced files lost, for comparison'] += went
        figures['lost or unusable'] = found.length
        if (n < lives) campaign.progress(++figures['power cuts'], figures)
      }
      const { spaces } = JSON.parse(readFileSync(told, 'utf8')) as Promises
      for (const { ids, done, changes } of Object.values(spaces)) {
        figures['sends acknowledged'] += ids.length
        figures['receipts acknowledged'] += done.length
        figures['settings and tokens acknowledged'] += changes
      }
      rmSync(machine, { recursive: true, force: true })
    }
    campaign.end(figures)
    expect(found.slice(0, 50)).toEqual([])
    // Otherwise the power was not really cut.
    expect(figures['unsynced files lost, for comparison']).toBeGreaterThan(0)
  },
  inStorm(7_200_000, 180_000),
)
