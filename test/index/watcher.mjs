// Watches bob's mailbox and prints `saw SUBJECT` for everything that comes.
import { openSpace } from '../../dist/mod.js'

const space = await openSpace({ dir: process.argv[2], settings: { durability: 'os', pollMs: 50 } })
const bob = await space.mailbox('bob')
process.stdout.write('watching\n')
for await (const { subject } of bob.watch()) process.stdout.write(`saw ${subject}\n`)
