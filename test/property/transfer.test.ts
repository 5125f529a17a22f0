import { expect, test } from 'vitest'
import type { Message } from '../../src/model/message.ts'
import type { ExportLine } from '../../src/model/transfer.ts'
import { count } from '../../src/query/count.ts'
import { deadLetters } from '../../src/query/dead.ts'
import { inbox } from '../../src/query/inbox.ts'
import { claimsOn, requireSeq, type Source } from '../../src/query/message.ts'
import { mattersWhere, owed } from '../../src/query/owed.ts'
import { presence } from '../../src/query/presence.ts'
import { show } from '../../src/query/show.ts'
import { stats } from '../../src/query/stats.ts'
import { liveThrough } from '../helpers/history.ts'
import { inStorm } from '../helpers/storm.ts'
import { talkThrough } from '../helpers/talk.ts'
import { tempSpace } from '../helpers/temp.ts'
import { exported } from '../helpers/transfer.ts'
import { endDesk } from '../helpers/with-desk.ts'

const histories = inStorm(200, 4)
/** The same histories in every run; a storm plays others. */
const first = inStorm(Math.floor(Math.random() * 1e9), 1)
const settings = { answerAfterMs: 20 * 60_000, maxAttempts: 3 }

const bytes = (lines: readonly ExportLine[]): string[] => lines.map((line) => JSON.stringify(line))
/** Where it came from is the one thing that differs. */
const withoutPlace = ({ seq: _, imported: __, ...message }: Message & { seq: number; imported?: true }) =>
  message

/** Everything that can be asked about a space, without places. */
function picture(source: Source, lines: readonly ExportLine[], now: number): object {
  const agents = presence(source, now)
  const ids = lines.flatMap((line) => (line.kind === 'message' ? line.message.id : []))
  return {
    messages: ids.map((id) => {
      const { message, receipts } = show(source, id, now)
      return { ...withoutPlace(message), receipts, claims: claimsOn(source, requireSeq(source, id)) }
    }),
    agents,
    inboxes: agents.map((agent) => {
      const { messages } = inbox(source, agent, { all: true, limit: 500 }, now)
      return { all: messages.map(withoutPlace), unread: count(source, agent, now) }
    }),
    owed: owed(source, {}, now),
    matters: mattersWhere(source, 'true ORDER BY x.seq, x.owner, x.kind', []).map(
      ({ seq: _, ...rest }) => rest,
    ),
    dead: deadLetters(source, { limit: 500 }, now).letters.map(({ message, ...rest }) => ({
      ...rest,
      id: message.id,
    })),
    stats: stats(source, now),
  }
}

test.each(Array.from({ length: histories }, (_, at) => first + at))(
  'a space that is exported and imported is the same, and so is its export (history %i)',
  { timeout: 60_000 },
  async (seed) => {
    const clock = { now: 1_800_000_000_000 }
    const now = () => clock.now
    const space = await tempSpace({ now, settings })
    await liveThrough(space, inStorm(200, 60), seed, clock)
    await talkThrough(space, inStorm(200, 80), seed, clock)
    await endDesk(space.dir)
    const lines = await exported(space)

    clock.now += 3 * 3_600_000
    const copy = await tempSpace({ now, settings })
    const done = await copy.importMessages(lines)
    expect(done).toMatchObject({ skipped: 0, agentsSkipped: 0, refused: 0, refusals: [] })
    expect(bytes(await exported(copy))).toEqual(bytes(lines))
    const wanted = await space.core.query((source) => picture(source, lines, clock.now))
    expect(await copy.core.query((source) => picture(source, lines, clock.now))).toEqual(wanted)
    expect((await copy.verify({ deep: true })).problems).toEqual([])

    // Nothing of it is news: what is due is done without a word to anybody.
    await copy.runDue()
    clock.now += 30 * 3_600_000
    await copy.runDue()
    const after = (await exported(copy)).filter(({ kind }) => kind === 'message')
    expect(after).toHaveLength(done.imported)
    // And nothing is doubled when it is imported again.
    expect(await copy.importMessages(lines)).toMatchObject({
      imported: 0,
      receipts: 0,
      agents: 0,
      refused: 0,
    })
  },
)
