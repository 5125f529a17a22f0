import { MailboxError } from '../../base/errors.ts'
import type { Client } from '../../model/client.ts'
import type { ClientSetup, Place, SettingsFile } from './client-setup.ts'
import { editBytes, type FileState, inspectFile, mustStayIn } from './file.ts'

/** A file that `init` would change, or that is up to date. */
export interface PlannedFile {
  file: SettingsFile
  state: FileState
  after: Buffer
  isChanged: boolean
}

/** Computes every edit before the first is made. One file that cannot be edited stops them all. */
export const planInstall = (clients: readonly ClientSetup[], place: Place): PlannedFile[] =>
  clients.flatMap((client) =>
    client.files(place).map((file) =>
      about(file, () => {
        if (place.scope === 'project') mustStayIn(place.project, file.path)
        const state = inspectFile(file.path)
        const after = editBytes(state.bytes, file.install)
        return { file, state, after, isChanged: state.bytes?.equals(after) !== true }
      }),
    ),
  )

/** Does something with a file. Errors name the file. */
export function about<T>({ client, path }: { client?: Client; path: string }, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    const { code, message, hint } = asRefusal(cause)
    const others = client && `or leave ${client} out: pass --client NAME for each of the others`
    const hints = [hint, others].filter((part) => part !== undefined)
    throw new MailboxError(code, `${path}: ${message}`, { cause, hint: hints.join(', ') })
  }
}

function asRefusal(error: unknown): Pick<MailboxError, 'code' | 'message' | 'hint'> {
  if (error instanceof MailboxError) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  const hint = 'nothing was changed; fix the problem and try again'
  if (['EACCES', 'EPERM', 'EROFS'].includes(code)) return { code: 'not_permitted', message, hint }
  if (['ENOSPC', 'EDQUOT'].includes(code)) return { code: 'disk_full', message, hint }
  return { code: 'internal', message, hint }
}
