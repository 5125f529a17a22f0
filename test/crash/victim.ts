// Works in a space until it is killed: `victim DIR NAME LIFE KIND DURABILITY`. It prints what it was told, at once:
//   open            it begins to open the space
//   ready           it has joined
//   write           it begins to write a lot at once
//   sent SUBJECT ID a send has resolved
//   done ID         a receipt has
//   set N           the setting `limits.threadMessages` is N
//   token NAME TEXT an agent's token was created, or the person's read
import fs, { writeSync } from 'node:fs'
import { personToken } from '../../src/hub/person-token.ts'
import { createAgentToken } from '../../src/hub/tokens.ts'
import { person } from '../../src/model/agent.ts'
import type { Settings } from '../../src/model/settings.ts'
import type { Mailbox } from '../../src/space/mailbox/api.ts'
import { openDisk } from '../../src/space/open.ts'
import { writeSetting } from '../../src/space/settings.ts'

const [dir, name, life, kind, durability] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  Settings['durability'],
]
const say = (line: string) => writeSync(1, `${line}\n`)
const filler = 'All work and no play makes an agent a dull one. '.repeat(20_000)
const below = (count: number) => Math.floor(Math.random() * count)
let sends = 0

async function send(mailbox: Mailbox, bytes: number): Promise<void> {
  const subject = `${life}-${sends++}`
  const { id } = await mailbox.send({ to: name, subject, body: filler.slice(0, bytes) })
  say(`sent ${subject} ${id}`)
}

const manyAtOnce = (mailbox: Mailbox, count: number, bytes: () => number) =>
  Promise.all(Array.from({ length: count }, () => send(mailbox, bytes())))

/**
 * Says when a long write begins. A kernel may take less than it is given: a slow one takes a page at a time, and a
 * millisecond for each.
 */
function tellWrites(slowly: boolean): void {
  const real = fs.writeSync as (fd: number, data: Buffer, offset: number, length: number) => number
  const clock = new Int32Array(new SharedArrayBuffer(4))
  const telling: typeof real = (fd, data, offset, length) => {
    if (length > 16_384 && offset === 0) say('write')
    if (!slowly || length < 4_096) return real(fd, data, offset, length)
    Atomics.wait(clock, 0, 0, 1)
    return real(fd, data, offset, 4_096)
  }
  Object.assign(fs, { writeSync: telling })
}

const kinds: Record<string, (mailbox: Mailbox) => Promise<unknown>> = {
  small: (mailbox) => manyAtOnce(mailbox, 1 + below(8), () => 200 + below(below(5) === 0 ? 60_000 : 2_000)),
  /** Uses the index as well, so that kills hit it in the middle of its work. */
  async handling(mailbox) {
    await send(mailbox, 200)
    for (const { id } of (await mailbox.check()).messages) {
      await mailbox.done(id)
      say(`done ${id}`)
    }
  },
  /** Three megabytes with one write, which takes long enough to be hit. */
  large: (mailbox) => manyAtOnce(mailbox, 2 + below(4), () => filler.length - below(200_000)),
  async settings() {
    for (let n = 0; ; n++) {
      say(`token ${person} ${personToken(dir).token}`)
      const number = Number(life) * 1_000 + n
      writeSetting(dir, 'limits.threadMessages', number)
      say(`set ${number}`)
      const agent = `agent-${n % 10}`
      say(`token ${agent} ${createAgentToken(dir, agent)}`)
    }
  },
  slow: (mailbox) => manyAtOnce(mailbox, 1 + below(2), () => 20_000 + below(40_000)),
}

async function live(): Promise<void> {
  say('open')
  const space = await openDisk({
    dir,
    settings: {
      durability,
      'limits.ratePerMinute': 0,
      'limits.inbox': 0,
      // Small ones for some, so that the step from one segment to the next is hit as well.
      segmentBytes: below(2) === 0 ? 65_536 : 4 * 1_048_576,
    },
  })
  const mailbox = await space.mailbox(name)
  if (kind === 'slow' || kind === 'large') tellWrites(kind === 'slow')
  say('ready')
  for (;;) await kinds[kind]!(mailbox)
}

void live()
