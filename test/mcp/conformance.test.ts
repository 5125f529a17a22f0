import { describe, expect, it } from 'vitest'
import { createAgentToken } from '../../src/hub/tokens.ts'
import { serveHub } from '../helpers/mcp.ts'
import { tempDir, tempSpace } from '../helpers/temp.ts'
import { needSuite, runSuite, type Verdict, withToken } from './conformance.ts'
import { createFixtureServer } from './fixtures.ts'
import { stageMcp } from './hub.ts'

/** Installing the suite and its Node can take minutes the first time. */
const timeout = 240_000

/** What needs no tools of its own is asked of the mailbox itself. */
const ofTheMailbox = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'resources-subscribe',
  'resources-unsubscribe',
  'prompts-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
]

/** What we do not do, and why. The suite warns of it, and finds nothing that is wrong. */
const notDone: Record<string, string> = {
  'server-sse-polling':
    'a stream that broke off cannot be taken up again: a call whose client is gone is broken off instead, and what it took is unread again, which no kept event could undo',
}

describe('the conformance suite', () => {
  it(
    'finds the mailbox and its transport as the protocol wants them',
    async () => {
      needSuite()
      const dir = tempDir()
      const space = await tempSpace({ dir })
      const ada = await space.mailbox('ada')
      await space.mailbox('bob')
      await ada.send({ to: 'bob', subject: 'Port', body: 'Which port?' })
      const hub = await serveHub(dir)
      const staged = await stageMcp({ serverFor: createFixtureServer })
      const [mailbox, fixtures] = await Promise.all([
        runSuite(await withToken(hub.url, createAgentToken(dir, 'bob'))),
        runSuite(await withToken(staged.url, staged.tokenOf('bob'))),
      ])
      const missed = ofTheMailbox.filter((name) => mailbox.get(name)?.status !== 'SUCCESS')
      const passed = [...fixtures].filter(([, { status }]) => status === 'SUCCESS').length
      console.log(
        `mcp conformance: ${passed} of ${fixtures.size} scenarios pass, ${ofTheMailbox.length - missed.length} of them with the mailbox itself; not done: ${Object.keys(notDone).join(', ')}`,
      )
      const bad = (verdicts: Map<string, Verdict>, status: string) =>
        [...verdicts].filter(([, verdict]) => verdict.status === status)
      expect(fixtures.size).toBe(32)
      expect(bad(fixtures, 'FAILURE')).toEqual([])
      expect(bad(fixtures, 'WARNING').map(([name]) => name)).toEqual(Object.keys(notDone))
      expect(missed.map((name) => [name, mailbox.get(name)])).toEqual([])
    },
    timeout,
  )
})
