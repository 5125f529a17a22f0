// A process that sends and claims: NAME URL DIR, or NAME URL TOKEN through a hub. It prints a line for everything that
// it does or is told, and goes on until its standard input ends. Times are by the wall clock of this machine.
import { openSpace } from '../../dist/mod.js'

const [name, url, where] = process.argv.slice(2)
const leaseMs = 2_000
const settings = { claimTtlMs: leaseMs, maxAttempts: 1_000, 'limits.ratePerMinute': 0, 'limits.inbox': 0 }
const isRemote = url.startsWith('http')
const options = isRemote ? { url, token: where } : { url, dir: where, settings }
const say = (word, ...rest) => console.log([word, ...rest].join(' '))
const isAway = ({ code }) => ['unreachable', 'timeout'].includes(code)
let isOver = false
process.stdin.on('end', () => (isOver = true)).resume()

/** Whatever it takes: the server may be away when the process starts. */
async function start() {
  for (;;) {
    try {
      const space = await openSpace(options)
      return { space, mailbox: await space.mailbox(name, { join: { roles: ['worker'] } }) }
    } catch (error) {
      if (!isAway(error)) say('trouble', error.code, error.message)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

const { space, mailbox } = await start()
say('ready')

/** The newest claim of this process on each message. */
const claims = new Map()
let calls = 0

/** Does something about a message, and says when, and what came of it. */
async function ask(does, id, work) {
  const n = ++calls
  const call = { does, id, acting: claims.get(id), leaseMs, calledAt: Date.now() }
  say('call', n, JSON.stringify(call))
  try {
    const number = await work()
    claims.set(id, number)
    say('answer', n, JSON.stringify({ answeredAt: Date.now(), ok: true, number }))
    return true
  } catch (error) {
    // Nobody knows what became of it.
    if (!isAway(error))
      say('answer', n, JSON.stringify({ answeredAt: Date.now(), ok: false, why: error.message }))
    if (!isAway(error) && !['conflict', 'not_permitted'].includes(error.code))
      say('trouble', error.code, error.message)
    return false
  }
}

for (let n = 0; !isOver; n++) {
  const subject = `${name}-${process.pid}-${n}`
  try {
    say('try', subject)
    await mailbox.send({ to: 'role:worker', subject, body: 'work' })
    say('sent', subject)
  } catch (error) {
    if (!isAway(error)) say('trouble', error.code, error.message)
    // A hub that breaks off has not said what became of it either.
    say(isRemote || /not known/.test(error.message) ? 'open' : 'refused', subject)
  }
  let messages = []
  try {
    ;({ messages } = await mailbox.inbox({ limit: 4 }))
  } catch (error) {
    if (!isAway(error)) say('trouble', error.code, error.message)
  }
  // Several want the same ones.
  const { id, from } = messages[Math.floor(Math.random() * messages.length)] ?? {}
  // Nobody may claim what it has sent itself.
  if (id === undefined || from === name) continue
  const isMine = await ask(
    'claim',
    id,
    async () => (await mailbox.claim(id, { ttlMs: leaseMs })).claim.number,
  )
  if (!isMine) continue
  const ends = Math.random() < 0.8 ? 'done' : 'release'
  await ask(ends, id, async () => (await mailbox[ends](id)).claimNumber)
}
await space.close()
say('over')
