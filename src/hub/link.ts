import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readJsonIfAny, writeFileAtomically } from '../base/files.ts'
import { identifyProcess, processState } from '../base/process.ts'
import { hubDir } from './hub-dir.ts'

interface Link {
  link: string
  pid: number
  host: string
  pidStart: string
}

const linkFile = (dir: string) => join(hubDir(dir), 'link.json')

/** Keeps the link to the console of a hub for as long as it runs. It has the token of this run, so it is 0600. */
export function keepLink(dir: string, link: string): () => void {
  try {
    const kept = { link, ...identifyProcess(process.pid) }
    writeFileAtomically(linkFile(dir), `${JSON.stringify(kept)}\n`, { expendable: true })
  } catch {
    // Where nothing can be written, the hub has printed it.
    return () => {}
  }
  return () => {
    // Another hub of the space may have been started since.
    if (readJsonIfAny<Link>(linkFile(dir))?.link === link) rmSync(linkFile(dir), { force: true })
  }
}

/** The link to the console of the hub that was started last, if it is running. */
export function linkIfAny(dir: string): string | undefined {
  const found = readJsonIfAny<Link>(linkFile(dir))
  return found !== undefined && processState(found) === 'running' ? found.link : undefined
}
