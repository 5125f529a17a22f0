// Follows a space whose writer ran out of disk: between the reader's look at the file's size and its
// read, a half line of more than a megabyte was taken back. Prints what it reads afterwards.
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { openSpace } from '../../dist/mod.js'

const space = await openSpace({ dir: process.argv[2], settings: { durability: 'os' } })
const ada = await space.mailbox('ada')
const first = await ada.send({ to: 'ada', subject: 'first' })

const segment = join(process.argv[2], 'journal', '00000001.jsonl')
const { ino, size } = fs.statSync(segment)
const { fstatSync } = fs
// The first look is before reading the past; the second finds the half line behind it.
let looks = 0
fs.fstatSync = (fd) => {
  const stat = fstatSync(fd)
  if (stat.ino === ino && stat.size === size && ++looks === 2) stat.size += 3 * 1_048_576
  return stat
}
syncBuiltinESMExports()

setImmediate(() => void ada.send({ to: 'ada', subject: 'second' }))
for await (const { entry } of space.follow({ after: first.seq })) {
  process.stdout.write(`read on: ${entry.message.subject}\n`)
  break
}
await space.close()
