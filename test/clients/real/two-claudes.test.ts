import { expect, it } from 'vitest'
import { until } from '../../helpers/wait.ts'
import { clientTimeoutMs, mailStage } from './mail-stage.ts'
import { playing, startAgent } from './player.ts'

it(
  'two real Claude Codes talk through the mailbox: a handoff, a question, an answer, done',
  async () => {
    const { space } = await mailStage()
    const ann = await playing([
      {
        prompt: 'PLEASE-HAND-OVER',
        tool: 'send',
        input: () => ({
          ...{ to: 'bea', subject: 'THE-HANDOFF' },
          handoff: { workCompleted: 'the parser', nextSteps: ['write the printer'] },
        }),
      },
      {
        mail: 'THE-QUESTION',
        tool: 'send',
        input: (idOf) => ({ replyTo: idOf('THE-QUESTION'), body: 'THE-ANSWER is 80' }),
      },
    ])
    const bea = await playing([
      {
        mail: 'THE-HANDOFF',
        tool: 'send',
        input: (idOf) => ({
          ...{ to: 'ann', replyTo: idOf('THE-HANDOFF'), type: 'request', await: true },
          ...{ subject: 'THE-QUESTION', body: 'how wide is a line?' },
        }),
      },
      {
        mail: 'THE-ANSWER',
        tool: 'handle',
        input: (idOf) => ({ id: idOf('THE-HANDOFF'), step: 'done', note: 'printed' }),
      },
    ])
    const second = startAgent('bea', bea, space.dir)
    second.prompt('Wait for work.')
    await bea.until('Wait for work.')
    const first = startAgent('ann', ann, space.dir)
    first.prompt('PLEASE-HAND-OVER')

    await bea.until('THE-ANSWER')
    const owner = await space.mailbox('ann', { join: false })
    const { messages } = await owner.sent()
    const handoff = messages.find(({ type }) => type === 'handoff')!
    await until(async () => (await space.show(handoff.id)).receipts.some(({ state }) => state === 'archived'))

    const thread = await owner.thread(handoff.id)
    expect(thread.map(({ from, subject }) => `${from}: ${subject}`)).toEqual([
      'ann: THE-HANDOFF',
      'bea: THE-QUESTION',
      'ann: Re: THE-QUESTION',
      'bea: Done: THE-HANDOFF',
    ])
    expect(await space.owed()).toEqual([])
    const { receipts } = await space.show(handoff.id)
    expect(receipts[0]!.steps.map(({ state }) => state)).toEqual(
      expect.arrayContaining(['shown', 'completed']),
    )
    for (const client of [first, second]) client.end()
    expect(await Promise.all([first.exit, second.exit])).toEqual([0, 0])
    expect((await space.agents()).filter(({ session }) => session.client === 'claude')).toMatchObject([
      { name: 'ann', state: 'frozen' },
      { name: 'bea', state: 'frozen' },
    ])
  },
  clientTimeoutMs,
)
