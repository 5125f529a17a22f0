import { once } from 'node:events'
import { chmodSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { MailboxError } from '../base/errors.ts'
import { hubDir, makeHubDir } from './hub-dir.ts'

const usualPort = 7337
const portsToTry = 50

/** Listens on the given port, or on the first free one from the default on. */
export async function listenOnPort(server: Server, host: string, port: number | undefined): Promise<number> {
  for (let at = port ?? usualPort; ; at++) {
    try {
      // `once` also rejects on an error.
      await once(server.listen(at, host), 'listening')
      return (server.address() as AddressInfo).port
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code === 'EADDRINUSE' && port === undefined && at < usualPort + portsToTry) continue
      throw new MailboxError(code === 'EADDRINUSE' ? 'conflict' : 'invalid', `cannot listen: ${message}`, {
        cause: error,
        hint:
          code === 'EADDRINUSE'
            ? 'another program uses the port: choose one with --port N, or omit --port'
            : 'choose an address of this machine with --host, and a port that you may open with --port',
      })
    }
  }
}

/**
 * Listens on a socket that whoever started this process has opened for it. The process of a service manager that opened
 * it goes on holding it, so that nobody is refused while a hub is started again.
 */
export async function listenOnFd(server: Server, fd: number): Promise<{ host: string; port: number }> {
  try {
    await once(server.listen({ fd }), 'listening')
  } catch (error) {
    throw new MailboxError(
      'invalid',
      `cannot listen on the socket that was passed on: ${(error as Error).message}`,
      {
        cause: error,
      },
    )
  }
  const address = server.address()
  if (address !== null && typeof address === 'object') return { host: address.address, port: address.port }
  server.close()
  throw new MailboxError('invalid', 'the socket that was passed on has no port', {
    hint: 'in the .socket unit, ListenStream= needs an address and a port',
  })
}

/**
 * The socket that systemd has opened for this process, by its protocol: LISTEN_FDS of them from descriptor 3 on, for the
 * process LISTEN_PID. The variables are removed, so that no process that is started from here takes them for its own.
 */
export function passedFd(env: NodeJS.ProcessEnv): number | undefined {
  const { LISTEN_PID, LISTEN_FDS } = env
  for (const name of ['LISTEN_PID', 'LISTEN_FDS', 'LISTEN_FDNAMES']) delete env[name]
  if (LISTEN_PID !== String(process.pid) || !(Number(LISTEN_FDS) >= 1)) return undefined
  if (LISTEN_FDS === '1') return 3
  throw new MailboxError('invalid', `${LISTEN_FDS} sockets were passed on, and the hub listens on one`, {
    hint: 'leave one ListenStream= in the .socket unit',
  })
}

/** What every system takes as the path of a socket, in bytes. */
const longestPath = 103

/**
 * Listens on the socket of the space, for programs of this user on this machine: nobody else can put another one in its
 * place. Returns its path; undefined where there can be none, and where another hub of the space has it.
 */
export async function listenOnSocket(server: Server, dir: string): Promise<string | undefined> {
  const path = join(hubDir(dir), 'socket')
  if (process.platform === 'win32' || Buffer.byteLength(path) > longestPath) return undefined
  try {
    makeHubDir(dir)
    if (await isServed(path)) return undefined
    // A hub that was killed has left it behind.
    rmSync(path, { force: true })
    await once(server.listen(path), 'listening')
    chmodSync(path, 0o600)
    return path
  } catch {
    // The space cannot be written to, or its file system has no sockets.
    return undefined
  }
}

function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const say = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => say(true))
    socket.once('error', () => say(false))
  })
}
