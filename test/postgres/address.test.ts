import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  copyDirOf,
  isPostgresAddress,
  mustHideNothing,
  parseAddress,
} from '../../src/journal/postgres/address.ts'
import { refusal } from '../helpers/refusal.ts'

const refused = (text: string) => {
  const { code, message } = refusal(() => parseAddress(text))
  expect(code).toBe('invalid')
  return message
}
const connectionOf = (query: string) =>
  new URL(parseAddress(`postgres://h/db?space=a${query}`).connection).searchParams

describe('an address', () => {
  it('is taken apart into what names the space and what the driver gets', () => {
    const address = parseAddress(
      'postgresql://ada:hush@db.example:6000/mail?space=team-1&timeout=2.5&connect_timeout=1&password=hush&application=x',
    )
    expect(address).toEqual({
      space: 'team-1',
      shown: 'postgresql://ada@db.example:6000/mail?space=team-1&timeout=2.5&connect_timeout=1&application=x',
      connection: 'postgresql://ada:hush@db.example:6000/mail?password=hush&application=x',
      connectMs: 1_000,
      timeoutMs: 2_500,
    })
    expect(parseAddress('postgres://h/db?space=a')).toMatchObject({ connectMs: 5_000, timeoutMs: 15_000 })
  })

  it('begins with postgres: or postgresql:, in any case', () => {
    for (const text of ['postgres://h', 'postgresql://h', 'POSTGRES://h'])
      expect(isPostgresAddress(text)).toBe(true)
    for (const text of ['mysql://h', 'postgres:h', 'x postgres://h', '/postgres://h', 'postgre://h', ''])
      expect(isPostgresAddress(text)).toBe(false)
    expect(refused('https://h/db?space=a')).toBe('"https://h/db?space=a" is not a PostgreSQL address')
  })

  it('names a space as one can be named', () => {
    for (const name of ['a', '7', 'A.b_c-d', 'x'.repeat(63)])
      expect(parseAddress(`postgres://h/db?space=${name}`).space).toBe(name)
    for (const name of ['-a', '.a', '_a', 'a%20b', 'a/b', 'a%0A', 'x'.repeat(64)])
      expect(refused(`postgres://h/db?space=${name}`)).toMatch(/is not a name of a space$/)
    for (const query of ['', '?space='])
      expect(refused(`postgres://h/db${query}`)).toMatch(/does not name a space$/)
  })

  it.each(['timeout', 'connect_timeout'])('takes a number of seconds for %s', (name) => {
    for (const bad of ['soon', '0', '-1', 'Infinity', ''])
      expect(refused(`postgres://h/db?space=a&${name}=${bad}`)).toBe(
        `${name}=${bad} is not a number of seconds`,
      )
    expect(parseAddress(`postgres://h/db?space=a&${name}=0.1`)).toMatchObject(
      name === 'timeout' ? { timeoutMs: 100 } : { connectMs: 100 },
    )
  })

  it('that is refused is shown without its password', () => {
    const shown = refused('postgres://ada:hush@[x/db')
    expect(shown).toContain('//ada:***@')
    expect(shown).not.toContain('hush')
    const inQuery = refused('postgres://[x/db?space=a&PASSWORD=hush&timeout=1')
    expect(inQuery).toContain('PASSWORD=***&timeout=1')
    expect(inQuery).not.toContain('hush')
    const long = refused(`nothing ${'x'.repeat(5_000)}`)
    expect(long.length).toBeLessThan(300)
  })

  it('that says how certificates are checked gets no less than it says', () => {
    expect(connectionOf('').get('sslmode')).toBeNull()
    for (const mode of ['disable', 'no-verify'])
      expect(connectionOf(`&sslmode=${mode}`).get('sslmode')).toBe(mode)
    for (const mode of ['prefer', 'require', 'verify-ca', 'verify-full'])
      expect(connectionOf(`&sslmode=${mode}`).get('sslmode')).toBe('verify-full')
    expect(connectionOf('&sslmode=require&uselibpqcompat=true').get('sslmode')).toBe('require')
    expect(connectionOf('&sslmode=require&uselibpqcompat=false').get('sslmode')).toBe('verify-full')
    expect(refused('postgres://h/db?space=a&sslmode=allow')).toBe(
      'sslmode=allow is not one of disable, no-verify, prefer, require, verify-ca, verify-full',
    )
  })
})

describe('an address as an argument', () => {
  it('has no password in it, wherever one can be', () => {
    for (const text of [
      'postgres://ada:hush@h/db',
      'postgres://ada@h/db?password=hush',
      'postgres://h/db?password=',
    ])
      expect(refusal(() => mustHideNothing(text)).hint).toMatch(/PGPASSWORD.*pgpass/)
    for (const text of ['postgres://ada@h/db?space=a', 'no address', '/a/directory']) mustHideNothing(text)
  })
})

describe('the directory of a copy', () => {
  const dirOf = (text: string, env: Record<string, string> = { XDG_CACHE_HOME: '/cache' }) =>
    copyDirOf(parseAddress(text), env)
  const usual = 'postgres://ada@db.example/mail?space=team'

  it('is the same for everyone on this machine who means the same space', () => {
    const dir = dirOf(usual)
    expect(dir).toMatch(/^\/cache\/agent-mailbox\/postgres\/team-[0-9a-f]{12}$/)
    for (const same of [
      'postgres://db.example:5432/mail?space=team',
      `${usual}&timeout=3`,
      usual.replace('ada', 'bob:x'),
    ])
      expect(dirOf(same)).toBe(dir)
  })

  it('is another one for another server, port, database or space', () => {
    const others = ['postgres://other/mail?space=team', 'postgres://db.example:6000/mail?space=team']
    const more = ['postgres://db.example/x?space=team', 'postgres://db.example/mail?space=team2']
    expect(new Set([usual, ...others, ...more].map((text) => dirOf(text).replace(/team2?-/, ''))).size).toBe(
      5,
    )
  })

  it('is in the cache of the user', () => {
    expect(dirOf(usual, { HOME: '/home/ada' })).toMatch(/^\/home\/ada\/\.cache\/agent-mailbox\/postgres\//)
    expect(dirOf(usual, { XDG_CACHE_HOME: '', HOME: '' })).toContain(
      join(homedir(), '.cache', 'agent-mailbox'),
    )
  })
})
