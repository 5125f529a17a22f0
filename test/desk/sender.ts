// Sends until it is killed, and takes part in the desk: `sender DIR NAME LIFE`. It prints, at once:
//   ready                          it has joined
//   desk                           it is the desk now
//   sent SUBJECT ID MS WAY ASKED BUSY
// A send has resolved after so many ms. WAY says who wrote it: `desk`; `direct`, without asking; `vain`, after ASKED ms of
// waiting for a desk that did not answer. For BUSY ms of these this process was at work, or wanted to be and got no
// processor.
import { readFileSync, writeSync } from 'node:fs'
import type { SendInput } from '../../src/model/fields.ts'
import { openDisk } from '../../src/space/open.ts'

/** How long this thread has run or waited for a processor, in ms. */
function busyMs(): number {
  const [ran = 0, waited = 0] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ').map(Number)
  return (ran + waited) / 1e6
}

const say = (line: string) => writeSync(1, `${line}\n`)

async function work(): Promise<void> {
  const [dir, name, life] = process.argv.slice(2) as [string, string, string]
  const space = await openDisk({ dir })
  const mailbox = await space.mailbox(name)
  const desk = space.core.desk!
  desk.takePart()
  let told = { way: 'direct', asked: 0, busy: 0 }
  const send = desk.send.bind(desk)
  desk.send = (from: string, input: SendInput, direct) => {
    const [began, busy] = [performance.now(), busyMs()]
    told = { way: 'desk', asked: 0, busy: 0 }
    return send(from, input, (chosen) => {
      // Only what was asked at a desk has an id of its own.
      if (chosen?.id === undefined) told.way = 'direct'
      else told = { way: 'vain', asked: performance.now() - began, busy: busyMs() - busy }
      return direct(chosen)
    })
  }
  say('ready')
  let isDesk = false
  for (let n = 0; ; n++) {
    if (desk.isDesk && !isDesk) say('desk')
    isDesk = desk.isDesk
    const subject = `${life}-${n}`
    const began = performance.now()
    const { id } = await mailbox.send({ to: 'ada', subject, body: 'x'.repeat((n % 40) * 50) })
    const { way, asked, busy } = told
    const ms = performance.now() - began
    say(`sent ${subject} ${id} ${Math.round(ms)} ${way} ${Math.round(asked)} ${Math.round(busy)}`)
    // Sometimes a process has other things to do, and sockets and timers wait.
    if (n % 50 === 0) for (const end = performance.now() + 10; performance.now() < end; );
  }
}

void work()
