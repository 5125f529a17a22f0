import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { runScript } from '../helpers/processes.ts'

const folder = new URL('../../examples/', import.meta.url)
const notStories = ['mock-agent.mjs', 'stage.mjs']
const stories = readdirSync(folder).filter((file) => !notStories.includes(file))

it('there is an example for each story of the seeds', () => {
  expect(stories.map((file) => file.replace(/\.mjs$/, '')).sort()).toEqual([
    ...['broadcast', 'ci-failure', 'handoff', 'help', 'plan', 'shutdown', 'verdict'],
  ])
})

it.for(stories)('%s plays, and checks itself', (story) => {
  const { status, stdout, stderr } = runScript(new URL(story, folder), [], { timeoutMs: 50_000 })
  expect(stderr).toBe('')
  expect(status).toBe(0)
  expect(stdout.trim().split('\n').length).toBeGreaterThan(0)
})
