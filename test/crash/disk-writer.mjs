// Opens a space and does a little of everything with it. Prints a line of JSON for each step: what it did
// and whether it worked, or the code of the error and whether it was one of ours.
import { MailboxError, openSpace } from '../../dist/mod.js'

const [dir, run] = process.argv.slice(2)
const say = (fact) => process.stdout.write(`${JSON.stringify(fact)}\n`)

async function step(name, work) {
  try {
    const result = await work()
    say({ step: name, ok: true })
    return result
  } catch (error) {
    say({
      step: name,
      ok: false,
      code: error.code,
      typed: error instanceof MailboxError,
      message: String(error.message),
    })
    return undefined
  }
}

const space = await step('open', () =>
  openSpace({ dir, settings: { segmentBytes: 65_536, 'limits.ratePerMinute': 0, 'limits.inbox': 0 } }),
)
if (space !== undefined) {
  const ada = await step('join', () => space.mailbox('ada'))
  if (ada !== undefined) {
    const send = (name, more = {}) =>
      step(`send ${run}:${name}`, () => ada.send({ to: 'ada', subject: `${run}:${name}`, ...more }))
    await send('plain')
    await Promise.all([send('one of two'), send('two of two')])
    await send('keyed', { key: `${run}-key` })
    await send('large', { body: 'x'.repeat(70_000) })
    // By now the segment is full: this one goes into another.
    await send('next segment')
    await step('check', () => ada.check())
    await send('last')
    await step('count', () => ada.count())
  }
  await step('close', () => space.close())
}
