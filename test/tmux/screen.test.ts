import { describe, expect, it } from 'vitest'
import { programOf } from '../../src/tmux/foreground.ts'
import { programFor } from '../../src/tmux/programs.ts'
import { continuedRows, inputOf, isBeforeCursor, isOnScreen, squeezed } from '../../src/tmux/screen.ts'

/** A screen of one row with the cursor in it: where `|` stands. */
function row(text: string) {
  const at = text.indexOf('|')
  const shown = text.replace('|', '').trimEnd()
  return { rows: [shown], continued: [false], cursor: { x: at, y: 0, isHidden: false } }
}

describe('an empty prompt', () => {
  it.each([
    ['sh', '$ |'],
    ['sh', '# |'],
    ['bash', 'ada@host:~/work$ |'],
    ['bash', '[root@host /]# |'],
    ['zsh', 'host% |'],
    ['fish', 'ada@host ~> |'],
    ['pwsh', 'PS /home/ada> |'],
    ['python3.11', '>>> |'],
    ['ipython', 'In [12]: |'],
    ['sqlite3', 'sqlite> |'],
    ['ssh', 'ada@other:~$ |'],
    ['aider', '> |'],
    ['aider', 'architect multi> |'],
    ['claude', '❯ |'],
  ])('is seen in %s: %s', (name, text) => {
    expect(inputOf(row(text), programFor(name, false))).toBe('empty')
  })

  it.each([
    ['sh', '$ ls|'],
    ['sh', '$ sort > |'],
    ['bash', 'ada@host:~$ echo $ |'],
    ['bash', 'ada@host:~$ echo 50 % |'],
    ['bash', '$ |ls -l'],
    ['bash', '$   |'],
    ['zsh', 'host% kill %|'],
    ['python', '>>> x = 1|'],
    ['aider', '> a > |'],
  ])('is not what has something in it, in %s: %s', (name, text) => {
    expect(inputOf(row(text), programFor(name, false))).toBe('half-typed')
  })

  it.each([
    ['sh', '> |'],
    ['bash', 'dquote> |'],
    ['python', '... |'],
    ['sh', 'Password: |'],
    ['sh', '|'],
    ['sh', 'fetching 50% |'],
    ['aider', 'Run it? (Y)es/(N)o [Yes]: |'],
  ])('is not what asks for something else, in %s: %s', (name, text) => {
    expect(inputOf(row(text), programFor(name, false))).toBe('busy')
  })

  it('is not the last row of a long line', () => {
    const rows = ['$ echo some words and m', 'ore $']
    const cursor = { x: 6, y: 1, isHidden: false }
    const whole = ['$ echo some words and more $', '']
    expect(
      inputOf({ rows, cursor, continued: continuedRows(rows, whole, 23) }, programFor('sh', false)),
    ).toBe('half-typed')
    // Drawn by the program itself: tmux sees two lines, and the first is full to the edge.
    expect(continuedRows(rows, [...rows, ''], 23)).toEqual([false, true])
    expect(continuedRows(['─'.repeat(23), '> '], ['─'.repeat(23), '> '], 23)).toEqual([false, false])
  })

  it('is found behind letters of any width', () => {
    const at = (x: number) =>
      inputOf(
        { rows: ['漢字 é😀 $'], continued: [false], cursor: { x, y: 0, isHidden: false } },
        programFor('sh', false),
      )
    expect([9, 10, 11, 12].map(at)).toEqual(['busy', 'empty', 'empty', 'half-typed'])
  })
})

describe('a typed text', () => {
  it('is recognised in a frame, over several rows, and right before the cursor only', () => {
    const end = squeezed('mail a1b2c3d4e5f6>>>')
    const rows = ['╭──────────╮', '│ > mail a1│', '│ b2c3d4e5f│', '│ 6>>>     │']
    const seen = { rows, continued: [false, false, false, false], cursor: { x: 6, y: 3, isHidden: false } }
    expect(isOnScreen(seen, end)).toBe(true)
    expect(isBeforeCursor(seen, end)).toBe(true)
    const more = { ...seen, rows: [...rows.slice(0, 3), '│ 6>>> and│'], cursor: { ...seen.cursor, x: 10 } }
    expect(isOnScreen(more, end)).toBe(true)
    expect(isBeforeCursor(more, end)).toBe(false)
  })
})

describe('the program in front', () => {
  it.each([
    [['-bash'], 'bash'],
    [['/usr/bin/python3', '/home/ada/.local/bin/aider', '--model', 'x'], 'aider'],
    [['python3.11', '-m', 'aider'], 'aider'],
    [['python3'], 'python3'],
    [['python3', '-c', 'import aider'], 'python3'],
    [['node', '--no-warnings', '/usr/lib/gemini.js', '-m', 'some-model'], 'gemini'],
    [['/opt/claude.exe', '--resume'], 'claude'],
    [['bash', '--norc'], 'bash'],
    [['sh', '-c', 'aider; true'], 'sh'],
    [['/bin/bash', './start.sh'], 'start'],
    [['/usr/bin/ssh', 'host'], 'ssh'],
  ])('of %j is %s', (words, name) => {
    expect(programOf(words)).toBe(name)
  })

  it('is talked to only if it is known for it or named, and never a shell', () => {
    expect(programFor('aider', false).takes).toBe('talk')
    expect(programFor('my-agent', true).takes).toBe('talk')
    for (const name of ['my-agent', 'ssh', 'python3.12', 'constructor'])
      expect(programFor(name, false).takes).toBe('commands')
    for (const name of ['sh', 'bash', 'zsh', 'fish', 'python3'])
      expect(programFor(name, true).takes).toBe('commands')
  })
})
