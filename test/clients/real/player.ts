import { anthropic } from './anthropic.ts'
import { cli, clientHome, type RunningClient, startClaude } from './claude.ts'
import { claudeHooks } from './hook-settings.ts'
import { isAside } from './mail-stage.ts'
import { type ModelRequest, type Script, type ScriptedModel, scriptedModel } from './scripted-model.ts'

const streaming = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']

export interface Move {
  /** Comes when the model has read these words, once: anywhere, or in a message. */
  prompt?: string
  mail?: string
  tool: 'send' | 'handle'
  input: (idOf: (mark: string) => string) => Record<string, unknown> | Promise<Record<string, unknown>>
}

/**
 * A model that makes each of its moves when it has read what calls for it; it looks into the mailbox when it
 * was told of mail, and otherwise has nothing to say.
 */
function player(moves: readonly Move[]): Script {
  const made = new Set<Move>()
  let invitations = 0
  return async (request) => {
    if (isAside(request)) return { text: 'a title' }
    const call = (tool: string, input: Record<string, unknown>) => ({
      calls: [{ name: `mcp__mailbox__${tool}`, input }],
    })
    const isRead = ({ prompt, mail }: Move) =>
      mail === undefined ? request.text.includes(prompt!) : idIn(request, mail) !== undefined
    const move = moves.find((one) => !made.has(one) && isRead(one))
    if (move !== undefined) {
      made.add(move)
      return call(move.tool, await move.input((mark) => idIn(request, mark)!))
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

/** A real Claude Code that is an agent of a space, with hooks and tools, and reads prompts as a stream. */
export function startAgent(name: string, model: ScriptedModel, spaceDir: string): RunningClient {
  return startClaude({
    ...{ home: clientHome(), modelUrl: model.url, settings: claudeHooks(), args: streaming },
    mcpServers: {
      mailbox: { command: process.execPath, args: [cli, '--space', spaceDir, 'mcp'], alwaysLoad: true },
    },
    allowedTools: ['mcp__mailbox'],
    env: { MAILBOX_SPACE: spaceDir, MAILBOX_AGENT: name },
  })
}

/** A model that makes these moves. */
export const playing = (moves: readonly Move[]): Promise<ScriptedModel> =>
  scriptedModel(anthropic, player(moves))
