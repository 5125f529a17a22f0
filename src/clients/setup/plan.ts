import { MailboxError } from '../../base/errors.ts'
import type { Client } from '../../model/client.ts'
import type { ClientSetup, Place, SettingsFile } from './client-setup.ts'
import { editBytes } from './edit-bytes.ts'
import { type FileState, inspectFile } from './file.ts'

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
export function about<T>({ client, path }: { client?: Client; path: string }, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    const { code, message, hint } = asRefusal(cause)
    const others = client && `or leave ${client} out: --client NAME for each of the others`
    const hints = [hint, others].filter((part) => part !== undefined)
    throw new MailboxError(code, `${path}: ${message}`, { cause, hint: hints.join(', ') })
  }
}

function asRefusal(error: unknown): Pick<MailboxError, 'code' | 'message' | 'hint'> {
  if (error instanceof MailboxError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  const hint = 'every file is as it was; try again when that is mended'
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return { code: 'not_permitted', message, hint }
  if (['ENOSPC', 'EDQUOT'].includes(code)) return { code: 'disk_full', message, hint }
  return { code: 'internal', message, hint }
}
