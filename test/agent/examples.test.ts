import { expect, it } from 'vitest'
import { startScript } from '../helpers/processes.ts'

const folder = new URL('../../examples/', import.meta.url)
const { stories } = (await import(`${folder}stories.mjs`)) as { stories: string[] }

it('there is an example for each kind of conversation, and for the flow of each seed', () => {
  expect(stories).toEqual([
    ...['broadcast', 'ci-failure', 'handoff', 'help', 'plan'],
    ...['seeds/s0-handoff-and-escalation', 'seeds/s1-roles-outlive-sessions', 'seeds/s2-waiting-with-hooks'],
    ...['seeds/s3-orchestrator', 'seeds/s4-plan-and-shutdown'],
    ...['shutdown', 'verdict'],
  ])
})

// All at once: each spends most of its time waiting for its agents.
it('each example plays, and checks itself', { timeout: 180_000 }, async () => {
  const played = stories.map(async (story) => {
    const running = startScript(new URL(`${story}.mjs`, folder), [])
    const { code } = await running.exit
    return { story, code, stderr: running.stderr(), hasSpoken: running.lines.length > 0 }
  })
  expect(await Promise.all(played)).toEqual(
    stories.map((story) => ({ story, code: 0, stderr: '', hasSpoken: true })),
  )
})
