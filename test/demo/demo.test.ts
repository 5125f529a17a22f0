import { cpSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { asks } from '../../src/demo/texts/person.ts'
import type { Entry } from '../../src/model/entry.ts'
import type { Message } from '../../src/model/message.ts'
import { openDisk } from '../../src/space/open.ts'
import { type Running, startScript } from '../helpers/processes.ts'
import { tempDir } from '../helpers/temp.ts'

const cli = new URL('../../dist/cli.cjs', import.meta.url)

const everyType = [
  ...[
    'broadcast',
    'task_assignment',
    'plan_submission',
    'plan_approval',
    'request',
    'response',
    'text',
    'error',
  ],
  ...['escalation', 'help_request', 'notification', 'status_request', 'status_response', 'status_update'],
  ...['handoff', 'fix_review_comments', 'fix_ci_failure', 'shutdown_request', 'shutdown_response'],
]

type Told = Message & { seq: number }

interface Facts {
  url: string
  token: string
  space: string
  seed: number
}

/** One in the directories of another. */
const startDemoIn = ({ home, temp }: Demo, ...words: string[]): Running =>
  startScript(cli, ['demo', '--json', '--port', '0', ...words], { env: { HOME: home, TMPDIR: temp } })

function startTour(...words: string[]): Running {
  const dir = tempDir()
  return startScript(cli, ['demo', '--tour', ...words], { env: { HOME: dir, TMPDIR: dir } })
}

interface Demo extends Running {
  home: string
  /** Where its temporary files go. */
  temp: string
  facts(): Promise<Facts>
  /** The first message, past or future, that is like this. */
  message(like: (message: Told) => boolean): Promise<Told>
  /** Acts as the person, through the hub. */
  act(operation: string, input: object): Promise<void>
}

function startDemo(...words: string[]): Demo {
  const dir = tempDir()
  const [home, temp] = [join(dir, 'home'), join(dir, 'temp')]
  for (const one of [home, temp]) mkdirSync(one)
  const env = { HOME: home, TMPDIR: temp, MAILBOX_SPACE: join(home, 'mine') }
  const running = startScript(cli, ['demo', '--json', '--speed', '20', '--port', '0', ...words], { env })
  const facts = async () => JSON.parse(await running.line(/"url"/)) as Facts
  return {
    ...running,
    home,
    temp,
    facts,
    message: async (like) => {
      const matcher = { test: (line: string) => messagesIn([line]).some(like) }
      return messagesIn([await running.line(matcher as RegExp)])[0]!
    },
    act: async (operation, input) => {
      const { url, token } = await facts()
      const answer = await fetch(`${url}/api/mailboxes/user/${operation}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(input),
      })
      expect(answer.status, await answer.text()).toBe(200)
    },
  }
}

const messagesIn = (lines: readonly string[]): Told[] =>
  lines.flatMap((line) => (JSON.parse(line) as { message?: Told }).message ?? [])

const told = (lines: readonly string[]): string[] =>
  messagesIn(lines)
    .filter(({ from }) => from !== 'system')
    .map(({ from, to, type, subject }) => `${from} -> ${to.join(' ')} ${type}: ${subject}`)

async function entriesOf(dir: string): Promise<{ entries: Entry[]; dead: number; problems: unknown[] }> {
  await using space = await openDisk({ dir })
  const entries: Entry[] = []
  const end = await space.lastSeq()
  for await (const { entry } of space.follow({ after: 0 })) {
    entries.push(entry)
    if (entry.seq >= end) break
  }
  const dead = (await space.deadLetters()).letters.length
  return { entries, dead, problems: (await space.verify({ deep: true })).problems }
}

describe('mailbox demo', () => {
  it('tells the same story for the same seed, with every kind of traffic in it', async () => {
    const [first, second] = [startDemo('--seed', '1', '--keep'), startDemo('--seed', '1')]
    for (const type of everyType) await first.message((message) => message.type === type)
    await first.message(({ subject }) => subject === 'Back online')
    await second.message(({ seq }) => seq > 400)
    for (const demo of [first, second]) demo.kill('SIGINT')
    for (const { exit } of [first, second]) expect((await exit).code).toBe(130)
    const length = Math.min(told(first.lines).length, told(second.lines).length)
    expect(length).toBeGreaterThan(40)
    expect(told(first.lines).slice(0, length)).toEqual(told(second.lines).slice(0, length))
    expect(readdirSync(second.temp)).toEqual([])

    const { entries, dead, problems } = await entriesOf((await first.facts()).space)
    const addresses = new Set(entries.flatMap((entry) => (entry.kind === 'message' ? entry.message.to : [])))
    expect([...addresses]).toEqual(expect.arrayContaining(['all', 'user', 'role:worker', 'role:reviewer']))
    expect([...addresses].some((to) => to.startsWith('project:'))).toBe(true)
    expect([...addresses].some((to) => to.startsWith('concern:'))).toBe(true)
    const steps = new Set(entries.flatMap((entry) => (entry.kind === 'receipt' ? entry.step : [])))
    expect([...steps]).toEqual(
      expect.arrayContaining(['shown', 'acked', 'processing', 'completed', 'failed', 'retried']),
    )
    const roleMail = entries.flatMap((entry) => (entry.kind === 'receipt' ? entry.changes : []))
    expect(roleMail.some(({ owner, box }) => owner === 'role:worker' && box !== owner)).toBe(true)
    const ended = entries.find((entry) => entry.kind === 'agent' && entry.agent.gone === 'ended')
    const back = entries.find(
      (entry) =>
        ended?.kind === 'agent' &&
        entry.kind === 'agent' &&
        entry.seq > ended.seq &&
        entry.agent.name === ended.agent.name &&
        entry.agent.session.generation > ended.agent.session.generation,
    )
    expect(back).toBeDefined()
    expect(dead).toBeGreaterThan(0)
    expect(problems).toEqual([])
  })

  it('goes on as the person decides, and leaves nothing behind when it is interrupted', async () => {
    const demo = startDemo('--seed', '1')
    const question = await demo.message(({ type, to }) => type === 'help_request' && to.includes('user'))
    await demo.act('reply', { id: question.id, body: 'Yes, go.' })
    const isPlan = ({ type, to }: Message) => type === 'plan_submission' && to.includes('user')
    const good = await demo.message(isPlan)
    await demo.act('approve-plan', { id: good.id })
    const bad = await demo.message((message) => isPlan(message) && message.id !== good.id)
    await demo.act('reject-plan', { id: bad.id, feedback: 'Not before the holidays.' })

    const ask = asks.find(({ subject }) => subject === question.subject)!
    const turn = ask.turns[0]!
    const decided = await demo.message(({ subject }) => subject === turn.subject)
    expect(decided.from).toBe(question.from)
    expect(decided.to).toEqual([turn.to ?? ask.to])
    const begun = await demo.message(
      ({ type, body }) => type === 'status_update' && /owner approved/.test(body),
    )
    expect(begun.from).toBe(good.from)
    const revised = await demo.message(
      ({ type, replyTo }) => type === 'plan_submission' && replyTo === bad.id,
    )
    expect(revised.body).toContain('Not before the holidays.')
    const title = good.subject.replace('Plan: ', '')
    const review = await demo.message(
      ({ type, subject }) => type === 'handoff' && subject === `Review: ${title}`,
    )
    expect(review.to).toEqual(['role:reviewer'])
    await demo.act('send', { to: 'chen', subject: 'Well done', body: 'The totals agree now.' })
    const thanks = await demo.message(
      ({ from, to, subject }) => from === 'chen' && to[0] === 'user' && subject === 'Re: Well done',
    )
    expect(thanks.type).toBe('response')

    // One of them has died meanwhile, and has a new process.
    await demo.message(({ subject }) => subject === 'Back online')
    const standIn = await standInOf((await demo.facts()).space)
    expect(isRunning(standIn)).toBe(true)
    demo.kill('SIGINT')
    expect(await demo.exit).toMatchObject({ code: 130 })
    expect(isRunning(standIn)).toBe(false)
    expect(readdirSync(demo.temp)).toEqual([])
    expect(readdirSync(demo.home)).toEqual([])
    expect(demo.stderr()).toBe('')
  })

  it('ends by itself when its time is up', async () => {
    const demo = startDemo('--minutes', '0.02', '--agents', '8')
    expect((await demo.exit).code).toBe(0)
    expect(JSON.parse(demo.lines.at(-1)!)).toMatchObject({ ended: 'time', kept: false })
    expect(readdirSync(demo.temp)).toEqual([])
  })

  it('removes its space as well when its reader has seen enough', async () => {
    const demo = startDemo()
    await demo.message(({ subject }) => subject === 'Good morning')
    expect(readdirSync(demo.temp)).toHaveLength(1)
    demo.process.stdout!.destroy()
    await demo.exit
    expect(readdirSync(demo.temp)).toEqual([])
  })

  it('removes what a killed demo has left, and nothing else', async () => {
    const killed = startDemo('--agents', '8')
    await killed.message(({ subject }) => subject === 'Good morning')
    killed.kill('SIGKILL')
    await killed.exit
    expect(readdirSync(killed.temp)).toHaveLength(1)
    const kept = startDemoIn(killed, '--agents', '8', '--keep', '--minutes', '0.02')
    expect((await kept.exit).code).toBe(0)
    const [own] = readdirSync(killed.temp)
    expect(readdirSync(killed.temp)).toEqual([own])
    const running = startDemoIn(killed, '--agents', '8')
    await running.line(/Good morning/)
    cpSync(join(killed.temp, own!), join(killed.temp, 'mailbox-demo-by-hand'), { recursive: true })
    const next = startDemoIn(killed, '--agents', '8', '--minutes', '0.02')
    expect((await next.exit).code).toBe(0)
    const { space } = JSON.parse(running.lines[0]!) as Facts
    expect(readdirSync(killed.temp).sort()).toEqual([own, 'mailbox-demo-by-hand', basename(space)].sort())
    expect(existsSync(join(space, 'journal'))).toBe(true)
    running.kill('SIGINT')
    await running.exit
  })

  it('guides through the console, one step after another, as the person decides', async () => {
    const demo = startTour('--seed', '1', '--speed', '20', '--port', '0')
    const link = new URL((await demo.line(/^open /)).split(/\s+/)[1]!)
    const token = new URLSearchParams(link.hash.slice(1)).get('token')!
    const ask = async (path: string, input?: object) => {
      const answer = await fetch(new URL(path, link), {
        method: input === undefined ? 'GET' : 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(input !== undefined && { body: JSON.stringify(input) }),
      })
      return (await answer.json()) as { items: { kind: string; message: Message }[] }
    }
    await demo.line(/^1\/6 .* A team at work/)
    await demo.line(/^2\/6 .* Approve a plan/)
    const { items } = await ask('/api/needs-you')
    const plan = items.find(({ kind }) => kind === 'plan')!
    await ask('/api/mailboxes/user/approve-plan', { id: plan.message.id })
    await demo.line(/^ {3}done/)
    await demo.line(/^3\/6 .* Answer a question/)
    await demo.line(/^4\/6 .* An agent crashes/)
    demo.kill('SIGINT')
    expect((await demo.exit).code).toBe(130)
  })

  it('refuses what makes no sense, with the next step', async () => {
    for (const [flag, value, hint] of [
      ['--speed', '21', 'a number, 1 to 20'],
      ['--agents', '3', 'a whole number, 8 to 60'],
      ['--minutes', 'soon', 'a number, 0 to'],
    ]) {
      const demo = startDemo(flag!, value!)
      expect((await demo.exit).code).toBe(2)
      expect(demo.lines.join()).toContain(hint)
      expect(readdirSync(demo.temp)).toEqual([])
    }
  })
})

/** The process of the agent that can die. */
async function standInOf(dir: string): Promise<number> {
  await using space = await openDisk({ dir })
  const pids = (await space.agents()).flatMap(({ session }) => session.pid ?? [])
  const counts = pids.map((pid) => pids.filter((other) => other === pid).length)
  return pids[counts.indexOf(1)]!
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
