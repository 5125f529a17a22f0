import { MailboxError } from '../errors.ts'
import type { ClientSetup, Place, SettingsFile } from './client.ts'
import { type FileState, inspectFile } from './file.ts'
import { editBytes } from './text.ts'

/** One file that `init` would change, or finds as it should be. */
export interface PlannedFile {
  file: SettingsFile
  state: FileState
  after: Buffer
  isChanged: boolean
}

/** Works out every edit before the first is made; one file that will not do stops them all. */
export const planInstall = (clients: readonly ClientSetup[], place: Place): PlannedFile[] =>
  clients.flatMap((client) =>
    client.files(place).map((file) =>
      about(file, () => {
        const state = inspectFile(file.path)
        const after = editBytes(state.bytes, file.install)
        return { file, state, after, isChanged: state.bytes?.equals(after) !== true }
      }),
    ),
  )

/** Does something with a file; whatever goes wrong names it. */
export function about<T>(file: Pick<SettingsFile, 'client' | 'path'>, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof MailboxError) {
      const hint = [error.hint, `or leave ${file.client} out: --client NAME for each of the others`]
      throw new MailboxError(error.code, `${file.path}: ${error.message}`, {
        cause: error,
        hint: hint.filter((part) => part !== undefined).join(', '),
      })
    }
    const { code, message } = error as NodeJS.ErrnoException
    const known = code === 'EACCES' || code === 'EPERM' || code === 'EROFS'
    throw new MailboxError(
      known ? 'not_permitted' : code === 'ENOSPC' || code === 'EDQUOT' ? 'disk_full' : 'internal',
      `${file.path}: ${message}`,
      { cause: error, hint: 'every file is as it was; try again when that is mended' },
    )
  }
}
