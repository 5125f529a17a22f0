import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeDeskDir } from '../../../src/desk/place.ts'
import { DeskServer } from '../../../src/desk/serve.ts'
import type { Ask } from '../../../src/desk/wire.ts'
import { handle } from '../../../src/space/desk/handle.ts'
import type { DiskSpace } from '../../../src/space/space.ts'
import { startScript } from '../../helpers/processes.ts'
import { tempDir } from '../../helpers/temp.ts'
import { until } from '../../helpers/wait.ts'
import { hookStage, type Stage } from './stage.ts'

const preload = `--require ${fileURLToPath(new URL('../../helpers/loaded.cjs', import.meta.url))}`

describe('in a space with a desk', () => {
  it.each([
    ['a tool call', 'PostToolUse'],
    ['a prompt', 'UserPromptSubmit'],
    ['the end of a turn', 'Stop'],
  ])('a hook shows the mail of %s without loading SQLite', async (_, event) => {
    const { space, ada, client } = await hookStage()
    const desk = startScript(new URL('../../helpers/desk.mjs', import.meta.url), [space.dir])
    await desk.line('desk')
    // On a busy machine the desk may not answer in time.
    await until('the desk does it', async () => {
      const log = join(tempDir(), 'loaded')
      // Mail keeps an agent from stopping a few times after a prompt only.
      client.hook('UserPromptSubmit')
      const { id } = await ada.send({ to: 'claude-1', body: 'NOW', priority: 'urgent', requiresAck: true })
      const env = { NODE_OPTIONS: preload, LOADED_LOG: log }
      const ran = client.hook(event, { env })
      expect(ran).toMatchObject({ code: 0, stderr: '' })
      expect(ran.text).toContain(id)
      return existsSync(log) && readFileSync(log, 'utf8') === 'light\n'
    })
    expect(client.hook('UserPromptSubmit').text).toBe('')
  })

  it('a hook says what it says without one', async () => {
    const { space, ada, client } = await hookStage()
    const said = async (env: Record<string, string>) => {
      await ada.send({ to: 'claude-1', subject: 'Plan', body: 'text '.repeat(100), priority: 'high' })
      await ada.send({ to: 'claude-1', body: 'later' })
      const { text } = client.hook('PostToolUse', { env })
      client.hook('UserPromptSubmit', { env })
      return text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9a-f]{12}\b|\d\d:\d\d(:\d\d)?\S*/g, '…')
    }
    const alone = await said({ MAILBOX_DESK: 'off' })
    const desk = startScript(new URL('../../helpers/desk.mjs', import.meta.url), [space.dir])
    await desk.line('desk')
    expect(await said({})).toBe(alone)
  })
})

/** A desk in this process that does what it is told with the questions that take mail. */
async function stageWithOddDesk(
  take: (ask: Ask, core: DiskSpace['core'], noAnswer: Promise<void>) => Promise<unknown>,
) {
  let loseAnswers = () => {}
  /** Until the end of the test. */
  const noAnswer = new Promise<void>((resolve) => (loseAnswers = resolve))
  const stage = await hookStage()
  const { core } = stage.space as DiskSpace
  const asked: string[] = []
  const desk = new DeskServer({
    space: stage.space.dir,
    greet: () => ({ seq: core.mark().seq, now: core.now() }),
    handle: (ask) => {
      asked.push(ask.verb)
      if (ask.verb === 'bell') return Promise.resolve({ token: 't', file: 'claude-1', line: '0 0 -' })
      return ask.verb === 'takeAll' ? take(ask, core, noAnswer) : handle(core, ask)
    },
    isBusy: () => false,
  })
  makeDeskDir(stage.space.dir)
  expect(await desk.open()).toBe(true)
  onTestFinished(() => {
    loseAnswers()
    return desk.close()
  })
  return { ...stage, asked }
}

/** Sends urgent mail, which a hook shows, until one of them has asked the desk to take it. */
async function shownOnce({ ada, client, asked, space }: Stage & { asked: string[] }): Promise<void> {
  await until('the desk is asked in time', async () => {
    const { id } = await ada.send({ to: 'claude-1', body: 'IMPORTANT', priority: 'urgent' })
    const ran = await client.hookLater('PostToolUse')
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.text.split('IMPORTANT')).toHaveLength(2)
    const { receipts } = await ada.show(id)
    expect(receipts).toMatchObject([{ recipient: 'claude-1', state: 'shown' }])
    expect((await client.hookLater('PostToolUse', { env: { MAILBOX_DESK: 'off' } })).text).toBe('')
    return asked.includes('takeAll')
  })
  expect(existsSync(join(space.dir, 'hooks.log'))).toBe(false)
}

describe('mail that a hook has asked the desk to take is shown once', () => {
  it('when it was taken, and the answer is lost', async () => {
    const stage = await stageWithOddDesk(async (ask, core, noAnswer) => {
      await handle(core, ask)
      return noAnswer
    })
    await shownOnce(stage)
  })

  it('when it was taken, and the desk is in doubt afterwards', async () => {
    const stage = await stageWithOddDesk(async (ask, core) => {
      await handle(core, ask)
      throw new Error('in doubt')
    })
    await shownOnce(stage)
  })

  it('when it was not taken', async () => {
    const stage = await stageWithOddDesk(() => Promise.reject(new Error('in doubt')))
    await shownOnce(stage)
  })

  it('when the desk gets to it too late', async () => {
    const late: { ask: Ask; core: DiskSpace['core'] }[] = []
    const stage = await stageWithOddDesk((ask, core, noAnswer) => {
      late.push({ ask, core })
      return noAnswer
    })
    await shownOnce(stage)
    const { id } = await stage.ada.send({ to: 'claude-1', body: 'NEXT', priority: 'urgent' })
    for (const { ask, core } of late)
      await expect(handle(core, { ...ask, args: [[id]] })).rejects.toThrow('late')
    expect((await stage.ada.show(id)).receipts).toMatchObject([{ state: 'stored' }])
  })

  it('when it was for a role', async () => {
    const stage = await stageWithOddDesk(async (ask, core, noAnswer) => {
      await handle(core, ask)
      return noAnswer
    })
    const { space, ada, client } = stage
    await space.update('claude-1', { addRoles: ['builder'] })
    const { id } = await ada.send({ to: 'role:builder', body: 'IMPORTANT', priority: 'urgent' })
    expect((await client.hookLater('PostToolUse')).text).toContain('IMPORTANT')
    expect((await ada.show(id)).receipts).toMatchObject([{ state: 'shown', claimedBy: 'claude-1' }])
  })
})
