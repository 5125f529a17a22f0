/** The machine a run took place on, as far as it explains the numbers. */
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { arch, cpus, loadavg, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { lineBytes } from './messages.mjs'
import { summarize } from './stats.mjs'

const fileSystems = new Map([
  [0xef53, 'ext4'],
  [0x58465342, 'xfs'],
  [0x9123683e, 'btrfs'],
  [0x01021994, 'tmpfs'],
  [0x794c7630, 'overlayfs'],
  [0x6969, 'nfs'],
  [0x2fc12fc1, 'zfs'],
])

/** The kind of file system a directory is on. */
export function fileSystemOf(dir) {
  if (process.platform !== 'linux') return 'unknown'
  const { type: magic } = statfsSync(dir)
  return fileSystems.get(magic) ?? `0x${magic.toString(16)}`
}

export function describeMachine(dir) {
  const processors = cpus()
  return {
    cpu: processors[0]?.model.trim() || 'unknown',
    cores: processors.length,
    memoryBytes: totalmem(),
    kernel: `${type()} ${release()} ${arch()}`,
    virtual: isVirtual(),
    fileSystem: fileSystemOf(dir),
    node: process.version,
    loadBefore: loadavg()[0],
    syncMs: syncCost(dir),
  }
}

function isVirtual() {
  try {
    return /\bhypervisor\b/.test(readFileSync('/proc/cpuinfo', 'latin1'))
  } catch {
    return undefined
  }
}

/** What it costs here to append one line and have the disk confirm it. */
function syncCost(dir) {
  const path = join(dir, 'sync-probe')
  const fd = openSync(path, 'w')
  const line = Buffer.alloc(lineBytes, 'x')
  const samples = []
  for (const end = performance.now() + 400; performance.now() < end; ) {
    const started = performance.now()
    writeSync(fd, line)
    fdatasyncSync(fd)
    samples.push(performance.now() - started)
  }
  closeSync(fd)
  rmSync(path)
  return summarize(samples)
}

/** The most memory this process has had, in bytes. */
export function peakMemory() {
  try {
    // Not `resourceUsage`: its maximum is inherited from the process that started this one.
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1'))[1]) * 1_024
  } catch {
    return process.resourceUsage().maxRSS * 1_024
  }
}

const residentBytes = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) * 1_024

/** A process grows into its work; its memory is held against what it has after this share of the time. */
const settledShare = 1 / 3

/** Watches the memory of a process until the returned function is called, which tells how it went. */
export function watchMemory(pid) {
  const found = [residentBytes(pid)]
  const watching = setInterval(() => found.push(residentBytes(pid)), 500)
  return () => {
    clearInterval(watching)
    const settled = found.slice(Math.floor(found.length * settledShare))
    return { start: found[0], settled: settled[0], end: settled.at(-1), max: Math.max(...found) }
  }
}
