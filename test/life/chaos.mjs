// Does one thing after the other, by chance, as one agent: sends, reads, takes up, finishes, fails, leaves and
// comes back, until somebody ends it or writes a line to it. Prints `over TALLY` at its end.
import { once } from 'node:events'
import { openSpace } from '../../dist/mod.js'

const [dir, name, json] = process.argv.slice(2)
const { others, roles, settings } = JSON.parse(json)
let isOver = false
void once(process.stdin, 'data').then(() => {
  isOver = true
})
const pick = (list) => list[Math.floor(Math.random() * list.length)]
const space = await openSpace({ dir, settings })
const join = () => space.join(name, { roles, tags: ['project:x'], session: { pid: process.pid } })
await join()
const mailbox = await space.mailbox(name, { join: false })
console.log('ready')

const ids = []
const tally = {}
const addresses = () => [
  pick(others),
  'role:r',
  'project:x',
  'all',
  [pick(others), 'role:r'],
  [pick(others), 'all'],
]
const send = async () => {
  const { id } = await mailbox.send({
    to: pick(addresses()),
    subject: 'chance',
    priority: pick(['low', 'normal', 'high', 'urgent']),
    requiresAck: Math.random() < 0.4,
    ttlMs: Math.random() < 0.5 ? 1 + Math.floor(Math.random() * 300) : 10_000,
    ...(Math.random() < 0.1 ? { type: 'shutdown_request' } : {}),
  })
  ids.push(id)
}
const mine = async () => pick((await mailbox.inbox()).messages)?.id ?? 'ffff'
const acts = {
  send: [12, send],
  check: [5, () => mailbox.check({ budgetTokens: 500 })],
  claimNext: [5, () => mailbox.claimNext('r', { ttlMs: 1 + Math.floor(Math.random() * 200) })],
  ack: [3, async () => mailbox.ack(await mine())],
  done: [4, async () => mailbox.done(await mine())],
  fail: [3, async () => mailbox.fail(await mine(), { reason: 'by chance' })],
  retry: [2, async () => mailbox.retry(await mine())],
  release: [2, async () => mailbox.release(await mine())],
  withdraw: [1, () => mailbox.withdraw(pick(ids) ?? 'ffff')],
  resend: [2, async () => mailbox.resend(pick(await dead())?.message.id ?? 'ffff', pick(others))],
  leave: [0.3, () => mailbox.leave({ frozen: Math.random() < 0.5 }).then(join)],
  join: [0.3, join],
}
const dead = async () => (await space.deadLetters({ from: name })).letters
const lots = Object.entries(acts).flatMap(([act, [weight]]) => Array(Math.ceil(weight * 10)).fill(act))
while (!isOver) {
  const act = pick(lots)
  try {
    await acts[act][1]()
    tally[act] = (tally[act] ?? 0) + 1
  } catch (error) {
    if (!error.code || error.code === 'internal' || error.code === 'damaged') throw error
    tally.refused = (tally.refused ?? 0) + 1
  }
}
console.log(`over ${JSON.stringify(tally)}`)
await space.close()
process.exit()
