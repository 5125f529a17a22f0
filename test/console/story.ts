import { askForHelp, assignTask, escalate, submitPlan } from '../../src/agent/requests.ts'
import { openDisk } from '../../src/space/open.ts'

export interface Story {
  plan: string
  help: string
  ack: string
  question: string
  dead: string
  thread: string
  done: string
}

const markdown = `The **index** is behind by ~2,000 entries.

1. stop the writer
2. \`mailbox rebuild\`
3. compare \`verify --deep\`

| segment | entries | state |
|---|---:|---|
| 00000001 | 12,480 | archived |
| 00000002 | 9,311 | open |

\`\`\`ts
const placed = await space.core.decide((view) => decideDue(view, liveness))
\`\`\`

> Nothing is lost; the journal is the truth.

See https://example.org/runbook for the rest.`

/** A small space at work, with everything the console can show. */
export async function tellStory(dir: string): Promise<Story> {
  const space = await openDisk({ dir, settings: { durability: 'os', 'limits.ratePerMinute': 0 } })
  const tags = ['project:inscription']
  const join = (name: string, roles: string[], more: string[] = []) =>
    space.join(name, { roles, tags: [...tags, ...more] })
  await join('ada', ['architect'], ['concern:governance'])
  await join('bob', ['backend'])
  await join('cleo', ['frontend', 'reviewer'])
  await join('swarm/scribe', ['writer'], ['swarm:night'])
  await join('dora', ['tester'])
  const as = (name: string) => space.mailbox(name, { join: false })
  const [ada, bob, cleo, scribe, dora] = await Promise.all(
    ['ada', 'bob', 'cleo', 'swarm/scribe', 'dora'].map(as),
  )

  const plan = await submitPlan(ada!, {
    to: 'user',
    subject: 'Split the projection in two',
    body: 'Two steps:\n\n- tables first, in this process\n- words in a thread of their own\n\nNo change to the journal.',
    taskId: 'T-12',
  })
  const help = await askForHelp(bob!, {
    to: 'user',
    subject: 'Which token may the CI use?',
    body: 'The deploy job needs one that can publish. I have none.',
  })
  const ack = await cleo!.send({
    to: 'user',
    subject: 'Freeze from 18:00',
    body: 'Please confirm that you have seen this.',
    requiresAck: true,
    priority: 'high',
  })
  await escalate(bob!, {
    to: 'user',
    reason: 'The staging disk is 97 % full',
    subject: 'Staging is nearly full',
  })
  await scribe!.send({ to: 'user', subject: 'Notes of the night', body: 'All quiet. 14 letters, 2 plans.' })

  const first = await ada!.send({
    to: 'bob',
    subject: 'Rebuild the index',
    body: markdown,
    tags: ['project:inscription'],
    priority: 'urgent',
  })
  await bob!.check()
  await bob!.start(first.id)
  const answer = await bob!.reply(first.id, { body: 'Running now. `verify --deep` in ten minutes.' })
  await ada!.read(answer.id)
  const second = await ada!.reply(answer.id, { body: 'Thanks. Tell cleo as well.', to: ['bob', 'cleo'] })
  await cleo!.read(second.id)
  await cleo!.reply(second.id, { body: 'Seen. The dashboard shows the lag now.', to: ['ada', 'bob'] })
  await bob!.done(first.id, { note: 'rebuilt in 8 s' })

  await ada!.send({
    to: 'project:inscription',
    subject: 'Stand-up',
    body: 'What did you finish, and what is next?',
  })
  await cleo!.send({
    to: 'concern:governance',
    subject: 'Who decides on limits?',
    body: 'I propose the architect.',
  })
  await scribe!.send({
    to: 'role:reviewer',
    subject: 'Please review the minutes',
    body: 'See attached.',
    attachments: ['docs/console.md'],
  })
  await assignTask(ada!, {
    to: 'cleo',
    subject: 'Show the lag',
    taskId: 'T-13',
    body: 'One number in the header is enough.',
  })
  const question = await bob!.send({
    to: 'ada',
    subject: 'Rollback journal or WAL?',
    body: 'I need a decision before I go on.',
    awaitingResponse: true,
  })

  const lost = await bob!.send({ to: 'dora', subject: 'Run the storm tests', body: 'All of them, twice.' })
  await dora!.leave()
  await space.runDue()
  await space.close()
  return {
    ...{ plan: plan.id, help: help.id, ack: ack.id, question: question.id },
    ...{ dead: lost.id, thread: first.threadId, done: first.id },
  }
}
