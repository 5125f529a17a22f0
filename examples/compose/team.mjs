// A small team at work in the space of compose.yaml: a lead hands out work, and whichever worker is free does it.
// `node team.mjs ROUNDS` ends after so many pieces of work; without a number it goes on.
import { openSpace } from 'agent-mailbox'

const rounds = Number(process.argv[2] ?? Number.POSITIVE_INFINITY)
const pauseMs = Number(process.env.PAUSE_MS ?? 5_000)
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

const space = await openSpace({ url: process.env.MAILBOX_SPACE })
const lead = await space.mailbox('lead', { join: { roles: ['lead'] } })
const workers = await Promise.all(
  ['mia', 'noah'].map((name) => space.mailbox(name, { join: { roles: ['worker'] } })),
)

/** Takes what is most urgent, does it, and says so. */
async function work(mailbox) {
  for (let isOver = false; !isOver; ) {
    const task = await mailbox.wait({ timeoutMs: 60_000 })
    if (task === null) continue
    isOver = task.subject === 'The day is over'
    if (isOver) continue
    await pause(pauseMs / 5)
    await mailbox.done(task.id)
    await mailbox.reply(task.id, { body: `${mailbox.name} has done it.` })
  }
}

const working = workers.map(work)
for (let n = 1; n <= rounds; n++) {
  const priority = n % 5 === 0 ? 'urgent' : 'normal'
  await lead.send({ to: 'role:worker', subject: `Task ${n}`, body: `Please look at part ${n}.`, priority })
  const answer = await lead.wait({ timeoutMs: 60_000 })
  console.log(answer === null ? `nobody has answered task ${n}` : `task ${n}: ${answer.body}`)
  await pause(pauseMs)
}
for (const { name } of workers) await lead.send({ to: name, subject: 'The day is over', body: 'Thank you.' })
await Promise.all(working)
await space.close()
