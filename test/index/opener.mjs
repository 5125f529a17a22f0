// Opens the space named by each line of its input, sends a message, closes it, and prints `done DIR ID` or
// what went wrong.
import { createInterface } from 'node:readline'
import { openSpace } from '../../dist/mod.js'

const name = process.argv[2]
process.stdout.write('ready\n')
for await (const dir of createInterface({ input: process.stdin })) {
  try {
    const space = await openSpace({
      dir,
      settings: { durability: 'os', 'limits.ratePerMinute': 0, 'limits.inbox': 0 },
    })
    const mailbox = await space.mailbox(name)
    await mailbox.send({ to: name, subject: name })
    const { unread } = await mailbox.count()
    await mailbox.search(name)
    await space.close()
    process.stdout.write(`done ${dir} ${space.id} ${unread}\n`)
  } catch (error) {
    process.stdout.write(`done ${dir} failed: ${error.code} ${error.message}\n`)
  }
}
