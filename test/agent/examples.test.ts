import { expect, it } from 'vitest'
import { startScript } from '../helpers/processes.ts'

const folder = new URL('../../examples/', import.meta.url)
const { stories, filesOnly } = (await import(`${folder}stories.mjs`)) as {
  stories: string[]
  filesOnly: string[]
}

it('there is an example for each kind of conversation, and for the flow of each seed', () => {
  expect(stories).toEqual([
    ...['broadcast', 'ci-failure', 'handoff', 'help', 'plan'],
    ...['seeds/s0-handoff-and-escalation', 'seeds/s1-roles-outlive-sessions', 'seeds/s2-waiting-with-hooks'],
    ...['seeds/s3-orchestrator', 'seeds/s4-plan-and-shutdown'],
    ...['shutdown', 'verdict'],
  ])
})

async function play(story: string, over: string) {
  const running = startScript(new URL(`${story}.mjs`, folder), [], { env: { EXAMPLES_OVER: over } })
  const { code } = await running.exit
  return { story, code, stderr: running.stderr(), hasSpoken: running.lines.length > 0 }
}

const expected = (names: string[]) => names.map((story) => ({ story, code: 0, stderr: '', hasSpoken: true }))

// All at once: each spends most of its time waiting for its agents.
it('each example plays, and checks itself', { timeout: 180_000 }, async () => {
  expect(await Promise.all(stories.map((story) => play(story, 'files')))).toEqual(expected(stories))
})

// One after another: each starts a hub.
it('each example plays through a hub', { timeout: 600_000 }, async () => {
  const overHub = stories.filter((story) => !filesOnly.includes(story))
  const played = []
  for (const story of overHub) played.push(await play(story, 'hub'))
  expect(played).toEqual(expected(overHub))
})
