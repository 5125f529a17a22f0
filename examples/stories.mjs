// The names of all examples: every file here and in seeds/, but for what they share.
import { readdirSync } from 'node:fs'

const shared = ['mock-agent.mjs', 'stage.mjs', 'stories.mjs', 'seeds/cast.mjs', 'compose/team.mjs']

export const stories = readdirSync(new URL('.', import.meta.url), { recursive: true })
  .filter((file) => file.endsWith('.mjs') && !shared.includes(file))
  .map((file) => file.replace(/\.mjs$/, ''))
  .sort()

/** Those in which one agent ends another, for which the token of the person is needed. */
export const filesOnly = ['seeds/s4-plan-and-shutdown']
