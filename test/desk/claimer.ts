// A process that claims: `claimer DIR NAME LEASE_MS`. Prints `ready`, then answers each line `N DOES ID NUMBER` with
// `answer N {"ok":…}`. What a desk does for commands it has done there, as a command does.
import { createInterface } from 'node:readline'
import type { MailboxError } from '../../src/base/errors.ts'
import { GoDirect } from '../../src/desk/wire.ts'
import { findMailboxAtDesk } from '../../src/space/desk/mailbox-at-desk.ts'
import { openDisk } from '../../src/space/open.ts'

const [dir, name, leaseMs] = process.argv.slice(2) as [string, string, string]
const ttlMs = Number(leaseMs)

async function work(): Promise<void> {
  const space = await openDisk({ dir })
  const mailbox = await space.mailbox(name, { join: { roles: ['r'] } })
  let isByDesk = false
  const step = async (verb: 'start' | 'done', id: string, claimNumber: number) => {
    const options = claimNumber > 0 ? { claimNumber } : {}
    const atDesk = await findMailboxAtDesk(dir, name, [])
    try {
      const handled = await atDesk?.mailbox[verb](id, options)
      isByDesk = handled !== undefined
      return (handled ?? (await mailbox[verb](id, options))).claimNumber
    } catch (error) {
      if (!(error instanceof GoDirect)) throw error
      return (await mailbox[verb](id, options)).claimNumber
    } finally {
      atDesk?.close()
    }
  }
  const does: Record<string, (id: string, claimNumber: number) => Promise<number | undefined>> = {
    claim: async (id) => (await mailbox.claim(id, { ttlMs })).claim.number,
    renew: async (id, claimNumber) => (await mailbox.claim(id, { ttlMs, claimNumber })).claim.number,
    // Its mailbox does not learn of a claim that is made at the desk.
    start: (id, number) =>
      number > 0 ? step('start', id, number) : mailbox.start(id).then((started) => started.claimNumber),
    done: (id, number) => step('done', id, number),
    fail: async (id) => (await mailbox.fail(id, { reason: 'because' })).claimNumber,
    release: async (id) => (await mailbox.release(id)).claimNumber,
  }
  console.log('ready')
  for await (const line of createInterface({ input: process.stdin })) {
    const [n, verb, id, number] = line.split(' ') as [string, string, string, string]
    isByDesk = false
    try {
      const told = await does[verb]!(id, Number(number))
      console.log(`answer ${n} ${JSON.stringify({ ok: true, number: told, isByDesk })}`)
    } catch (error) {
      const { code = 'untyped', message } = error as MailboxError
      console.log(`answer ${n} ${JSON.stringify({ ok: false, code, message })}`)
    }
  }
}

void work()
