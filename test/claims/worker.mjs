// A process that claims: WORKER DIR NAME LEASE_MS. Prints `ready`, then answers each line `N DOES ID NUMBER` with
// `answer N {"ok":…}`. A claim with the number 0 is one of the mailbox's own accord.
import { createInterface } from 'node:readline'
import { openSpace } from '../../dist/mod.js'

const [dir, name, leaseMs] = process.argv.slice(2)
const settings = {
  durability: 'os',
  claimTtlMs: 1_000,
  maxAttempts: 1_000,
  'limits.ratePerMinute': 0,
  'limits.inbox': 0,
}
const space = await openSpace({ dir, settings })
const mailbox = await space.mailbox(name, { join: { roles: ['r'] } })
const ttlMs = Number(leaseMs)

const does = {
  claim: async (id) => (await mailbox.claim(id, { ttlMs })).claim.number,
  renew: async (id, claimNumber) => (await mailbox.claim(id, { ttlMs, claimNumber })).claim.number,
  start: async (id) => (await mailbox.start(id)).claimNumber,
  done: async (id) => (await mailbox.done(id)).claimNumber,
  fail: async (id) => (await mailbox.fail(id, { reason: 'because' })).claimNumber,
  release: async (id) => (await mailbox.release(id)).claimNumber,
}

console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const [n, verb, id, number] = line.split(' ')
  try {
    console.log(`answer ${n} ${JSON.stringify({ ok: true, number: await does[verb](id, Number(number)) })}`)
  } catch (error) {
    const { code = 'untyped', message } = error
    console.log(`answer ${n} ${JSON.stringify({ ok: false, code, message })}`)
  }
}
