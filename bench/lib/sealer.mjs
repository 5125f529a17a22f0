/** A process with a space whose mail is signed, encrypted, both or neither. It times sends, and what they cost. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { serve } from './child.mjs'
import { loadLibrary } from './library.mjs'
import { createPool } from './messages.mjs'

const next = createPool(5)
const library = process.env['BENCH_LIBRARY'] ?? new URL('../../dist/mod.js', import.meta.url).href
const cli = fileURLToPath(new URL('cli.cjs', library))
let space
let ada

const spent = () => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** The time and the processor time of each of `count` sends, in ms, with so many in flight. */
async function timed(count, inFlight) {
  const [cpu, started] = [spent(), performance.now()]
  let left = count
  const worker = async () => {
    while (left-- > 0) {
      const { subject, body } = next()
      await ada.send({ to: 'bob', subject, body })
    }
  }
  await Promise.all(Array.from({ length: inFlight }, worker))
  return { wall: (performance.now() - started) / count, cpu: (spent() - cpu) / 1_000 / count }
}

serve({
  async open({ dir, home, signs, encrypts }) {
    process.env['XDG_CONFIG_HOME'] = home
    const { openSpace } = await loadLibrary()
    const settings = { encrypt: encrypts ? 'space' : 'nothing' }
    const making = await openSpace({ dir, settings })
    await making.join('bob')
    await (await making.mailbox('ada')).send({ to: 'bob', body: 'The first message says which key is hers.' })
    await making.close()
    // Whose key was revoked goes on without signatures.
    if (!signs) execFileSync(process.execPath, [cli, 'key', 'revoke', 'ada', '--space', dir])
    space = await openSpace({ dir, settings })
    ada = await space.mailbox('ada', { join: false })
  },

  round: async ({ one, many }) => ({ one: await timed(one, 1), many: await timed(many, 64) }),
  close: () => space.close(),
})
