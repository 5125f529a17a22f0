// Opens a space, prints `ready`, and does what it is told on its standard input, one line of JSON a command:
//   {"send": {...}}   prints `acked SUBJECT`, or `refused SUBJECT CODE`
//   {"count": "NAME"} prints `counted NAME N`, or `refused NAME CODE`
//   {"end": true}     closes the space and ends
import { createInterface } from 'node:readline'
import { MailboxError, openSpace } from '../../dist/mod.js'

const say = (line) => process.stdout.write(`${line}\n`)
const codeOf = (error) =>
  error instanceof MailboxError ? error.code : `untyped ${error.code} ${error.message}`

const space = await openSpace({
  dir: process.argv[2],
  settings: { 'limits.ratePerMinute': 0, 'limits.inbox': 0 },
})
const ada = await space.mailbox('ada')
say('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const { send, count, end } = JSON.parse(line)
  if (end) break
  try {
    if (count) say(`counted ${count} ${(await ada.count()).unread}`)
    if (send) {
      await ada.send({ to: 'ada', ...send })
      say(`acked ${send.subject}`)
    }
  } catch (error) {
    say(`refused ${count ?? send.subject} ${codeOf(error)}`)
  }
}
process.stdin.destroy()
await space.close()
