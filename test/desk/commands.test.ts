import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { type Box, createBox } from '../helpers/cli.ts'
import { type Running, startScript } from '../helpers/processes.ts'
import { tempDir } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

/** A space with ada and bob, and another process that is its desk. */
async function boxWithDesk(): Promise<{ box: Box; desk: Running }> {
  const box = await createBox('ada', 'bob')
  const desk = startScript(new URL('../helpers/desk.mjs', import.meta.url), [box.dir], {
    env: { HOME: join(box.dir, '..'), XDG_CONFIG_HOME: '' },
  })
  await desk.line('desk')
  return { box, desk }
}

const preload = `--require ${fileURLToPath(new URL('../helpers/loaded.cjs', import.meta.url))}`

/** Runs a command until the desk has done it: on a busy machine it may not answer in time. Gives its last output. */
async function lightly(box: Box, words: () => readonly string[]): Promise<string> {
  return until(`the desk does ${words().join(' ')}`, async () => {
    const log = join(tempDir(), 'loaded')
    const ran = await box.run([...words(), '--json'], { env: { NODE_OPTIONS: preload, LOADED_LOG: log } })
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    return existsSync(log) && readFileSync(log, 'utf8') === 'light\n' && ran.stdout
  })
}

const off = { MAILBOX_DESK: 'off' }

describe('a command in a space with a desk', () => {
  it('says what it says without one, and loads no SQLite', async () => {
    const { box } = await boxWithDesk()
    const said = async (words: readonly string[]) =>
      (await box.run([...words, '--json'], { env: off })).stdout
    const check = ['check', '--as', 'ada']
    expect(await lightly(box, () => check)).toBe(await said(check))
    const { message, warnings } = JSON.parse(
      await lightly(box, () => ['send', 'ada', '--as', 'bob', '--subject', 'Plan', '--body', 'hi']),
    )
    expect({ from: message.from, body: message.body, warnings }).toEqual({
      from: 'bob',
      body: 'hi',
      warnings: [],
    })
    const count = ['count', '--as', 'ada']
    expect(await lightly(box, () => count)).toBe(await said(count))
    for (const [step, state] of [
      ['ack', 'acked'],
      ['start', 'processing'],
      ['done', 'archived'],
    ] as const) {
      const handled = JSON.parse(await lightly(box, () => [step, message.id, '--as', 'ada']))
      expect(handled).toMatchObject({ state, message: { id: message.id } })
    }
    const again = JSON.parse(await said(['done', message.id, '--as', 'ada']))
    expect(again).toMatchObject({ state: 'archived', already: true })
  })

  it('reads its mail by itself, so that no answer can get lost', async () => {
    const { box } = await boxWithDesk()
    await box.run(['send', 'ada', '--as', 'bob', '--body', 'hi'])
    const { messages } = JSON.parse((await box.run(['check', '--as', 'ada', '--json'])).stdout)
    expect(messages.map(({ body }: { body: string }) => body)).toEqual(['hi'])
  })

  it('is refused as it is without one', async () => {
    const { box } = await boxWithDesk()
    for (const words of [
      ['send', 'adda', '--as', 'bob', '--body', 'x'],
      ['send', 'ada', '--as', 'nobody', '--body', 'x'],
      ['ack', 'ffffffff', '--as', 'ada'],
    ]) {
      const [through, direct] = [await box.run(words), await box.run(words, { env: off })]
      expect(through).toEqual(direct)
      expect(through.code).toBeGreaterThan(0)
    }
  })

  it('acts as the agent of its client and as nobody else', async () => {
    const { box } = await boxWithDesk()
    // This process is above every command that it starts.
    {
      await using space = await openDisk({ dir: box.dir })
      await space.join('eve', { session: { pid: process.pid, client: 'claude' } })
    }
    const sent = await lightly(box, () => ['send', 'ada', '--body', 'x'])
    expect(JSON.parse(sent).message.from).toBe('eve')
    const refused = await box.run(['send', 'ada', '--as', 'bob', '--body', 'x', '--json'])
    expect(JSON.parse(refused.stdout).error.code).toBe('not_permitted')
  })

  it('is done by itself when the desk is stopped', async () => {
    const { box, desk } = await boxWithDesk()
    desk.kill('SIGSTOP')
    const { code } = await box.run(['send', 'ada', '--as', 'bob', '--body', 'x'])
    expect(code).toBe(0)
    desk.kill('SIGCONT')
    const { unread } = JSON.parse((await box.run(['count', '--as', 'ada', '--json'])).stdout)
    expect(unread).toBe(1)
  })
})

it('keeps the count of unread mail of an agent here, also of what the desk writes', async () => {
  const { box } = await boxWithDesk()
  const folder = join(tempDir(), 'agents')
  mkdirSync(join(folder, 'ada', 'mailbox'), { recursive: true })
  const bridge = box.start(['bridge', 'jean-claude', folder])
  await bridge.says('bridged jean-claude')
  const count = () => {
    const path = join(folder, 'ada', 'mailbox', 'inbox_count.json')
    return existsSync(path)
      ? (JSON.parse(readFileSync(path, 'utf8')) as { unread: number }).unread
      : undefined
  }
  await lightly(box, () => ['send', 'ada', '--as', 'bob', '--subject', 'Plan', '--body', 'hi'])
  await until('it is counted', () => (count() ?? 0) > 0)
  const { unread } = JSON.parse((await box.run(['count', '--as', 'ada', '--json'])).stdout)
  await until('both counts are the same', () => count() === unread)
  // All that was sent until the desk took one.
  const { messages } = JSON.parse((await box.run(['inbox', '--unread', '--as', 'ada', '--json'])).stdout)
  for (const { id } of messages) await box.run(['done', id, '--as', 'ada'])
  await until('nothing is unread there', () => count() === 0)
})
