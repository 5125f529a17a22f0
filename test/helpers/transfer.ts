import type { ExportLine } from '../../src/model/transfer.ts'
import type { DiskSpace } from '../../src/space/space.ts'

/** The lines of an export, as they come from a file. */
export async function exported(space: DiskSpace): Promise<ExportLine[]> {
  const lines: ExportLine[] = []
  for await (const line of space.exportLines()) lines.push(JSON.parse(JSON.stringify(line)) as ExportLine)
  return lines
}
