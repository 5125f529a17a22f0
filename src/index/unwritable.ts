import { isUnwritableDatabase } from '../base/sqlite.ts'

const codes = ['EROFS', 'EACCES', 'EPERM', 'ENOSPC', 'EDQUOT']

/** Whether an error says that nothing can be written where the file is, whoever has wrapped it. */
export function isUnwritable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code } = error as { code?: unknown }
  return codes.includes(String(code)) || isUnwritableDatabase(error) || isUnwritable(error.cause)
}
