/** Servers of peers: on loopback, on a free port, with data in a scratch directory, gone at the end. */
import { spawn, spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { connect, createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { sleep } from './clock.mjs'
import { onCleanup } from './scratch.mjs'

/** The program's path, or undefined. Debian keeps servers where a user's PATH does not look. */
export function which(program) {
  for (const dir of [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']) {
    try {
      const path = join(dir, program)
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not here.
    }
  }
  return undefined
}

export function versionOf(path) {
  const { stdout, stderr } = spawnSync(path, ['--version'], { encoding: 'utf8' })
  return /\d+\.\d+(\.\d+)?/.exec(`${stdout}${stderr}`)?.[0] ?? 'unknown'
}

export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

const isOpen = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('close', () => socket.destroy())
    socket.once('connect', () => socket.end())
  })

/** Starts a server and waits until its port answers. Returns how to stop it. */
export async function startServer(path, args, port, { stopSignal = 'SIGTERM', ...options } = {}) {
  const child = spawn(path, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
  let output = ''
  let ended = false
  const keep = (chunk) => {
    output = (output + chunk).slice(-2_000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const gone = new Promise((resolve) =>
    child.once('close', () => {
      ended = true
      resolve()
    }),
  )
  child.once('error', keep)
  const stop = async () => {
    if (ended) return
    child.kill(stopSignal)
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000)
    await gone
    clearTimeout(timer)
  }
  onCleanup(stop)
  for (let attempt = 0; !(await isOpen(port)); attempt++) {
    if (ended || attempt > 300) {
      await stop()
      throw new Error(`it did not start: ${output.trim().split('\n').at(-1)}`)
    }
    await sleep(50)
  }
  return { stop, pid: child.pid }
}
