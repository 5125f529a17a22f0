/**
 * Every failure has a code to branch on, a message to read, and a hint for the next step. Each interface
 * translates the codes once: the command line to exit codes, the hub to HTTP status codes.
 */
export const errorCodes = {
  invalid: 'the input is malformed or over a structural limit',
  not_found: 'no such message, agent or space',
  unknown_recipient: 'the address matches nobody in the roster',
  not_permitted: 'the caller may not do this',
  conflict: 'someone else was first, or the current state does not allow it',
  timeout: 'the time limit was reached',
  over_limit: 'a limit of the space was reached',
  interrupted: 'the caller cancelled it',
  disk_full: 'the disk is full; nothing was written',
  sync_failed: 'the disk did not confirm the write; it may not survive a power loss',
  damaged: 'a file of the space is damaged',
  closed: 'the space is closed',
  unreachable: 'the hub or the database does not answer',
  internal: 'a bug in agent-mailbox',
} as const

export type ErrorCode = keyof typeof errorCodes

/** Which limit an `over_limit` is about, where that makes a difference: a size gets no smaller, a thread waits for the person. */
export type Limit = 'size' | 'thread'

export interface MailboxErrorOptions {
  hint?: string
  limit?: Limit
  cause?: unknown
}

export class MailboxError extends Error {
  override readonly name = 'MailboxError'
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly limit: Limit | undefined

  constructor(code: ErrorCode, message: string, options: MailboxErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint
    this.limit = options.limit
  }

  toJSON(): { code: ErrorCode; message: string; hint?: string } {
    const { code, message, hint } = this
    return { code, message, ...(hint === undefined ? {} : { hint }) }
  }
}

/** Wraps anything that was thrown, so that there is always a code and a message to show. */
export function asMailboxError(error: unknown): MailboxError {
  if (error instanceof MailboxError) return error
  if (error instanceof Error && error.name === 'AbortError')
    return new MailboxError('interrupted', 'interrupted', { cause: error })
  const message = error instanceof Error ? error.message : String(error)
  return fromSystem(error) ?? new MailboxError('internal', message, { cause: error })
}

/**
 * Runs work, and has errors of the system come out as ours. The core stands behind this, so that its callers meet no
 * other errors than these and defects, which keep their stack.
 */
export function typed<T>(work: () => T): T {
  const fail = (error: unknown): never => {
    throw typedError(error)
  }
  try {
    const value = work()
    return value instanceof Promise ? (value.catch(fail) as T) : value
  } catch (error) {
    return fail(error)
  }
}

export const typedError = (error: unknown): unknown => fromSystem(error) ?? error

/** What can happen to files, by what the caller can do about it. */
const systemErrors: readonly { names: string; code: ErrorCode; hint: string }[] = [
  {
    names: 'ENOSPC EDQUOT EFBIG SQLITE_FULL',
    code: 'disk_full',
    hint: 'free some disk space and try again',
  },
  {
    names: 'EACCES EPERM EROFS SQLITE_PERM SQLITE_READONLY',
    code: 'not_permitted',
    hint: 'use files and a space that you can write to: --space DIR',
  },
  {
    names: 'EMFILE ENFILE ENOMEM ENOLCK SQLITE_NOMEM',
    code: 'over_limit',
    hint: 'the system has run out of open files, locks or memory: end other programs or raise its limits (ulimit -n), then try again',
  },
  {
    names:
      'EIO ENXIO ENODEV ESTALE EUCLEAN EBADMSG EREMOTEIO ESPIPE SQLITE_IOERR SQLITE_CORRUPT SQLITE_CANTOPEN SQLITE_NOTADB SQLITE_PROTOCOL',
    code: 'damaged',
    hint: 'check the disk (dmesg) and the files of the space (mailbox doctor), then try again',
  },
  {
    names: 'ENOTDIR EEXIST EISDIR ELOOP ENAMETOOLONG ENOTEMPTY',
    code: 'invalid',
    hint: 'something else has the place of a file or a directory: a space is a directory, --space DIR',
  },
  {
    names: 'EMLINK EXDEV ENOSYS ENOTSUP EOPNOTSUPP',
    code: 'invalid',
    hint: 'the file system cannot do this: keep the space on a local disk (--space DIR)',
  },
  {
    names: 'ENOENT',
    code: 'not_found',
    hint: 'a file or a directory is missing: check the path',
  },
  {
    names: 'EINTR EAGAIN EBUSY ETXTBSY SQLITE_BUSY SQLITE_LOCKED',
    code: 'conflict',
    hint: 'another program uses the file: try again',
  },
]

type SystemError = (typeof systemErrors)[number]

const systemErrorByName = new Map(
  systemErrors.flatMap((found) => found.names.split(' ').map((name) => [name, found] as const)),
)

/** What is wrong with a file for a reason that nobody has thought of is wrong with the file. */
function unforeseen(cause: unknown): SystemError | undefined {
  const { syscall, path } = (cause ?? {}) as NodeJS.ErrnoException
  return syscall !== undefined && path !== undefined ? systemErrorByName.get('EIO') : undefined
}

/**
 * Turns an error of the operating system or of SQLite into one that tells what to do; undefined for any other.
 * `doing` says what failed, and replaces the system's own words.
 */
export function fromSystem(cause: unknown, doing?: string): MailboxError | undefined {
  const name = systemName(cause)
  const found = name === undefined ? undefined : (systemErrorByName.get(name) ?? unforeseen(cause))
  if (found === undefined) return undefined
  const message = doing === undefined ? described(cause as Error, name!) : `${doing}: ${name}`
  return new MailboxError(found.code, message, { cause, hint: found.hint })
}

/**
 * The name of a system error, such as `ENOSPC`; for SQLite its primary code. Node does not know every number by
 * name: it calls EDQUOT "Unknown system error -122", or just "UNKNOWN".
 */
export function systemName(error: unknown): string | undefined {
  const { code, errno } = (error ?? {}) as NodeJS.ErrnoException
  if (typeof code !== 'string') return undefined
  if (/^SQLITE_/.test(code)) return /^SQLITE_[A-Z]+/.exec(code)![0]
  if (code === 'UNKNOWN') return nameOfErrno(Math.abs(errno ?? 0)) ?? 'EIO'
  if (code.startsWith(unknownCode))
    return nameOfErrno(Math.abs(errno ?? Number(code.slice(unknownCode.length))))
  return code.replace(/^ERR_FS_(?=E)/, '')
}

const unknownCode = 'Unknown system error '

/** Nearly every process ends without such an error, so the names are loaded when they are needed. */
const nameOfErrno = (errno: number): string | undefined =>
  unnamed[errno] ??
  Object.entries(process.getBuiltinModule('node:os').constants.errno).find(
    ([, number]) => number === errno,
  )?.[0]

/** What Linux reports of a file system that is damaged, or of a device that is. Node has no names for these. */
const unnamed: Record<number, string> = { 117: 'EUCLEAN', 121: 'EREMOTEIO' }

/** Node's message has the call and the path. */
const described = ({ message }: Error, name: string): string =>
  message.replaceAll(/Unknown system error -\d+/g, name)

/** The same values; an error on the way is a typed one. */
export async function* typedEach<T>(values: AsyncGenerator<T>): AsyncGenerator<T> {
  try {
    yield* values
  } catch (error) {
    throw typedError(error)
  }
}
