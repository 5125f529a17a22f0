// Reads messages in order until it has so many, and prints `order [subjects]`. `follow` takes every entry of
// the journal from its beginning, `watch` the inbox as mail comes, `inbox` its pages.
import { openSpace } from '../../dist/mod.js'

const [dir, mode, count] = process.argv.slice(2)
const wanted = Number(count)
const space = await openSpace({ dir })
const mailbox = await space.mailbox('reader', { join: false })
const subjects = []

async function follow() {
  for await (const { entry } of space.follow()) {
    if (entry.kind === 'message') subjects.push(entry.message.subject)
    if (subjects.length === wanted) return
  }
}

async function watch() {
  for await (const { subject } of mailbox.watch()) {
    subjects.push(subject)
    if (subjects.length === wanted) return
  }
}

async function inbox() {
  for (let after; after !== null; ) {
    const page = await mailbox.inbox({ limit: 300, ...(after === undefined ? {} : { after }) })
    for (const { subject } of page.messages) subjects.push(subject)
    after = page.next
  }
}

console.log('ready')
await { follow, watch, inbox }[mode]()
console.log(`order ${JSON.stringify(subjects)}`)
await space.close()
process.exit()
