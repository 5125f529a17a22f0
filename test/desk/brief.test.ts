import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import { type Box, createBox } from '../helpers/cli.ts'
import { type Running, startScript } from '../helpers/processes.ts'
import { tempDir } from '../helpers/temp.ts'
import { until } from '../helpers/wait.ts'

const startDesk = async (box: Box): Promise<Running> => {
  const desk = startScript(new URL('../helpers/desk.mjs', import.meta.url), [box.dir], {
    env: { HOME: join(box.dir, '..'), XDG_CONFIG_HOME: '' },
  })
  await desk.line('desk')
  return desk
}

async function boxWithDesk(): Promise<Box> {
  const box = await createBox('ada', 'bob')
  await startDesk(box)
  return box
}

const preload = `--require ${fileURLToPath(new URL('../helpers/briefly.cjs', import.meta.url))}`

/** Runs a command, and says whether it was done without the whole program. */
async function watched(box: Box, words: readonly string[], more: Record<string, string> = {}) {
  const log = join(tempDir(), 'briefly')
  const ran = await box.run(words, { env: { NODE_OPTIONS: preload, BRIEFLY_LOG: log, ...more } })
  return { ran, isBrief: readFileSync(log, 'utf8') === 'brief\n' }
}

/** Runs a command until the desk has done it: on a busy machine it may not answer in time. */
const briefly = async (box: Box, words: () => Promise<readonly string[]> | readonly string[]) =>
  until('it is done without the whole program', async () => {
    const { ran, isBrief } = await watched(box, await words())
    return isBrief && ran
  })

/** What differs from run to run. */
const plain = ({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }) => ({
  ...{ code, stderr },
  stdout: stdout
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/"seq":\d+|#\d+/g, 'SEQ'),
})

const off = { MAILBOX_DESK: 'off' }

/** The id of a new message to ada. */
const newMail = async (box: Box): Promise<string> =>
  (await box.run(['send', 'ada', '--as', 'bob', '--subject', 'Plan', '--quiet'], { env: off })).stdout.trim()

const plainForms: readonly (readonly string[])[] = [
  ['--as', 'ada', 'check'],
  ['check', '--json', '--as', 'ada', '--quiet'],
  ['--json', 'count', '--as', 'ada'],
  ['count', '--quiet', '--as', 'ada'],
  ['send', 'bob', '--as', 'ada', '--body', 'two\nlines \u2028 \x1b[31mred'],
  ['send', 'bob', 'user', '--as', 'ada', '--subject', 'Zwölf', '--priority', 'high', '--json'],
  ['send', '--subject', 'count', '--as', 'ada', 'bob', '--quiet', '--body', 'ack'],
  ['send', 'bob', '--body', 'from the person'],
]

const otherForms: readonly (readonly string[])[] = [
  ['send', 'bob', '--as', 'ada', '--body', '-'],
  ['send', 'bob', '--as', 'ada', '--body=one word'],
  ['send', 'bob', '--as', 'ada', '--body', 'x', '--body', 'y'],
  ['send', 'bob', '--as', 'ada', '--body', '--json'],
  ['send', 'bob', '--as', 'ada', '--body', 'x', '--priority', '4'],
  ['send', 'bob', '--as', 'ada'],
  ['send', 'bobb', '--as', 'ada', '--body', 'x', '--json'],
  ['count', '--as', 'ada', '--as', 'bob'],
  ['count', '--as', 'ada', '--'],
  ['check', '--as', 'ada', '--budget', '1'],
  ['ack', '1', '--as', 'ada'],
  ['ack', '@last', '--as', 'nobody'],
  ['done', '01ffffff', '--as', 'ada', '--note', 'x'],
]

describe('a command in its plainest form, in a space with a desk', () => {
  it('says without the whole program what it says with it', async () => {
    const box = await boxWithDesk()
    for (const words of plainForms) {
      const direct = await box.run(words, { env: off })
      expect(direct.code, direct.stderr).toBe(0)
      expect(plain(await briefly(box, () => words)), words.join(' ')).toEqual(plain(direct))
    }
  })

  it('takes the steps that it takes with it', async () => {
    const box = await boxWithDesk()
    for (const words of [
      ['ack', '--note', 'seen'],
      ['start', '--json'],
      ['archive', '--quiet'],
    ]) {
      const [verb = '', ...flags] = words
      const line = async () => [verb, await newMail(box), '--as', 'ada', ...flags]
      const direct = await box.run(await line(), { env: off })
      expect(plain(await briefly(box, line)), words.join(' ')).toEqual(plain(direct))
    }
    for (const flags of [['--note', 'merged', '--json'], ['--keep']]) {
      const line = async () => ['done', (await newMail(box)).slice(0, 30), '--as', 'ada', ...flags]
      const direct = await box.run(await line(), { env: off })
      expect(direct.code, direct.stderr).toBe(0)
      expect(plain(await briefly(box, line)), flags.join(' ')).toEqual(plain(direct))
    }
  })

  it('is left to the whole program in any other form, and when it is refused', async () => {
    const box = await boxWithDesk()
    for (const words of otherForms) {
      const direct = await box.run(words, { env: off })
      const { ran, isBrief } = await watched(box, words)
      expect({ ...plain(ran), isBrief }, words.join(' ')).toEqual({ ...plain(direct), isBrief: false })
    }
  })

  it('warns as it does with it', async () => {
    const box = await boxWithDesk()
    {
      await using space = await openDisk({ dir: box.dir, settings: { durability: 'os' } })
      const ada = await space.mailbox('ada')
      await Promise.all(Array.from({ length: 60 }, () => ada.send({ to: 'bob', body: 'more' })))
    }
    const words = ['send', 'bob', '--as', 'ada', '--body', 'still more']
    const said = async () => (await box.run(words, { env: off })).stderr.replace(/\d+/, 'N')
    expect(await said()).toContain('unfinished messages')
    expect((await briefly(box, () => words)).stderr.replace(/\d+/, 'N')).toBe(await said())
  })

  it('sends once, whatever becomes of the desk', async () => {
    const box = await createBox('ada', 'bob')
    const bodies: string[] = []
    for (const hurt of ['SIGSTOP', 'SIGKILL'] as const) {
      const desk = await startDesk(box)
      const sends = Array.from({ length: 4 }, () => {
        const body = `message ${bodies.length}`
        bodies.push(body)
        return box.run(['send', 'bob', '--as', 'ada', '--body', body])
      })
      // One is on its way by then, or done.
      const killed = box.run(['count', '--as', 'ada']).then(() => desk.kill(hurt))
      for (const { code, stderr } of await Promise.all(sends)) expect(code, stderr).toBe(0)
      await killed
      const last = `message ${bodies.length}`
      bodies.push(last)
      expect((await box.run(['send', 'bob', '--as', 'ada', '--body', last])).code).toBe(0)
      desk.kill('SIGCONT')
      desk.kill('SIGTERM')
    }
    const { messages } = await box.json('inbox', '--as', 'bob', '--limit', '1000')
    expect(messages.map(({ body }) => body).sort()).toEqual(bodies.toSorted())
  })
})
