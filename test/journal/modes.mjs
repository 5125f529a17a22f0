// Uses every file a space has, with a umask that forbids nothing.
import { openSpace } from '../../dist/mod.js'

process.umask(Number(process.argv[3]))
const space = await openSpace({ dir: process.argv[2], settings: { 'retention.segmentEntries': 2 } })
const ada = await space.mailbox('ada')
const { id } = await ada.send({ to: 'ada', subject: 'hello', body: 'world' })
await ada.check()
await ada.search('world')
await ada.ack(id)
await space.archiveOld({ gzipAfterMs: 1, now: Date.now() + 1_000 })
await space.rebuild()
await space.close()
