import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { setRinger } from '../../../src/clients/hook/hook-state.ts'
import { ownToken } from '../../../src/clients/hook/process.ts'
import { letPass, until } from '../../helpers/wait.ts'
import { hookStage } from './stage.ts'

const question = { to: 'claude-1', subject: 'Why?', body: 'THE QUESTION', awaitingResponse: true }

/** An agent that has ended its turn, and the hook that waits for its mail. `ringer`: the token of an MCP server. */
async function idleStage(ringer?: string) {
  const stage = await hookStage()
  const { client, space } = stage
  client.hook('Stop')
  if (ringer !== undefined)
    setRinger({ space: { stateDir: space.dir }, mailbox: { name: 'claude-1' } }, ringer)
  const waiting = client.hookLater('Rewake', { env: { CLAUDE_CODE_ENTRYPOINT: 'cli' } })
  await until(() => existsSync(join(space.dir, 'hooks', 'agents', 'claude-1.waiter')))
  return { ...stage, waiting }
}

describe('the hook that waits while an agent is idle', () => {
  it('ends with the mail, also when an MCP server that would ring has ended', async () => {
    const { ada, waiting } = await idleStage('4194304.1')
    await ada.send(question)
    const { code, stderr } = await waiting
    expect([code, stderr]).toEqual([2, expect.stringContaining('THE QUESTION')])
  })

  it('leaves the mail to an MCP server that rings for the agent', async () => {
    const { ada, client, space, waiting } = await idleStage(ownToken())
    const { id } = await ada.send(question)
    await letPass(1_000)
    await (await space.mailbox('claude-1')).notified([id])
    await letPass(3_000)
    client.end()
    expect((await waiting).code).toBe(0)
    const [receipt] = (await space.show(id)).receipts
    expect(receipt!.steps.map(({ state }) => state)).toEqual(['stored', 'notified'])
  })
})
