import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { until } from '../../helpers/wait.ts'
import { anthropic } from './anthropic.ts'
import { bareEnv, type ClientHome, cli, startClaude, startClient } from './claude.ts'
import { startCodex } from './codex.ts'
import { codexHooks } from './hook-settings.ts'
import { clientTimeoutMs, isAside, mailStage } from './mail-stage.ts'
import { openai } from './openai.ts'
import { type ModelRequest, type Script, scriptedModel, type Turn } from './scripted-model.ts'

const streaming = ['-p', '--input-format', 'stream-json', '--output-format', 'stream-json', '--verbose']

/** A session of Claude Code without hooks or tools of ours. */
async function session(home: ClientHome, name: string, script: Script) {
  const model = await scriptedModel(anthropic, script)
  const client = startClaude({
    ...{ home, modelUrl: model.url, args: [...streaming, '--name', name] },
    allowedTools: ['SendMessage', 'ListAgents', 'ToolSearch'],
  })
  client.prompt(`BEGIN-${name}`)
  await model.until(`BEGIN-${name}`)
  return { model, client }
}

/** Makes each of its calls once, when it has read the word for it. */
function caller(moves: Record<string, (request: ModelRequest) => Turn | Promise<Turn>>): Script {
  const made = new Set<string>()
  return (request) => {
    if (isAside(request)) return { text: 'a title' }
    const word = Object.keys(moves).find((one) => !made.has(one) && request.text.includes(one))
    if (word === undefined) return { text: 'Nothing more to do.' }
    made.add(word)
    return moves[word]!(request)
  }
}

it(
  'a real Claude Code writes to a real Codex with its own SendMessage, and is answered; so is another session',
  async () => {
    const { home, space } = await mailStage()
    const sessions = join(home.home, '.claude', 'sessions')
    const alpha = await session(
      home,
      'alpha',
      caller({
        'STEP-LIST': () => ({ calls: [{ name: 'ListAgents', input: {} }] }),
        'STEP-ASK': () => ({
          calls: [
            {
              name: 'SendMessage',
              input: { to: 'codex-1', summary: 'a question', message: 'ALPHA-ASKS which port?' },
            },
          ],
        }),
      }),
    )
    const beta = await session(home, 'beta', () => ({ text: 'Ready.' }))
    await until(() => readdirSync(sessions).filter((file) => file.endsWith('.json')).length === 2)
    const config = join(home.home, '.claude')
    const words = [cli, '--space', space.dir, 'bridge', 'claude-sessions', config]
    startClient(process.execPath, words, { cwd: home.project, env: bareEnv(home) })

    mkdirSync(join(home.home, '.codex'), { recursive: true })
    writeFileSync(join(home.home, '.codex', 'hooks.json'), JSON.stringify(codexHooks()))
    const mail = async (name: string) => (await space.mailbox(name, { join: false })).inbox({ all: true })
    const tool = ({ tools }: ModelRequest, name: string) =>
      tools.find((one) => one.endsWith(`mailbox.${name}`))!
    const codexMoves = caller({
      'CODEX-BEGINS': async (request) => {
        // It is at work when the question comes.
        await until(async () => (await mail('codex-1')).messages.length > 0)
        return { calls: [{ name: tool(request, 'check'), input: {} }] }
      },
      'ALPHA-ASKS': (request) => ({
        calls: [
          { to: 'claude/alpha', body: 'CODEX-ANSWERS 8080' },
          { to: 'claude/beta', body: 'CODEX-TELLS it is 8080' },
        ].map((input) => ({ name: tool(request, 'send'), input })),
      }),
    })
    // Its first turn may begin before its MCP servers are there: it calls for something else until they are.
    const model = await scriptedModel(openai, (request) =>
      isAside(request) || tool(request, 'check') !== undefined
        ? codexMoves(request)
        : { calls: [{ name: 'list_mcp_resources', input: {} }] },
    )
    const codex = startCodex({
      ...{ home, modelUrl: model.url },
      config: `[mcp_servers.mailbox]
command = "${process.execPath}"
args = ["${cli}", "--space", "${space.dir}", "mcp"]
startup_timeout_sec = 120
default_tools_approval_mode = "approve"`,
      args: ['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-hook-trust', 'CODEX-BEGINS'],
    })
    await model.until('CODEX-BEGINS')
    await until('codex-1 is listed', () => readdirSync(sessions).some((file) => /^1\d{9}\.json$/.test(file)))

    alpha.client.prompt('STEP-LIST')
    expect((await alpha.model.until('codex-1 [')).text).toMatch(/beta \[/)
    alpha.client.prompt('STEP-ASK')
    const { text } = await alpha.model.until('CODEX-ANSWERS')
    expect(text).toContain('from-name="codex-1"')
    expect(text).toContain('not a session of Claude Code')
    expect((await beta.model.until('CODEX-TELLS')).text).toContain('from-name="codex-1"')
    expect(await codex.exit).toBe(0)
    expect((await mail('codex-1')).messages).toMatchObject([
      { from: 'claude/alpha', body: 'ALPHA-ASKS which port?' },
    ])
    expect((await mail('claude/alpha')).messages).toMatchObject([
      { from: 'codex-1', body: 'CODEX-ANSWERS 8080' },
    ])
  },
  clientTimeoutMs,
)
