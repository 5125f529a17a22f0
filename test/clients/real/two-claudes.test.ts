import { expect, it } from 'vitest'
import { until } from '../../helpers/wait.ts'
import { anthropic } from './anthropic.ts'
import { cli, clientHome, type RunningClient, startClaude } from './claude.ts'
import { claudeHooks } from './hook-settings.ts'
import { clientTimeoutMs, isAside, mailStage } from './mail-stage.ts'
import { type ModelRequest, type Script, type ScriptedModel, scriptedModel } from './scripted-model.ts'

const streaming = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']

interface Move {
  /** Comes when the model has read these words, once: anywhere, or in a message. */
  prompt?: string
  mail?: string
  tool: 'send' | 'handle'
  input: (idOf: (mark: string) => string) => Record<string, unknown>
}

/**
 * A model that makes each of its moves when it has read what calls for it; it looks into the mailbox when it
 * was told of mail, and otherwise has nothing to say.
 */
function player(moves: readonly Move[]): Script {
  const made = new Set<Move>()
  let invitations = 0
  return (request) => {
    if (isAside(request)) return { text: 'a title' }
    const call = (tool: string, input: Record<string, unknown>) => ({
      calls: [{ name: `mcp__mailbox__${tool}`, input }],
    })
    const isRead = ({ prompt, mail }: Move) =>
      mail === undefined ? request.text.includes(prompt!) : idIn(request, mail) !== undefined
    const move = moves.find((one) => !made.has(one) && isRead(one))
    if (move !== undefined) {
      made.add(move)
      return call(
        move.tool,
        move.input((mark) => idIn(request, mark)!),
      )
    }
    const told = request.text.split(/You have \d+ new message/).length - 1
    if (told <= invitations) return { text: 'Nothing more to do.' }
    invitations = told
    return call('check', {})
  }
}

/** The id of the message in whose fence these words stand, wherever else they may have been said. */
function idIn({ text }: ModelRequest, mark: string): string | undefined {
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
    const heading = [...text.slice(0, at).matchAll(/Message ([0-9a-f-]{36}) from/g)].at(-1)
    const between = heading === undefined ? '' : text.slice(heading.index, at)
    if (between.includes('<<<mail ') && !/mail [0-9a-f]+>>>/.test(between)) return heading![1]
  }
  return undefined
}

function start(name: string, model: ScriptedModel, spaceDir: string): RunningClient {
  return startClaude({
    ...{ home: clientHome(), modelUrl: model.url, settings: claudeHooks(), args: streaming },
    mcpServers: {
      mailbox: { command: process.execPath, args: [cli, '--space', spaceDir, 'mcp'], alwaysLoad: true },
    },
    allowedTools: ['mcp__mailbox'],
    env: { MAILBOX_SPACE: spaceDir, MAILBOX_AGENT: name },
  })
}

it(
  'two real Claude Codes talk through the mailbox: a handoff, a question, an answer, done',
  async () => {
    const { space } = await mailStage()
    const ann = await scriptedModel(
      anthropic,
      player([
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
      ]),
    )
    const bea = await scriptedModel(
      anthropic,
      player([
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
      ]),
    )
    const second = start('bea', bea, space.dir)
    second.prompt('Wait for work.')
    await bea.until('Wait for work.')
    const first = start('ann', ann, space.dir)
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
