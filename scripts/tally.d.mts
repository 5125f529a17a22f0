export interface FileResult {
  project: string
  file: string
  passed: number
  failed: string[]
  skipped: [reason: string, name: string][]
}

export function tally(
  files: readonly FileResult[],
  more?: { errors?: number; unsteady?: readonly string[] },
): string
