import { type ErrorCode, MailboxError } from '../../base/errors.ts'

interface Known {
  code: ErrorCode
  message: string
  hint: string
}

const grant =
  'have its owner run: GRANT USAGE ON SCHEMA mailbox TO USER; GRANT ALL ON ALL TABLES IN SCHEMA mailbox TO USER'
const later = 'nothing was stored; everything goes on by itself when the database is back'
const changed: Known = {
  code: 'damaged',
  message: 'the tables of the schema mailbox are not as this program made them',
  hint: 'somebody has changed them, or a newer agent-mailbox has: upgrade this one, or restore the tables from a backup',
}

/** What the server says, by its SQLSTATE or the class of it, as what the caller can do about it. */
const states: Record<string, Known> = {
  '28': {
    code: 'not_permitted',
    message: 'the database refuses this user or its password',
    hint: 'set PGPASSWORD, or add a line to ~/.pgpass: HOST:PORT:DATABASE:USER:PASSWORD',
  },
  '3D': {
    code: 'not_found',
    message: 'there is no such database on this server',
    hint: 'check the address, or create it: createdb DATABASE',
  },
  '42501': {
    code: 'not_permitted',
    message: 'this user of the database may not do that',
    hint: `${grant}; to create the tables it needs: GRANT CREATE ON DATABASE DATABASE TO USER`,
  },
  '53100': {
    code: 'disk_full',
    message: 'the disk of the database is full',
    hint: 'free some space on the server and send again; nothing was stored',
  },
  '53300': {
    code: 'over_limit',
    message: 'the server takes no more connections',
    hint: 'raise max_connections, or put a pooler (pgbouncer) in front of it',
  },
  '53': {
    code: 'over_limit',
    message: 'the server has run out of memory or another resource',
    hint: 'see the log of the server, then try again',
  },
  '25006': {
    code: 'not_permitted',
    message: 'the server takes no writes',
    hint: 'it is read-only or a standby: use the address of the primary',
  },
  '55P03': {
    code: 'timeout',
    message: 'another writer has kept the end of the journal locked',
    hint: 'see pg_stat_activity for a session that is idle in a transaction; nothing was stored',
  },
  '57014': {
    code: 'timeout',
    message: 'the server cancelled the statement',
    hint: 'its statement_timeout may be too short, or an administrator did it; nothing was stored',
  },
  '40': {
    code: 'conflict',
    message: 'the database gave way to another transaction',
    hint: 'nothing was stored; try again',
  },
  '57P': { code: 'unreachable', message: 'the server is stopping, starting or recovering', hint: later },
  '08': { code: 'unreachable', message: 'the connection to the database broke', hint: later },
  '25P03': { code: 'unreachable', message: 'the server ended a transaction that took too long', hint: later },
  '3F': changed,
  '42P01': changed,
  '42883': changed,
  '42703': changed,
  '42804': changed,
  '23': changed,
  XX: {
    code: 'damaged',
    message: 'the database is damaged',
    hint: 'see the log of the server; restore it from a backup if necessary',
  },
}

const lost = /^(E(CONN|PIPE|TIMEDOUT|HOST|NET|AI_AGAIN|NOTFOUND)|ENOTFOUND|EAI_)/
const lostText = /terminated|timeout|Connection ended|not queryable|socket|server closed/i
const tlsText = /certificate|SSL|TLS|self.signed/i

/** Turns what the driver throws into an error that says what to do. */
export function databaseError(cause: unknown, where: string): MailboxError {
  if (cause instanceof MailboxError) return cause
  const {
    code = '',
    message = String(cause),
    path,
    syscall,
  } = (cause ?? {}) as { code?: string; message?: string; path?: string; syscall?: string }
  const known = states[code] ?? states[code.slice(0, 3)] ?? states[code.slice(0, 2)]
  if (code === '28000' && /no encryption/.test(message))
    return new MailboxError(
      'not_permitted',
      `${where}: the server takes no connection without TLS: ${message}`,
      {
        cause,
        hint: 'add sslmode=verify-full to the address, and sslrootcert=FILE if the certificate is not from a public authority',
      },
    )
  if (/^[0-9A-Z]{5}$/.test(code) && known !== undefined)
    return new MailboxError(known.code, `${where}: ${known.message}: ${message}`, { cause, hint: known.hint })
  if (/password must be a string|no password/i.test(message)) {
    const { hint } = states['28']!
    return new MailboxError(
      'not_permitted',
      `${where}: the database asks for a password, and there is none`,
      { cause, hint },
    )
  }
  const isFile = path !== undefined || code === 'EISDIR'
  if (isFile && syscall !== 'connect')
    return new MailboxError('invalid', `a file that the address names cannot be read: ${message}`, {
      cause,
      hint: 'check sslrootcert, sslcert and sslkey',
    })
  if (lost.test(code) || syscall === 'connect' || (tlsText.test(message) === false && lostText.test(message)))
    return new MailboxError('unreachable', `${where}: the database does not answer: ${message || code}`, {
      cause,
      hint: later,
    })
  if (tlsText.test(`${code} ${message}`))
    return new MailboxError('not_permitted', `${where}: ${message}`, {
      cause,
      hint: 'name the certificate to trust with sslrootcert=FILE and sslmode=verify-full, or a server without TLS with sslmode=disable',
    })
  if (/^[0-9A-Z]{5}$/.test(code))
    return new MailboxError('damaged', `${where}: the database answers: ${message} (${code})`, {
      cause,
      hint: 'see the log of the server',
    })
  return new MailboxError('internal', `${where}: ${message}`, { cause })
}
