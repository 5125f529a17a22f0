import { closeSync, fstatSync } from 'node:fs'
import { join } from 'node:path'
import { readFully } from '../../base/files.ts'
import type { Folder } from '../folder.ts'

/** No more of a transcript is read than this: what has just been said is at its end. */
const tailBytes = 8 * 1_048_576
const wordsCompared = 12

/**
 * Whether the conversation of a session has a text in it. Undefined if there is no transcript to look into. Texts are
 * escaped in more than one way there, so they are compared by their words.
 */
export function isInTranscript(folder: Folder, sessionId: string, text: string): boolean | undefined {
  const words = (text.match(/[\p{L}\p{N}_-]{3,}/gu) ?? []).slice(0, wordsCompared)
  if (words.length === 0) return undefined
  const projects = 'projects'
  const path = folder
    .directories(projects)
    .map((project) => join(projects, project, `${sessionId}.jsonl`))
    .find((one) => folder.has(one))
  const fd = path === undefined ? undefined : folder.openLines(path)
  if (fd === undefined) return undefined
  try {
    const { size } = fstatSync(fd)
    const from = Math.max(0, size - tailBytes)
    const lines = readFully(fd, from, size - from)
      .toString('utf8')
      .split('\n')
    return lines.some((line) => isDelivery(line) && words.every((word) => line.includes(word)))
  } finally {
    closeSync(fd)
  }
}

/** A line with mail that came to the session; not one of a tool that sent it. */
const isDelivery = (line: string): boolean => line.includes('teammate-message')
