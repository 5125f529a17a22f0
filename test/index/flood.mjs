// Sends without a pause until the index has been brought up beside it; or rebuilds; or closes in the middle.
import Database from 'libsql'
import { openSpace } from '../../dist/mod.js'

const [dir, task] = process.argv.slice(2)
const space = await openSpace({
  dir,
  settings: { durability: 'os', 'limits.ratePerMinute': 0, 'limits.inbox': 0 },
})
const ada = await space.mailbox('ada')
await space.mailbox('bob')

function indexed() {
  const index = new Database(`${dir}/index.db`, { readonly: true })
  try {
    return index.prepare('SELECT count(*) AS n FROM message').get().n
  } catch {
    return 0 // Being written just now.
  } finally {
    index.close()
  }
}

if (task === 'rebuild') {
  await space.rebuild({ onProgress: (seq) => console.log(`at ${seq}`) })
  const { messages } = await ada.search('hundredth', { limit: 30 })
  console.log(`found ${messages.length}`)
} else {
  const mostAtAll = 500_000
  let sent = 0
  let done = false
  const sender = async () => {
    while (!done && sent < mostAtAll) {
      const body = ++sent % 100 === 0 ? 'the hundredth' : 'one of many'
      await ada.send({ to: 'bob', subject: 'flood', body })
      if (sent % 2_000 === 0) done = task === 'close' ? sent > 6_000 : indexed() > 2_000
    }
  }
  await Promise.all(Array.from({ length: 64 }, sender))
  if (task === 'send') console.log(`sent ${sent}, indexed ${indexed()}`)
}
await space.close()
