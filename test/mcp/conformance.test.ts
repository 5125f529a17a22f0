import { describe, expect, it } from 'vitest'
import { createAgentToken } from '../../src/hub/tokens.ts'
import { serveHub } from '../helpers/mcp.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { needSuite, runSuite, withToken } from './conformance.ts'
import { createFixtureServer } from './fixtures.ts'
import { stageMcp } from './hub.ts'

/** Installing the suite and its Node can take minutes the first time. */
const timeout = 240_000

/** What needs no tools of its own is asked of the mailbox itself. */
const ofBoth = [
  ...['tools-list', 'resources-list', 'prompts-list'],
  ...['server-sse-multiple-streams', 'dns-rebinding-protection'],
]
const of2025 = [
  ...ofBoth,
  ...[
    'server-initialize',
    'server-session-lifecycle',
    'ping',
    'resources-subscribe',
    'resources-unsubscribe',
  ],
]
const of2026 = [
  ...ofBoth,
  ...['caching', 'http-header-validation', 'sep-2164-resource-not-found'],
  ...['input-required-result-unsupported-methods', 'input-required-result-validate-input'],
]

/** What is not done, and why. All of it is of an extension, which no requirement counts. */
const notDone: Record<string, string> = {
  'tasks-mrtr-input': 'a task of the mailbox asks its client nothing',
  'tasks-mrtr-composition': 'a task of the mailbox asks its client nothing',
  'tasks-dispatch-and-envelope': 'a task of the mailbox asks its client nothing; the rest of it passes',
  'tasks-required-task-error': 'every tool of the mailbox works without tasks',
  'tasks-status-notifications': 'the suite skips it',
}

/** Scenarios of each revision: all that it requires, and those of them that the mailbox itself has to pass. */
const revisions = [
  { revision: '2025-11-25', scenarios: 33, mailbox: of2025 },
  { revision: '2026-07-28', scenarios: 50, mailbox: of2026 },
] as const

describe('the conformance suite', () => {
  it.each(revisions)(
    'finds the mailbox and its transport as the protocol of $revision wants them',
    // The suite gives some answers 600 ms, which a busy machine may miss.
    { timeout, retry: 2 },
    async ({ revision, scenarios, mailbox }) => {
      needSuite()
      const dir = tempDir()
      const space = await tempSpace({ dir })
      const ada = await space.mailbox('ada')
      await space.mailbox('bob')
      await ada.send({ to: 'bob', subject: 'Port', body: 'Which port?' })
      const hub = await serveHub(dir)
      const staged = await stageMcp({ serverFor: createFixtureServer })
      const [own, fixtures] = await Promise.all([
        runSuite(await withToken(hub.url, createAgentToken(dir, 'bob')), revision),
        runSuite(await withToken(staged.url, staged.tokenOf('bob')), revision),
      ])
      expect(fixtures.size).toBe(scenarios)
      const passed = [...fixtures].filter(([, { status }]) => status === 'SUCCESS').length
      const missed = mailbox.filter((name) => own.get(name)?.status !== 'SUCCESS')
      const open = Object.keys(notDone).filter((name) => fixtures.has(name))
      console.log(
        `mcp conformance ${revision}: ${passed} of ${scenarios} scenarios pass, ${mailbox.length - missed.length} of them with the mailbox itself; not done: ${open.join(', ') || 'none'}`,
      )
      const bad = [...fixtures].filter(([, { status }]) => status !== 'SUCCESS')
      expect(bad.filter(([name]) => !(name in notDone))).toEqual([])
      expect(bad.map(([name]) => name).sort()).toEqual(open.sort())
      expect(missed.map((name) => [name, own.get(name)])).toEqual([])
    },
  )
})
