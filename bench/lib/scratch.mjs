/** Everything a run leaves on the machine while it runs, and its removal however the run ends. */
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** @type {(() => unknown)[]} */
const cleanups = []
let root = ''
let cleaning

/** True once the end has begun: whoever still works then waits for it and starts nothing new. */
export const isEnding = () => cleaning !== undefined

/** Makes the run's own directory below `parent`. */
export function openScratch(parent) {
  mkdirSync(parent, { recursive: true })
  root = mkdtempSync(join(parent, 'mailbox-bench-'))
  onCleanup(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))
  process.on('uncaughtException', (error) => {
    process.stderr.write(`${error.stack}\n`)
    cleanUp().finally(() => process.exit(1))
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    // `on`, not `once`: packages of peers end the process when they find themselves the only listeners.
    process.on(signal, () => {
      if (cleaning === undefined) process.stderr.write(`\n${signal}: stopping servers and removing data\n`)
      cleanUp().finally(() => process.exit(signal === 'SIGINT' ? 130 : 143))
    })
  }
}

let counter = 0
/** A new, empty directory that goes with the run. */
export function scratchDir(label) {
  const dir = join(root, `${label}-${++counter}`)
  mkdirSync(dir, { mode: 0o700 })
  return dir
}

/** The same for another user: beside the run's directory, which only its owner may enter. */
export function scratchDirFor({ uid, gid }) {
  const dir = mkdtempSync(`${root}-peer-`)
  chownSync(dir, uid, gid)
  onCleanup(() => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }))
  return dir
}

/** Frees room early; large histories are not kept longer than they are needed. */
export const dropDir = (dir) => rmSync(dir, { recursive: true, force: true, maxRetries: 5 })

/** Registers work for the end of the run; the last registered runs first. */
export function onCleanup(work) {
  cleanups.push(work)
}

export function cleanUp() {
  cleaning ??= (async () => {
    for (let work = cleanups.pop(); work !== undefined; work = cleanups.pop()) {
      try {
        await work()
      } catch (error) {
        process.stderr.write(`while cleaning up: ${error.message}\n`)
      }
    }
  })()
  return cleaning
}
