import { mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { listIfAny, syncDirectory, writeFileAtomically } from '../../base/files.ts'
import { damagedDir } from '../damage.ts'
import { upkeepError } from '../file/write-error.ts'
import type { PlannedSegment, RepairPlan } from './plan.ts'
import { gunzipWhatGoes, readIfAny } from './scan.ts'

/** What was done to one segment. */
export interface RepairedSegment extends PlannedSegment {
  /** The file in `journal/damaged/` that has what was there before; absent if there was nothing. */
  kept?: string
}

const temporaryEnd = '.tmp'

/** Whether the files still are what the plan was made from. */
export const isCurrent = ({ segments }: RepairPlan): boolean =>
  segments.every(({ path, archived, exists, before }) => {
    const file = readIfAny(path)
    if (file === undefined) return !exists
    return (archived ? gunzipWhatGoes(file).bytes : file).equals(before)
  })

/**
 * Replaces the segments. Only while nobody writes or archives. What is there is kept before it is replaced, so a
 * process that is killed here leaves each segment as it was or as it should be, and another repair finds the rest.
 */
export function applyRepair(dir: string, plan: RepairPlan, now: number): RepairedSegment[] {
  try {
    return replaceSegments(dir, plan, now)
  } catch (cause) {
    throw upkeepError(cause, 'the repair failed', 'nothing is lost by it')
  }
}

function replaceSegments(dir: string, { segments }: RepairPlan, now: number): RepairedSegment[] {
  const kept = join(dir, damagedDir)
  mkdirSync(kept, { recursive: true, mode: 0o700 })
  syncDirectory(dir)
  for (const place of [dir, kept])
    for (const file of listIfAny(place)) if (file.endsWith(temporaryEnd)) rmSync(join(place, file))
  const stamp = new Date(now).toISOString().replace(/[:.]/g, '-')
  return segments.map((planned) => {
    const { path, archived, content } = planned
    const file = readIfAny(path)
    const name = `${basename(path)}.${stamp}`
    if (file !== undefined) replaceFile(join(kept, name), file)
    replaceFile(path, archived ? gzipSync(content) : content)
    return { ...planned, ...(file === undefined ? {} : { kept: name }) }
  })
}

const replaceFile = (path: string, content: Buffer): void =>
  writeFileAtomically(path, content, { temporary: path + temporaryEnd })
