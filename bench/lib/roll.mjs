/** A process with a space of few or many agents, which times what an agent does there. */
import { serve } from './child.mjs'
import { loadLibrary } from './library.mjs'
import { createPool } from './messages.mjs'
import { median } from './stats.mjs'

const each = 20
const next = createPool(3)
let openSpace
let dir
let space
let ada
let bob
let joined = 0

/** The median time of some calls, in ms. */
async function timed(work) {
  const found = []
  for (let i = 0; i < each; i++) {
    const started = performance.now()
    await work()
    found.push(performance.now() - started)
  }
  return median(found)
}

serve({
  async open(options) {
    dir = options.dir
    openSpace = (await loadLibrary()).openSpace
    const settings = { durability: 'os', 'limits.ratePerMinute': 0, 'limits.inbox': 0 }
    const making = await openSpace({ dir, settings })
    const names = Array.from({ length: options.agents }, (_, i) => `agent ${i}`)
    for (let at = 0; at < names.length; at += 500)
      await Promise.all(names.slice(at, at + 500).map((name) => making.join(name)))
    await making.join('ada')
    await making.join('bob', { roles: ['worker'] })
    const sender = await making.mailbox('ada', { join: false })
    for (let left = options.messages; left > 0; left -= 1_000)
      await Promise.all(
        Array.from({ length: Math.min(left, 1_000) }, (_, i) => {
          const { subject, body } = next()
          return sender.send({ to: names[(left + i) % names.length], subject, body })
        }),
      )
    await making.close()
    space = await openSpace({ dir, settings: { 'limits.ratePerMinute': 0, 'limits.inbox': 0 } })
    ada = await space.mailbox('ada', { join: false })
    bob = await space.mailbox('bob', { join: false })
  },

  async round() {
    const { subject, body } = next()
    const join = await timed(() => space.join(`newcomer ${joined++ % each}`))
    for (let i = 0; i < each; i++) {
      await ada.send({ to: 'bob', subject, body })
      await ada.send({ to: 'role:worker', subject, body })
    }
    const claim = await timed(() => bob.claimNext('worker'))
    const check = await timed(() => bob.check({ limit: 1 }))
    const started = performance.now()
    const again = await openSpace({ dir })
    const open = performance.now() - started
    await again.close()
    return { join, claim, check, open }
  },

  close: () => space.close(),
})
