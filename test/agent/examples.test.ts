import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { startScript } from '../helpers/processes.ts'

const folder = new URL('../../examples/', import.meta.url)
const notStories = ['mock-agent.mjs', 'stage.mjs']
const stories = readdirSync(folder).filter((file) => !notStories.includes(file))

it('there is an example for each kind of conversation', () => {
  expect(stories.map((file) => file.replace(/\.mjs$/, '')).sort()).toEqual([
    ...['broadcast', 'ci-failure', 'handoff', 'help', 'plan', 'shutdown', 'verdict'],
  ])
})

// All at once: each spends most of its time waiting for its agents.
it('each example plays, and checks itself', { timeout: 180_000 }, async () => {
  const played = stories.map(async (story) => {
    const running = startScript(new URL(story, folder), [])
    const { code } = await running.exit
    return { story, code, stderr: running.stderr(), hasSpoken: running.lines.length > 0 }
  })
  expect(await Promise.all(played)).toEqual(
    stories.map((story) => ({ story, code: 0, stderr: '', hasSpoken: true })),
  )
})
