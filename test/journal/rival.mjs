// Sends one message and prints `sent`, or the code of the error that kept it from doing so.
import { openSpace } from '../../dist/mod.js'

const [dir, subject, timeoutMs] = process.argv.slice(2)
try {
  const space = await openSpace({ dir, settings: { durability: 'os', lockTimeoutMs: Number(timeoutMs) } })
  const ada = await space.mailbox('ada')
  await ada.send({ to: 'ada', subject })
  await space.close()
  process.stdout.write('sent\n')
} catch (error) {
  process.stdout.write(`${error.code}\n`)
}
