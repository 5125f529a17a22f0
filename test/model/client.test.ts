import { describe, expect, test } from 'vitest'
import { clientWord, hasOneSession, isRemote, remoteSession } from '../../src/model/client.ts'

describe('the name of a client', () => {
  test.each([
    ['claude', 'claude'],
    ['Claude Code', 'claude'],
    ['claude-code', 'claude'],
    ['codex-mcp-client', 'codex'],
    ['Gemini CLI', 'gemini'],
    ['opencode', 'opencode'],
    ['My Own  Client!', 'my-own-client'],
    ['--x--', 'x'],
    ['a'.repeat(50), 'a'.repeat(40)],
    // Only the beginning of a name says whose it is.
    ['not-claude', 'not-claude'],
  ])('%j is %j', (name, word) => {
    expect(clientWord(name)).toBe(word)
  })

  test('is missing where there is nothing of a name', () => {
    expect([clientWord(undefined), clientWord(''), clientWord('…')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('says whether one process can have several sessions', () => {
    expect(['claude', 'gemini', 'codex', 'opencode', 'other'].map(hasOneSession)).toEqual([
      ...[true, true, false, false, false],
    ])
  })
})

describe('a session that came over HTTP', () => {
  test('is taken for that of no client on this machine, whatever it says', () => {
    const session = remoteSession({ client: 'claude', id: 's-1', pid: 7 })
    expect(session).toEqual({ client: 'remote:claude', id: 'remote:s-1', pid: 7 })
    expect(hasOneSession(session.client!)).toBe(false)
    expect(isRemote(session)).toBe(true)
  })

  test('is known as such without a client and without an id', () => {
    expect(remoteSession({})).toEqual({ client: 'remote' })
    expect(isRemote(remoteSession({}))).toBe(true)
  })

  test('is told from those of this machine', () => {
    expect([{ client: 'claude' }, { client: 'remotely' }, {}].map(isRemote)).toEqual([false, false, false])
  })
})
