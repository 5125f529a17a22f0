import { expect, it } from 'vitest'
import { clientOf } from '../../helpers/a2a-client.ts'
import { createBox } from '../../helpers/cli.ts'
import { until } from '../../helpers/wait.ts'
import { clientTimeoutMs } from './mail-stage.ts'
import { playing, startAgent } from './player.ts'

interface Event {
  task?: { id: string; status: { state: string } }
  statusUpdate?: { status: { state: string; message?: { parts: { text?: string }[] } } }
  artifactUpdate?: { artifact: { parts: { text?: string }[] } }
}
const stateOf = ({ task, statusUpdate }: Event) =>
  (task ?? statusUpdate)?.status.state.replace('TASK_STATE_', '') ?? 'artifact'

it(
  "the protocol's own client gives a real Claude Code work, answers its question, cancels, and goes on after kill -9 of the hub",
  async () => {
    const box = await createBox('ann')
    await box.ok('config', 'set', 'a2a.expose', 'ann')
    const serve = async (port: string) => {
      const hub = box.start(['serve', '--port', port, '--json'])
      await hub.says('"token"')
      return { hub, url: (JSON.parse(hub.stdout()) as { url: string }).url }
    }
    const { hub, url } = await serve('0')
    const acme = clientOf(`${url}/a2a/ann`, (await box.ok('token', 'acme')).trim())

    let isKilled: (() => void) | undefined
    const killed = new Promise<void>((resolve) => (isKilled = resolve))
    const model = await playing([
      {
        mail: 'WHICH-PORT',
        tool: 'send',
        input: (idOf) => ({
          ...{ replyTo: idOf('WHICH-PORT'), body: 'FOR-WHAT', await: true },
          ...{ to: 'acme', type: 'request' },
        }),
      },
      {
        mail: 'FOR-THE-CONSOLE',
        tool: 'send',
        input: (idOf) => ({ replyTo: idOf('FOR-THE-CONSOLE'), body: 'PORT-IS-7337' }),
      },
      {
        mail: 'A-LONG-TASK',
        tool: 'handle',
        // It has the mail, and is at work, when the hub dies.
        input: async (idOf) => {
          await killed
          return { id: idOf('A-LONG-TASK'), step: 'done', note: 'IT-IS-DONE' }
        },
      },
    ])
    const claude = startAgent('ann', model, box.dir)
    claude.prompt('Wait for work.')
    await model.until('Wait for work.')

    const streaming = acme.start('stream', { messageId: 'm1', text: 'WHICH-PORT' })
    const asked = (await streaming.rest()) as Event[]
    expect(asked.map(stateOf)).toEqual(['SUBMITTED', 'WORKING', 'INPUT_REQUIRED'])
    expect(asked[2]!.statusUpdate!.status.message!.parts[0]!.text).toBe('FOR-WHAT')
    const { id } = asked[0]!.task!
    const goingOn = acme.start('stream', { messageId: 'm2', taskId: id, text: 'FOR-THE-CONSOLE' })
    const answered = (await goingOn.rest()) as Event[]
    expect(answered.at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_COMPLETED' } } })
    expect(
      answered.find(({ artifactUpdate }) => artifactUpdate)!.artifactUpdate!.artifact.parts[0]!.text,
    ).toBe('PORT-IS-7337')

    const long = acme.start('stream', { messageId: 'm3', text: 'A-LONG-TASK' })
    const first = ((await long.next()) as Event).task!
    expect(stateOf((await long.next()) as Event)).toBe('WORKING')
    // Mail that nobody has read is taken back: the agent never hears of it.
    const { task: unwanted } = (await acme.call('send', { messageId: 'm4', text: 'NEVER-MIND' })) as Event
    expect(stateOf((await acme.call('cancel', { id: unwanted!.id })) as Event)).toBe('CANCELED')
    hub.process.kill('SIGKILL')
    await hub.exit
    await long.rest()
    isKilled!()
    // The agent works on while nobody serves the space.
    await until(async () => (await box.json('show', first.id)).receipts[0]!.state === 'archived')
    await serve(new URL(url).port)
    const { task: done } = (await acme.call('get', { id: first.id })) as Event
    expect(stateOf({ task: done! })).toBe('COMPLETED')
    expect(JSON.stringify(done)).toContain('IT-IS-DONE')
    expect(model.requests.some(({ text }) => text.includes('NEVER-MIND'))).toBe(false)
    claude.end()
    expect(await claude.exit).toBe(0)
  },
  clientTimeoutMs,
)
