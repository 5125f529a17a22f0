// Sends to itself and others until it is killed, and takes part in the desk: `worker DIR NAME LIFE`. It prints, at once:
//   ready               it has joined
//   desk                it is the desk now
//   sent SUBJECT ID MS  a send has resolved, after so long
import { writeSync } from 'node:fs'
import { openDisk } from '../../src/space/open.ts'

const [dir, name, life] = process.argv.slice(2) as [string, string, string]
const say = (line: string) => writeSync(1, `${line}\n`)

async function work(): Promise<void> {
  const space = await openDisk({ dir })
  const mailbox = await space.mailbox(name)
  space.core.desk!.takePart()
  say('ready')
  let isDesk = false
  for (let n = 0; ; n++) {
    if (space.core.desk!.isDesk && !isDesk) say('desk')
    isDesk = space.core.desk!.isDesk
    const subject = `${life}-${n}`
    const began = performance.now()
    const { id } = await mailbox.send({ to: 'ada', subject, body: 'x'.repeat((n % 40) * 50) })
    say(`sent ${subject} ${id} ${Math.round(performance.now() - began)}`)
    // Sometimes a process has other things to do, and sockets and timers wait.
    if (n % 50 === 0) for (const end = performance.now() + 10; performance.now() < end; );
  }
}

void work()
