import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { testSettings } from '../../helpers/temp.ts'
import { until } from '../../helpers/wait.ts'
import { calls, claudeLead, startsMate } from './claude-lead.ts'
import { claudeHooks } from './hook-settings.ts'
import { clientTimeoutMs, mailStage } from './mail-stage.ts'
import type { Turn } from './scripted-model.ts'

/* What users of agent teams complain of (docs/bridges.md), with the real Claude Code. */

const entry = (from: string, text: string, timestamp = new Date().toISOString()) => ({
  ...{ from, text, timestamp, msgV: 1, msg_id: `id of ${text}`, type: 'message', read: false },
})

/** An inbox as another writer leaves it. Nobody else writes to these. */
function leave(inboxes: string, name: string, entries: object[]): void {
  mkdirSync(inboxes, { recursive: true })
  writeFileSync(join(inboxes, `${name}.json`), JSON.stringify(entries, null, 2))
}

it(
  'a first message to a teammate that waits, a final report behind an idle note, and a misspelt teammate',
  async () => {
    const { home, space } = await mailStage()
    const { model, open, bridge, names, inboxes, ...made } = await claudeLead(home, space, {
      'MATE-PROMPT work': (): Turn => ({ text: 'THE-FINAL-REPORT of alice' }),
      'STEP-MATE': startsMate,
    })
    const zoe = await space.mailbox('zoe')
    const lead = open()
    await lead.shows('❯')
    const team = await made.team()
    // She is expected, and is written to before she is there.
    await space.join(`${team}/alice`)
    await zoe.send({ to: `${team}/alice`, body: 'THE-FIRST-LETTER' })
    bridge()
    await until('zoe is on the roster', () => names().includes('zoe'))
    await lead.type('STEP-MATE')
    expect((await model.until('THE-FIRST-LETTER')).text).toContain('MATE-PROMPT')

    const mailOf = async (name: string) =>
      (await (await space.mailbox(name, { join: false })).inbox({ all: true })).messages
    await until('the report is kept', async () =>
      (await mailOf(`${team}/team-lead`)).some(
        ({ from, body }) => from === `${team}/alice` && body.includes('THE-FINAL-REPORT'),
      ),
    )
    // Nothing else that an idle note says is mail.
    for (const { body } of await mailOf(`${team}/team-lead`)) expect(body).not.toContain('idle_notification')

    leave(inboxes(team), 'alcie', [entry('team-lead', 'MISSPELT please review')])
    const { text } = await model.until('reached nobody')
    expect(text).toContain('Did you mean alice?')
    // The notice can be there a moment earlier.
    await until('it is a dead letter', async () => (await space.deadLetters()).letters.length > 0)
    expect((await space.deadLetters()).letters).toMatchObject([
      { message: { body: 'MISSPELT please review', from: `${team}/team-lead` } },
    ])
    await expect(zoe.send({ to: `${team}/alcie`, body: 'x' })).rejects.toMatchObject({
      hint: expect.stringContaining(`${team}/alice`),
    })
  },
  clientTimeoutMs,
)

it(
  'mail in the middle of a turn, a message that was taken and never shown, and inboxes of 1,000',
  async () => {
    const { home, space } = await mailStage()
    writeFileSync(join(space.dir, 'config.json'), JSON.stringify(testSettings), { mode: 0o600 })
    const zoe = await space.mailbox('zoe')
    const { model, open, bridge, names, inboxes, ...made } = await claudeLead(
      home,
      space,
      {
        'STEP-BUSY': async () => {
          await zoe.send({ to: 'claude-1', body: 'STOP-THE-TURN', priority: 'urgent' })
          return calls('ListAgents', {})
        },
      },
      claudeHooks(),
    )
    const lead = open()
    await lead.shows('❯')
    const team = await made.team()
    bridge()
    await until('zoe is on the roster', () => names().includes('zoe'))
    await until('the lead is an agent', async () =>
      (await space.agents()).some(({ name }) => name === 'claude-1'),
    )

    await lead.type('STEP-BUSY')
    const middle = await model.until('STOP-THE-TURN')
    expect(middle.text).not.toContain('Nothing more to do.')
    const lost = (await space.mailbox('claude-1', { join: false })) as typeof zoe
    const bodies = async () =>
      (await lost.inbox({ all: true, limit: 2_000 })).messages.map(({ body }) => body)

    // Somebody takes it out, and the lead is never shown it. What zoe has got was seen after it.
    leave(inboxes(team), 'team-lead', [entry('alice', 'TAKEN-AND-LOST report')])
    leave(inboxes(team), 'zoe', [entry('team-lead', 'seen')])
    expect(await zoe.wait({ timeoutMs: 60_000 })).toMatchObject({ body: 'seen' })
    leave(inboxes(team), 'team-lead', [])
    await until('it is sent again', async () => (await bodies()).includes('TAKEN-AND-LOST report'))
    await lead.type('STEP-NEXT')
    await model.until('TAKEN-AND-LOST')
    expect((await bodies()).filter((body) => body.includes('TAKEN-AND-LOST'))).toHaveLength(1)

    const old = new Date(Date.now() - 120_000).toISOString()
    const many = (to: string) =>
      Array.from({ length: 1_000 }, (_, n) => entry(`mate${n % 20}`, `REPORT-${n} to ${to}`, old))
    leave(inboxes(team), 'team-lead', many('lead'))
    leave(inboxes(team), 'zoe', many('zoe'))
    await until('all of it is here', async () => {
      const [mine, leads] = [await zoe.count(), await lost.count()]
      return mine.unread >= 1_000 && leads.unread >= 1_000
    })
    await lead.type('STEP-MANY')
    await model.until('REPORT-0 to lead')
  },
  clientTimeoutMs,
)
