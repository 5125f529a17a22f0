// Sends messages until it is killed, each with a number of its own as its subject, from 200 bytes to a
// megabyte. Prints `acked SUBJECT ID` when a send has resolved, and `large SUBJECT` before it sends a
// large one, so that it can be killed in the middle of it.
import { openSpace } from '../../dist/mod.js'

const [dir, name, life, largeShare, durability] = process.argv.slice(2)
const say = (line) => process.stdout.write(`${line}\n`)
const filler = 'All work and no play makes an agent a dull one. '.repeat(25_000)

function sizeOf() {
  if (Math.random() < Number(largeShare)) return 262_144 + Math.floor(Math.random() * 786_000)
  return 200 + Math.floor(Math.random() * (Math.random() < 0.8 ? 2_000 : 60_000))
}

const space = await openSpace({
  dir,
  settings: { durability, segmentBytes: 16 * 1_048_576, 'limits.ratePerMinute': 0, 'limits.inbox': 0 },
})
const mailbox = await space.mailbox(name)
say('ready')
for (let n = 0; ; ) {
  const sends = []
  for (let left = Math.floor(Math.random() * 8); left >= 0; left--) {
    const subject = `${life}-${n++}`
    const size = sizeOf()
    if (size > 200_000) say(`large ${subject}`)
    sends.push(
      mailbox
        .send({ to: name, subject, body: filler.slice(0, size) })
        .then(({ id }) => say(`acked ${subject} ${id}`)),
    )
  }
  await Promise.all(sends)
  // Now and then the index is used as well, so that kills hit it in the middle of its work.
  if (n % 5 === 0) await mailbox.count()
}
