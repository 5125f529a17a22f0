// Sends mail to bob until it is told to stop, plain and with keys in turn, and handles some of its own.
// Prints `acked SUBJECT` or `refused SUBJECT CODE`, and `stopped` at the end.
import { setTimeout as sleep } from 'node:timers/promises'
import { openSpace } from '../../dist/mod.js'

const space = await openSpace({
  dir: process.argv[2],
  settings: { durability: 'os', 'limits.ratePerMinute': 0, 'limits.inbox': 0 },
})
const ada = await space.mailbox('ada')
await space.mailbox('bob')
let stop = false
process.stdin.once('data', () => {
  stop = true
})
for (let n = 1; !stop; n++) {
  try {
    const { id } = await ada.send({
      to: ['bob', 'ada'],
      subject: `${n}`,
      ...(n % 3 === 0 ? { key: `key-${n}` } : {}),
    })
    if (n % 5 === 0) await ada.done(id)
    process.stdout.write(`acked ${n}\n`)
  } catch (error) {
    process.stdout.write(`refused ${n} ${error.code} ${error.message}\n`)
  }
  await sleep(2)
}
process.stdin.destroy()
await space.close()
process.stdout.write('stopped\n')
