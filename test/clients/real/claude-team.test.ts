import { expect, it } from 'vitest'
import { until } from '../../helpers/wait.ts'
import { calls, claudeLead, says, startsMate } from './claude-lead.ts'
import { clientTimeoutMs, mailStage } from './mail-stage.ts'
import type { ModelRequest } from './scripted-model.ts'

it(
  'an agent of the mailbox is a member of a team of the real Claude Code, until it is asked to stop and after a resume',
  async () => {
    const { home, space } = await mailStage()
    const list = () => calls('ListAgents', {})
    const planId = ({ text }: ModelRequest) => /plan_approval-[^"\s<>,\\]+/.exec(text)![0]
    const { model, open, bridge, rosters, names, ...made } = await claudeLead(home, space, {
      'MATE-PROMPT work': () => says('zoe', 'ALICE-TO-ZOE hi'),
      'STEP-LIST': list,
      'STEP-HELLO': () => says('zoe', 'LEAD-TO-ZOE hi'),
      'ZOE-PLAN': (request) =>
        says('zoe', {
          ...{ type: 'plan_approval_response', request_id: planId(request), approve: true },
          feedback: 'looks fine',
        }),
      'STEP-MATE': startsMate,
      'STEP-STOP': () => says('zoe', { type: 'shutdown_request', reason: 'all done' }),
      'STEP-AGAIN': list,
    })
    const zoe = await space.mailbox('zoe')
    const lead = open()
    await lead.shows('❯')
    const team = await made.team()
    bridge()
    await until('zoe is on the roster', () => names().includes('zoe'))

    await lead.type('STEP-LIST')
    await model.until('agent-mailbox')
    await lead.type('STEP-MATE')
    expect(await zoe.wait({ from: `${team}/alice`, timeoutMs: 60_000 })).toMatchObject({
      body: 'ALICE-TO-ZOE hi',
    })
    await zoe.send({ to: `${team}/alice`, body: 'ZOE-TO-ALICE welcome' })
    const told = await model.until('ZOE-TO-ALICE welcome')
    expect(told.text).toContain('MATE-PROMPT work')

    await lead.type('STEP-HELLO')
    const hello = await zoe.wait({ from: `${team}/team-lead`, timeoutMs: 60_000 })
    expect(hello).toMatchObject({ body: 'LEAD-TO-ZOE hi', type: 'text' })
    await zoe.reply(hello!.id, { body: 'ZOE-ANSWER' })
    const { text } = await model.until('ZOE-ANSWER')
    expect(text).toContain('<teammate-message teammate_id="zoe"')
    expect(text).not.toContain('verified="false"')

    const plan = await zoe.send({
      ...{
        to: `${team}/team-lead`,
        type: 'plan_submission',
        subject: 'ZOE-PLAN',
        body: 'step 1',
        payload: {},
      },
    })
    const { settled } = await zoe.waitUntilSettled(plan.id, { timeoutMs: 60_000 })
    expect(settled).toBe(true)
    expect(await zoe.wait({ replyTo: plan.id, timeoutMs: 60_000 })).toMatchObject({
      payload: { approved: true, feedback: 'looks fine' },
    })

    await lead.type('STEP-STOP')
    const stop = await zoe.wait({ type: 'shutdown_request', timeoutMs: 60_000 })
    await zoe.reply(stop!.id, { type: 'shutdown_response', body: 'bye', payload: { accepted: true } })
    await model.until('shutdown_approved')
    await until('zoe has left the roster', () => !names().includes('zoe'))

    const [before] = rosters()
    await lead.close()
    const resumed = open('--resume', before!.leadSessionId)
    // A resumed session may have its team in a new folder; here it is the same team.
    await until('zoe is on the roster again', () =>
      rosters().some(
        ({ leadProcess, members }) =>
          leadProcess?.pid !== before!.leadProcess!.pid && members.some(({ name }) => name === 'zoe'),
      ),
    )
    await resumed.shows('❯')
    await resumed.type('STEP-AGAIN')
    expect((await space.agents()).filter(({ name }) => name.endsWith('/team-lead'))).toHaveLength(1)
    await until(() => model.requests.some((one) => one.text.split('agent-mailbox').length > 2))
  },
  clientTimeoutMs,
)
