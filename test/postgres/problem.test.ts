import { describe, expect, it } from 'vitest'
import { MailboxError } from '../../src/base/errors.ts'
import { databaseError } from '../../src/journal/postgres/problem.ts'
import {
  changedError,
  forkedError,
  movedError,
  packedError,
  replacedError,
} from '../../src/journal/postgres/store-errors.ts'
import { isLost, openError } from '../../src/journal/unreachable.ts'

type Cause = Partial<{ code: string; message: string; path: string; syscall: string }>
const errorOf = (cause: Cause) => databaseError(Object.assign(new Error('why'), cause), 'db:5432')
const codeOf = (cause: Cause) => errorOf(cause).code

describe('what a database answers', () => {
  // https://www.postgresql.org/docs/current/errcodes-appendix.html
  it.each([
    ['28P01', 'not_permitted', 'the database refuses this user or its password'],
    ['28000', 'not_permitted', 'the database refuses this user or its password'],
    ['3D000', 'not_found', 'there is no such database on this server'],
    ['42501', 'not_permitted', 'this user of the database may not do that'],
    ['53100', 'disk_full', 'the disk of the database is full'],
    ['53300', 'over_limit', 'the server takes no more connections'],
    ['53200', 'over_limit', 'the server has run out of memory or another resource'],
    ['25006', 'not_permitted', 'the server takes no writes'],
    ['55P03', 'timeout', 'another writer has kept the end of the journal locked'],
    ['57014', 'timeout', 'the server cancelled the statement'],
    ['40001', 'conflict', 'the database gave way to another transaction'],
    ['40P01', 'conflict', 'the database gave way to another transaction'],
    ['57P01', 'unreachable', 'the server is stopping, starting or recovering'],
    ['57P03', 'unreachable', 'the server is stopping, starting or recovering'],
    ['08006', 'unreachable', 'the connection to the database broke'],
    ['25P03', 'unreachable', 'the server ended a transaction that took too long'],
    ['3F000', 'damaged', 'the tables of the schema mailbox are not as this program made them'],
    ['42P01', 'damaged', 'the tables of the schema mailbox are not as this program made them'],
    ['42883', 'damaged', 'the tables of the schema mailbox are not as this program made them'],
    ['42703', 'damaged', 'the tables of the schema mailbox are not as this program made them'],
    ['42804', 'damaged', 'the tables of the schema mailbox are not as this program made them'],
    ['23505', 'damaged', 'the tables of the schema mailbox are not as this program made them'],
    ['XX001', 'damaged', 'the database is damaged'],
  ])('%s is %s', (code, expected, said) => {
    const cause = Object.assign(new Error('why'), { code })
    const error = databaseError(cause, 'db:5432')
    expect([error.code, error.message, error.cause]).toEqual([expected, `db:5432: ${said}: why`, cause])
    expect(error.hint).toMatch(/\S/)
  })

  it('that nobody foresaw is told with its code', () => {
    const error = errorOf({ code: '22P02', message: 'invalid input' })
    expect([error.code, error.message]).toEqual([
      'damaged',
      'db:5432: the database answers: invalid input (22P02)',
    ])
    // Not a code of the server, though it begins like one.
    expect(codeOf({ code: '28P0', message: 'odd' })).toBe('internal')
    expect(codeOf({ code: 'x28P01', message: 'odd' })).toBe('internal')
    expect(codeOf({ code: '28P01x', message: 'odd' })).toBe('internal')
  })

  it('about encryption names what to add to the address', () => {
    const error = errorOf({ code: '28000', message: 'no pg_hba.conf entry for host, no encryption' })
    expect([error.code, error.hint?.includes('sslmode=verify-full')]).toEqual(['not_permitted', true])
    expect(error.message).toMatch(/takes no connection without TLS: no pg_hba/)
    expect(errorOf({ code: '28000', message: 'no pg_hba.conf entry' }).message).toMatch(/refuses this user/)
    expect(errorOf({ code: '28P01', message: 'no encryption' }).message).toMatch(/refuses this user/)
  })
})

describe('what a driver throws', () => {
  it.each([
    { code: 'ECONNREFUSED' },
    { code: 'ECONNRESET' },
    { code: 'EPIPE' },
    { code: 'ETIMEDOUT' },
    { code: 'EHOSTUNREACH' },
    { code: 'ENETUNREACH' },
    { code: 'ENOTFOUND' },
    { code: 'EAI_AGAIN' },
    { code: 'ENOENT', syscall: 'connect', path: '/run/postgresql/.s.PGSQL.5432' },
    { message: 'Connection terminated unexpectedly' },
    { message: 'timeout expired' },
    { message: 'Query read timeout' },
    { message: 'Connection ended' },
    { message: 'Client has encountered a connection error and is not queryable' },
    { message: 'This socket has been ended by the other party' },
    { message: 'server closed the connection' },
  ])('%o: the database does not answer', (cause) => {
    const error = errorOf(cause)
    expect(isLost(error)).toBe(true)
    expect(error.message).toBe(`db:5432: the database does not answer: ${cause.message ?? 'why'}`)
    expect(error.hint).toMatch(/nothing was stored; everything goes on by itself/)
  })

  it('says the code if there is no sentence', () => {
    expect(errorOf({ code: 'ECONNREFUSED', message: '' }).message).toMatch(/does not answer: ECONNREFUSED$/)
    expect(databaseError('a word', 'db').message).toBe('db: a word')
    expect(databaseError(undefined, 'db').message).toBe('db: undefined')
    expect(databaseError(null, 'db').code).toBe('internal')
  })

  it('about a certificate is no lost connection: it will not come back by itself', () => {
    for (const cause of [
      { message: 'self-signed certificate in certificate chain socket' },
      { code: 'ERR_TLS_CERT_ALTNAME_INVALID', message: 'Hostname does not match' },
      { code: 'DEPTH_ZERO_SELF_SIGNED_CERT', message: 'x' },
      { message: 'The server does not support SSL connections; server closed' },
    ]) {
      const error = errorOf(cause)
      expect([error.code, error.hint?.includes('sslrootcert')]).toEqual(['not_permitted', true])
      expect(error.message).toBe(`db:5432: ${cause.message}`)
    }
  })

  it('about a password that is missing names the places for it', () => {
    for (const message of ['SASL: client password must be a string', 'fe_sendauth: no password supplied']) {
      const error = errorOf({ message })
      expect([error.code, error.hint?.includes('pgpass')]).toEqual(['not_permitted', true])
      expect(error.message).toBe('db:5432: the database asks for a password, and there is none')
    }
  })

  it('about a file that the address names is about that file', () => {
    for (const cause of [
      { code: 'ENOENT', path: '/root.crt', syscall: 'open' },
      { code: 'EISDIR', syscall: 'read' },
    ]) {
      const error = errorOf(cause)
      expect([error.code, error.hint]).toEqual(['invalid', 'check sslrootcert, sslcert and sslkey'])
      expect(error.message).toBe('a file that the address names cannot be read: why')
    }
  })

  it('of our own stays as it is', () => {
    const own = new MailboxError('timeout', 'x', { hint: 'y' })
    expect(databaseError(own, 'db')).toBe(own)
  })
})

describe('an answer that is lost', () => {
  const lost = errorOf({ code: 'ECONNRESET' })

  it('can be waited for, and no other error can', () => {
    expect([
      isLost(lost),
      isLost(errorOf({ code: '53100' })),
      isLost(new Error('unreachable')),
      isLost(undefined),
    ]).toEqual([true, false, false, false])
  })

  it('leaves open whether something was stored, and says that once', () => {
    const open = openError(lost)
    expect(open.message).toBe(`${lost.message}; whether this was stored is not known`)
    expect([open.code, open.cause, open.hint?.includes('--key')]).toEqual(['unreachable', lost, true])
    expect(openError(open)).toBe(open)
  })
})

describe('a database that does not fit the copy', () => {
  const head = { id: 'x', seq: 7, sum: '', movedTo: null, files: 0, lines: [] }
  const end = { seq: 7, segment: 1, offset: 0, sum: '' }

  it('says what it is instead', () => {
    const errors = [
      replacedError('db'),
      movedError('db', 'there'),
      forkedError('/copy', 'db', head, end),
      forkedError('/copy', 'db', head, { ...end, seq: 9 }),
      changedError('db', 5),
      packedError('db', 2, '2026-01-00000002.jsonl.gz'),
    ]
    expect(errors.map(({ code, message }) => [code, message])).toEqual([
      ['conflict', 'db is another space now: the one of this name was removed'],
      ['not_found', 'the space at db was moved to there'],
      [
        'conflict',
        'entry 7 is another one in the database than on this machine: db was restored, and went on without what is here',
      ],
      [
        'conflict',
        'the database ends with entry 7, and this machine has seen 9: db is an older state of the space',
      ],
      ['damaged', 'db: entry 5 in the table mailbox.entries is missing, or not as it was written'],
      [
        'damaged',
        'db: segment 2 in the table mailbox.archive cannot be unpacked, or is not as it was written',
      ],
    ])
    const hints = [
      'end this process',
      '--space there',
      '(/copy/journal)',
      '(/copy/journal)',
      'from a backup',
      'archive/2026-01-00000002.jsonl.gz',
    ]
    for (const [at, { hint }] of errors.entries()) expect(hint).toContain(hints[at]!)
  })
})
