// S3: an orchestrator reports failing checks to its sessions and knows what becomes of them. The first session
// acknowledges the report with a message, fixes the check and is done. The second one crashes as soon as it has read
// the report; a watchdog starts it again, and the report is still there. Sessions may write to the orchestrator only.
import assert from 'node:assert/strict'
import { reportCiFailure, requestStatus, runAgent } from '../../dist/mod.js'
import { tell } from './cast.mjs'

/** What a session does with a failing check. */
const fix = async ({ id, payload }, { mailbox }) => {
  await mailbox.reply(id, { type: 'ack', body: 'On it.', payload: { status: 'processing' } })
  return `fixed ${payload.check} on ${payload.branch}`
}

const cast = {
  orchestrator: {
    join: { roles: ['orchestrator'] },
    run: async ({ mailbox, say }) => {
      for (const to of ['ao-10', 'ao-11']) {
        const report = await reportCiFailure(mailbox, { to, check: 'lint', branch: `fix/${to}` })
        const acked = await mailbox.waitForAck(report.id, { timeoutMs: 60_000 })
        say('acked', { to, acked })
        const { matters } = await mailbox.waitUntilSettled(report.id, { timeoutMs: 60_000 })
        const told = await mailbox.wait({ replyTo: report.id, type: 'status_update', timeoutMs: 60_000 })
        say('settled', { to, states: matters.map(({ state }) => state), note: told.body })
      }
      const { id } = await requestStatus(mailbox, 'ao-10')
      say('status', { body: (await mailbox.wait({ replyTo: id, timeoutMs: 60_000 })).body })
    },
  },
  session: {
    run: ({ mailbox, signal }) => runAgent(mailbox, { fix_ci_failure: fix }, { signal }),
  },
  crashing: {
    run: ({ mailbox }) => runAgent(mailbox, { fix_ci_failure: () => process.kill(process.pid, 'SIGKILL') }),
  },
}

await tell(
  import.meta.url,
  cast,
  async ({ space, start }) => {
    await start('session', 'ao-10')
    const watched = await start('crashing', 'ao-11')
    const watchdog = watched.exit.then(() => start('session', 'ao-11'))

    // Through a hub, an agent cannot take a leading role by itself: the person gives it.
    await space.join('orchestrator', { roles: ['orchestrator'] })
    const orchestrator = await start('orchestrator')
    assert.equal((await orchestrator.says('acked')).acked, true)
    const first = await orchestrator.says('settled')
    assert.deepEqual(first.states, ['acked', 'done'])
    console.log(`ao-10 has acknowledged and ${first.note}`)

    await watchdog
    console.log('ao-11 crashed with the report in hand, and the watchdog has started it again')
    assert.equal((await orchestrator.says('acked')).acked, true)
    const second = await orchestrator.says('settled')
    assert.deepEqual([second.to, second.note], ['ao-11', 'fixed lint on fix/ao-11'])
    console.log(`ao-11 has acknowledged and ${second.note}`)
    assert.equal((await orchestrator.says('status')).body, 'Idle.')

    const session = await space.mailbox('ao-10', { join: false })
    await assert.rejects(session.send({ to: 'ao-11', subject: 'Psst' }), { code: 'not_permitted' })
    assert.deepEqual(await space.owed(), [])
  },
  { rules: 'hub' },
)
