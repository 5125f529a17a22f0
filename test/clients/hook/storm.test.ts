import { expect, it } from 'vitest'
import { countingNode } from '../../helpers/counting-node.ts'
import { startScript } from '../../helpers/processes.ts'
import { inStorm } from '../../helpers/storm.ts'
import { tempSpace } from '../../helpers/temp.ts'
import { letPass } from '../../helpers/wait.ts'
import { FakeClient, hookProgram } from './stage.ts'

const messages = inStorm(10_000, 60)
/** Mail comes in showers, with pauses in which the quick path is taken. */
const shower = inStorm(500, 30)
const agents = 4
const pollersEach = 2

const idsIn = (text: string): string[] =>
  [...text.matchAll(/Message ([0-9a-f-]{36}) from/g)].map(([, id]) => id!)

it(
  `shows ${messages} messages that come at any time once each, with 8 processes that look as fast as they can`,
  async () => {
    const space = await tempSpace()
    const ada = await space.mailbox('ada')
    const { env, starts } = countingNode()
    const clients = Array.from({ length: agents }, (_, n) => new FakeClient(space, `session-${n}`))
    const names: string[] = []
    for (const client of clients) {
      names.push(/You are `([^`]+)`/.exec(client.hook('SessionStart').text)![1]!)
      await space.update(names.at(-1)!, { addRoles: ['tester'] })
    }
    const startsBefore = starts()
    const pollers = clients.flatMap((client, n) =>
      Array.from({ length: pollersEach }, () => ({
        name: names[n]!,
        running: startScript(new URL('poller.mjs', import.meta.url), [hookProgram, client.session], {
          env: { ...client.env, ...env },
        }),
      })),
    )

    /** How often each message has to be seen by whom: a name, or anybody. */
    const due = new Map<string, readonly string[] | 'one'>()
    for (let sent = 0; sent < messages; sent++) {
      const kind = Math.random()
      const name = names[Math.floor(Math.random() * agents)]!
      const to = kind < 0.7 ? name : kind < 0.9 ? 'role:tester' : 'all'
      const priority = Math.random() < 0.8 ? ('high' as const) : ('urgent' as const)
      const { id } = await ada.send({ to, subject: `No. ${sent}`, body: 'mail', priority })
      due.set(id, to === 'all' ? names : to === name ? [name] : 'one')
      if (sent % shower === shower - 1) await letPass(1_200 + Math.random() * 1_500)
      else if (Math.random() < 0.3) await letPass(Math.random() * 20)
    }

    const seen: { name: string; id: string }[] = []
    let runs = 0
    for (const { name, running } of pollers) {
      running.tell('over')
      runs += Number((await running.line(/^runs /)).slice(5))
      for (const line of running.lines) if (line.startsWith('id ')) seen.push({ name, id: line.slice(3) })
    }
    const byPollers = seen.length
    // Whatever is left must come without a further word: a stamp that lies would hide it.
    for (const [n, client] of clients.entries()) {
      const next = () => idsIn(client.hook('PostToolUse').text)
      for (let ids = next(); ids.length > 0; ids = next())
        seen.push(...ids.map((id) => ({ name: names[n]!, id })))
    }

    const missed = [...due].flatMap(([id, who]) => {
      const by = seen.filter((one) => one.id === id).map(({ name }) => name)
      const isRight = who === 'one' ? by.length === 1 : by.toSorted().join() === [...who].sort().join()
      return isRight ? [] : [{ id, who, by }]
    })
    expect(missed).toEqual([])
    const quick = runs - (starts() - startsBefore)
    console.log(
      `${messages} messages, ${seen.length} times shown (${byPollers} of them during the storm), ${runs} runs of the hook, ${quick} of them quick`,
    )
    expect(quick).toBeGreaterThan(0)
    expect((await space.verify({ deep: true })).problems).toEqual([])
  },
  inStorm(900_000, 180_000),
)
