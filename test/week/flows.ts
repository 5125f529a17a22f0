import {
  askForHelp,
  assignTask,
  handOff,
  reportCiFailure,
  reportReview,
  requestShutdown,
  requestStatus,
  submitPlan,
} from '../../src/mod.ts'
import { hour, isInHours, minute } from './calendar.ts'
import { type Cast, type Name, workers } from './cast.ts'
import type { Player } from './player.ts'

/** Something that somebody begins. */
type Flow = (cast: Cast) => Promise<void>

const agentsBut = (cast: Cast, player: Player) => cast.agents.filter(({ name }) => name !== player.name)
const within = (cast: Cast, share: number) => {
  if (!cast.world.random.happens(share)) return {}
  cast.world.saw('E10')
  return { withinMs: 180 * minute }
}
let tasks = 0
const newTask = () => `T-${++tasks}`

const assign: Flow = async (cast) => {
  const { random } = cast.world
  const lead = cast.awake('lena')
  if (lead === undefined) return
  const to = random.happens(0.5) ? random.pick(workers) : 'role:worker'
  const taskId = newTask()
  await lead.act(`assigns ${taskId}`, () =>
    assignTask(lead.mailbox, { to, subject: `Task ${taskId}`, taskId, ...within(cast, 0.15) }),
  )
}

const assignMany: Flow = async (cast) => {
  const lead = cast.awake('lena')
  if (lead === undefined) return
  cast.world.saw('E14')
  for (const taskId of [newTask(), newTask(), newTask()])
    await lead.act(`assigns ${taskId}`, () =>
      assignTask(lead.mailbox, { to: 'role:worker', subject: `Task ${taskId}`, taskId }),
    )
}

const help: Flow = async (cast) => {
  const agent = cast.awake(...workers, 'rita')
  if (agent === undefined) return
  await agent.act('asks for help', () =>
    askForHelp(agent.mailbox, { body: 'Which branch?', subject: 'Stuck', ...within(cast, 0.15) }),
  )
}

const question = (subject: string) => ({
  type: 'request',
  subject,
  body: 'What do you think?',
  awaitingResponse: true,
})

const ask: Flow = async (cast) => {
  const agent = cast.awake()
  if (agent === undefined) return
  const to = cast.world.random.pick(agentsBut(cast, agent)).name
  const { withinMs } = within(cast, 0.2)
  const payload = withinMs === undefined ? {} : { payload: { withinMs } }
  await agent.act(`asks ${to}`, () => agent.mailbox.send({ to, ...question('A question'), ...payload }))
}

const askPerson: Flow = async (cast) => {
  const agent = cast.awake()
  if (agent === undefined) return
  const now = cast.world.now()
  if (!isInHours(now + 2 * hour)) cast.world.saw('E4')
  await agent.act('asks the person', () =>
    agent.mailbox.send({ to: 'user', ...question('For you to decide') }),
  )
}

const askGroup: Flow = async (cast) => {
  const agent = cast.awake('lena', 'wim', 'wanda', 'rita', 'otto')
  if (agent === undefined) return
  cast.world.saw('E5')
  await agent.act('asks the project', () =>
    agent.mailbox.send({ to: 'project:app', ...question('Does anybody know?') }),
  )
}

const askRole: Flow = async (cast) => {
  const agent = cast.awake(...workers)
  if (agent === undefined) return
  await agent.act('asks the reviewer', () =>
    agent.mailbox.send({ to: 'role:reviewer', ...question('May I merge?') }),
  )
}

const plan: Flow = async (cast) => {
  const agent = cast.awake(...workers)
  if (agent === undefined) return
  const to = cast.world.random.happens(0.7) ? 'role:lead' : 'user'
  await agent.act('submits a plan', () =>
    submitPlan(agent.mailbox, { to, subject: 'Split the parser', body: 'In two.', taskId: newTask() }),
  )
}

const handoff: Flow = async (cast) => {
  const { random } = cast.world
  const agent = cast.awake(...workers)
  if (agent === undefined) return
  const others = workers.filter((name) => name !== agent.name)
  const to = random.happens(0.6) ? random.pick(others) : 'role:reviewer'
  await agent.act(`hands over to ${to}`, () =>
    handOff(agent.mailbox, { to, subject: 'The parser', workCompleted: 'The design.' }),
  )
}

const ackText: Flow = async (cast) => {
  const { random } = cast.world
  const agent = cast.awake('lena', 'rita', 'otto')
  if (agent === undefined) return
  const to = random.happens(0.3) ? 'role:worker' : random.pick(agentsBut(cast, agent)).name
  await agent.act(`tells ${to}`, () =>
    agent.mailbox.send({ to, subject: 'Freeze at five', body: 'No merges then.', requiresAck: true }),
  )
}

const status: Flow = async (cast) => {
  const lead = cast.awake('lena')
  if (lead === undefined) return
  const to = cast.world.random.pick(workers)
  await lead.act(`asks ${to} for its status`, () => requestStatus(lead.mailbox, to, within(cast, 0.15)))
}

const urgentTexts = ['Prod is down', 'The release is wrong', 'Stop the rollout']

const urgent: Flow = async (cast) => {
  const { random, saw } = { random: cast.world.random, saw: cast.world.saw.bind(cast.world) }
  const agent = cast.awake()
  if (agent === undefined) return
  const wantsAck = random.happens(0.3)
  const direct = random.pick(agentsBut(cast, agent)).name
  const to = wantsAck ? 'role:oncall' : random.pick([direct, direct, 'role:oncall', 'role:lead', 'user'])
  if (wantsAck) saw('E9')
  await agent.act(`warns ${to}`, () =>
    agent.mailbox.send({ to, subject: random.pick(urgentTexts), priority: 'urgent', requiresAck: wantsAck }),
  )
}

const urgentMany: Flow = async (cast) => {
  const agent = cast.awake('rita', 'cid', 'otto')
  const recipient = cast.agents.find(({ isAwake, name }) => !isAwake && name !== agent?.name)
  if (agent === undefined || recipient === undefined) return
  cast.world.saw('A20')
  for (const subject of urgentTexts)
    await agent.act(`warns ${recipient.name}`, () =>
      agent.mailbox.send({ to: recipient.name, subject, priority: 'urgent' }),
    )
}

const broadcast: Flow = async (cast) => {
  const lead = cast.awake('lena')
  if (lead === undefined) return
  const requiresAck = cast.world.random.happens(0.4)
  if (requiresAck) cast.world.saw('E11')
  await lead.act('tells everybody', () =>
    lead.mailbox.broadcast({ subject: 'News', body: 'We ship on Friday.', requiresAck }),
  )
}

const roleText: Flow = async (cast) => {
  const agent = cast.awake()
  if (agent === undefined) return
  cast.world.saw('E12')
  const role = cast.world.random.pick(['role:lead', 'role:worker', 'role:worker', 'role:reviewer'])
  if (cast.world.team.holds(agent.name, role)) cast.world.saw('E15')
  await agent.act(`tells ${role}`, () =>
    agent.mailbox.send({ to: role, subject: 'For your information', body: 'The cache is cold.' }),
  )
}

const ciFailure: Flow = async (cast) => {
  const { random } = cast.world
  const ci = cast.awake('cid')
  if (ci === undefined) return
  const to = random.happens(0.6) ? 'role:worker' : random.pick(workers)
  await ci.act(`reports a failure to ${to}`, () => reportCiFailure(ci.mailbox, { to, check: 'unit tests' }))
}

const review: Flow = async (cast) => {
  const rita = cast.awake('rita')
  if (rita === undefined) return
  const to = cast.world.random.pick(workers)
  await rita.act(`comments for ${to}`, () =>
    reportReview(rita.mailbox, { to, comments: [{ body: 'Rename this.' }] }),
  )
}

const shortLived: Flow = async (cast) => {
  const agent = cast.awake(...workers, 'cid')
  if (agent === undefined) return
  if (cast.world.team.get('rita').state === 'frozen') cast.world.saw('E16')
  await agent.act('tells the reviewer something short-lived', () =>
    agent.mailbox.send({ to: 'role:reviewer', subject: 'A look before lunch?', ttlMs: 3 * hour }),
  )
}

const takeBack: Flow = async (cast) => {
  const agent = cast.awake()
  if (agent === undefined) return
  const to = cast.world.random.pick(agentsBut(cast, agent)).name
  const sent = await agent.act(`asks ${to}, too soon`, () =>
    agent.mailbox.send({ to, ...question('Never mind') }),
  )
  if (sent === undefined) return
  cast.world.agenda.after(minute, async () => {
    const letter = cast.world.facts.letters.get(sent.id)!
    const isUnseen = letter.copies.get(to)!.readers.length === 0
    if (!isUnseen || !agent.isAwake) return
    await agent.act(
      `withdraws ${sent.id}`,
      () => agent.mailbox.withdraw(sent.id),
      () => cast.world.facts.withdrawn(letter),
    )
  })
}

const chat: Flow = async (cast) => {
  const agent = cast.awake()
  if (agent === undefined) return
  const to = cast.world.random.pick(agentsBut(cast, agent)).name
  await agent.act(`writes to ${to}`, () =>
    agent.mailbox.send({ to, subject: 'By the way', body: 'It is done.' }),
  )
}

const fromPerson: Flow = async (cast) => {
  const { person, world } = cast
  if (!person.isAwake) return
  const way = world.random.next()
  const taskId = newTask()
  if (way < 0.4)
    await person.act(`assigns ${taskId}`, () =>
      assignTask(person.mailbox, { to: 'role:worker', subject: `Task ${taskId}`, taskId }),
    )
  else if (way < 0.75)
    await person.act('asks the lead', () =>
      person.mailbox.send({ to: 'role:lead', ...question('How far are we?') }),
    )
  else
    await person.act('warns an agent', () =>
      person.mailbox.send({
        to: world.random.pick(workers),
        subject: 'Look at this now',
        priority: 'urgent',
      }),
    )
}

/** The person answers for somebody else, out of the list of what is open. */
const answerForAnother: Flow = async (cast) => {
  const { person, world } = cast
  if (!person.isAwake) return
  const open = (await person.act('looks at what is open', () => world.space.owed({ kind: 'question' }))) ?? []
  const old = open.filter(({ from, to, since }) => {
    return from !== 'user' && to !== 'user' && world.now() - Date.parse(since) > 30 * minute
  })
  if (old.length === 0) return
  world.saw('A3')
  const { id } = world.random.pick(old)
  await person.act(`answers ${id} for another`, () => person.mailbox.reply(id, { body: 'Do it like this.' }))
}

const weighted: readonly (readonly [number, Flow])[] = [
  [6, assign],
  [1, assignMany],
  [3, help],
  [4, ask],
  [3, askPerson],
  [1, askGroup],
  [2, askRole],
  [3, plan],
  [3, handoff],
  [4, ackText],
  [3, status],
  [3, urgent],
  [0.5, urgentMany],
  [1, broadcast],
  [3, roleText],
  [2, ciFailure],
  [1, review],
  [1, shortLived],
  [1, takeBack],
  [3, chat],
  [3, fromPerson],
  [1.5, answerForAnother],
]
const total = weighted.reduce((sum, [weight]) => sum + weight, 0)

/** Somebody begins something. */
export async function beginSomething(cast: Cast): Promise<void> {
  let left = cast.world.random.next() * total
  for (const [weight, flow] of weighted) {
    left -= weight
    if (left <= 0) return flow(cast)
  }
}

/** What the checks find at night. */
export async function atNight(cast: Cast): Promise<void> {
  const ci = cast.awake('cid')
  if (ci === undefined) return
  const { random } = cast.world
  if (random.happens(0.6)) return ciFailure(cast)
  const to = random.pick(['role:oncall', 'role:lead', 'user'])
  await ci.act(`warns ${to}`, () => ci.mailbox.send({ to, subject: 'Prod is down', priority: 'urgent' }))
}

/** The lead sends somebody home. */
export async function sendHome(cast: Cast, name: Name): Promise<void> {
  const lead = cast.awake('lena')
  if (lead === undefined || cast.world.team.get(name).state !== 'present') return
  const limit = cast.world.random.happens(0.5) ? { withinMs: hour } : {}
  await lead.act(`sends ${name} home`, () =>
    requestShutdown(lead.mailbox, name, { reason: 'Enough for today.', ...limit }),
  )
}

/** So that a run depends on its seed alone. */
export const resetTasks = (): void => {
  tasks = 0
}
