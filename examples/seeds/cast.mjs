// A story whose agents are part of its own file. Each of them runs in a process of its own: the file is started
// again with the name of the agent, and then it is that agent and not the story.
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openAt, play } from '../stage.mjs'

/**
 * `cast` has an entry for each part: `join` is how the agent joins, `run` is what it does. `run` gets its `mailbox`,
 * the `space`, `say(event, fields)` to tell the story what happens, and a `signal` that ends it.
 */
export async function tell(url, cast, story, settings = {}) {
  const file = fileURLToPath(url)
  const [place, name, part] = process.argv.slice(2)
  if (part !== undefined) return act(cast[part], place, name, settings)
  await play((stage) => {
    const start = async (role, as = role) => {
      const agent = stage.run(file, as, role)
      await agent.says('ready')
      return agent
    }
    return story({ ...stage, start })
  }, settings)
}

async function act({ join = {}, run }, place, name, settings) {
  const say = (event, fields = {}) => process.stdout.write(`${JSON.stringify({ event, ...fields })}\n`)
  const stop = new AbortController()
  const input = createInterface({ input: process.stdin })
  input.on('line', (line) => line === 'stop' && stop.abort())
  const space = await openAt(place, settings)
  await space.join(name, { ...join, session: { pid: process.pid, ...join.session } })
  const mailbox = await space.mailbox(name)
  say('ready')
  await run({ mailbox, space, say, signal: stop.signal })
  await space.close()
  input.close()
  process.stdin.destroy()
}
