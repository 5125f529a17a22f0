import { describe, expect, test } from 'vitest'
import { ci } from '../../src/conversation/ci.ts'
import { plain } from '../../src/conversation/plain.ts'
import { allActions } from '../../src/conversation/registry.ts'
import { review } from '../../src/conversation/review.ts'
import { message } from '../helpers/samples.ts'

/** Mail of other programs about work that was found: it may hold anything. */
const failure = ci.messages.fix_ci_failure
const comments = review.messages.fix_review_comments

describe('a check that failed', () => {
  const reads = (payload: unknown) => failure.says!(message({ payload: payload as never }))

  test.each<[object | undefined, string]>([
    [undefined, 'A check failed.'],
    [{ check: 'lint' }, 'The check lint failed.'],
    [{ check: 'lint', pr: '#12' }, 'The check lint failed on PR #12.'],
    [
      { check: 'test', pr: 12, branch: 'main', commit: 'abc' },
      'The check test failed on PR 12, branch main, commit abc.',
    ],
    [{ branch: 'main' }, 'A check failed on branch main.'],
    [
      { check: 'lint', error: 'no semicolon', url: 'https://ci/1' },
      'The check lint failed.\n\nno semicolon\n\nhttps://ci/1',
    ],
  ])('%j reads %j', (payload, text) => {
    expect(reads(payload)).toBe(text)
  })

  test('has the check in its title, if it is named', () => {
    expect([failure.title!({}), failure.title!({ check: 'lint' })]).toEqual(['CI failed', 'CI failed: lint'])
  })
})

describe('comments of a review', () => {
  const reads = (payload: unknown) => comments.says!(message({ payload: payload as never }))

  test('stand one below the other, with their places', () => {
    const list = [
      { path: 'a.ts', line: 3, body: 'Too long.' },
      { path: 'b.ts', body: 'Why?' },
      { body: 'Good.' },
    ]
    const text = '- a.ts:3 Too long.\n- b.ts Why?\n- Good.'
    expect(reads({ comments: list })).toBe(text)
    expect(reads({ comments: list, pr: '#12' })).toBe(`PR #12:\n${text}`)
    expect(reads({ comments: list, pr: 12 })).toBe(`PR 12:\n${text}`)
  })

  test('that are none are left out', () => {
    expect(reads({ comments: [{ body: 'Good.' }, 'bad', { line: 3 }, null] })).toBe('- Good.')
    expect(reads({ comments: ['bad'] })).toBeUndefined()
    expect([reads({ comments: 'Good.' }), reads(undefined), reads({ pr: 12 })]).toEqual([
      ...[undefined, undefined, undefined],
    ])
  })

  test('are counted in the title', () => {
    const titles = [[], [1], [1, 2]].map((list) => comments.title!({ comments: list }))
    expect(titles).toEqual(['0 review comments', '1 review comment', '2 review comments'])
    expect(comments.title!({})).toBe('Review comments')
  })

  test.each<[string, object]>([
    ['src/a.ts:12: Too long.', { path: 'src/a.ts', line: 12, body: 'Too long.' }],
    ['a.ts: Why?', { path: 'a.ts', body: 'Why?' }],
    ['src/a: one\ntwo', { path: 'src/a', body: 'one\ntwo' }],
    ['Add a test.', { body: 'Add a test.' }],
    // A word is no path.
    ['Note: this is right.', { body: 'Note: this is right.' }],
    ['see a.ts: it is wrong', { body: 'see a.ts: it is wrong' }],
    ['a.ts:x: y', { body: 'a.ts:x: y' }],
    ['a.ts:', { body: 'a.ts:' }],
    ['https://x.org/a', { body: 'https://x.org/a' }],
  ])('%j is read as %j', (text, comment) => {
    const { input } = allActions().find(({ name }) => name === 'reportReview')!
    expect((input['comments'] as unknown as { reads: (text: string) => object }).reads(text)).toEqual(comment)
  })
})

describe('plain mail', () => {
  const { ack, error } = plain.messages

  test('that only says that something was received says so', () => {
    expect([ack.title(), ack.says()]).toEqual(['Received', 'Received.'])
  })

  test('about an error says what went wrong', () => {
    expect(error.title()).toBe('An error')
    expect(error.says!(message({ payload: { reason: 'no disk' } }))).toBe('no disk')
    expect(error.says!(message())).toBeUndefined()
  })
})
