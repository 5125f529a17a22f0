import { randomBytes } from 'node:crypto'
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequests,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'

/** What a call that asks the client something keeps between its rounds, sealed: the client carries it. */
export const states = createRequestStateCodec<{ round: number }>({ key: randomBytes(32) })

const said = (words: string) => ({ content: [{ type: 'text' as const, text: words }] })

const ask = (message: string, field: string, type: 'string' | 'boolean' = 'string') => {
  const value = type === 'string' ? ({ type: 'string' } as const) : ({ type: 'boolean' } as const)
  return inputRequired.elicit({
    message,
    requestedSchema: { type: 'object', properties: { [field]: value }, required: [field] },
  })
}
const sample = (text: string, maxTokens: number) =>
  inputRequired.createMessage({
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text } }],
    maxTokens,
  })

const has = ({ mcpReq }: ServerContext, ...keys: string[]) =>
  keys.every((key) => Object.hasOwn(mcpReq.inputResponses ?? {}, key))
const answers = ({ mcpReq }: ServerContext): string => JSON.stringify(mcpReq.inputResponses)

const capabilitiesOf = ({ mcpReq }: ServerContext): ClientCapabilities =>
  ((mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ??
    {}) as ClientCapabilities

/** Tools and a prompt of the protocol of 2026 that ask the client before they answer. */
export function registerRounds(server: McpServer): void {
  const rounds = (
    name: string,
    requests: InputRequests,
    { keepsState = false, done = answers }: { keepsState?: boolean; done?: typeof answers } = {},
  ) =>
    server.registerTool(name, { description: name }, async (context) => {
      if (has(context, ...Object.keys(requests))) return said(done(context))
      const requestState = keepsState ? { requestState: await states.mint({ round: 1 }) } : {}
      return inputRequired({ inputRequests: requests, ...requestState })
    })
  const name = ask('What is your name?', 'name')
  const prefix = 'test_input_required_result_'
  rounds(`${prefix}elicitation`, { user_name: name })
  rounds(`${prefix}sampling`, { capital_question: sample('What is the capital of France?', 100) })
  rounds(`${prefix}list_roots`, { client_roots: inputRequired.listRoots() })
  rounds(
    `${prefix}request_state`,
    { confirm: ask('Please confirm', 'ok', 'boolean') },
    { keepsState: true, done: ({ mcpReq }) => (mcpReq.requestState() === undefined ? 'lost' : 'state-ok') },
  )
  rounds(
    `${prefix}multiple_inputs`,
    { user_name: name, greeting: sample('Generate a greeting', 50), client_roots: inputRequired.listRoots() },
    { keepsState: true },
  )
  rounds(`${prefix}tampered_state`, { confirm: ask('Please confirm', 'ok', 'boolean') }, { keepsState: true })
  server.registerTool(`${prefix}multi_round`, { description: 'Two rounds' }, async (context) => {
    const round = context.mcpReq.requestState<{ round: number }>()?.round ?? 0
    if (round === 2 && has(context, 'step2')) return said(answers(context))
    const [key, request] =
      round === 1 && has(context, 'step1')
        ? (['step2', ask('Step 2: What is your favorite color?', 'color')] as const)
        : (['step1', ask('Step 1: What is your name?', 'name')] as const)
    const requestState = await states.mint({ round: key === 'step2' ? 2 : 1 })
    return inputRequired({ inputRequests: { [key]: request }, requestState })
  })
  server.registerTool(`${prefix}capabilities`, { description: 'Asks what it can' }, (context) => {
    const { sampling, elicitation } = capabilitiesOf(context)
    return inputRequired({
      inputRequests: {
        ...(sampling === undefined ? {} : { greeting: sample('Generate a greeting', 50) }),
        ...(elicitation === undefined ? {} : { user_name: name }),
      },
    })
  })
  // The SDK refuses to ask a client what it has not said that it can answer.
  rounds('test_missing_capability', { greeting: sample('Generate a greeting', 50) })
  server.registerTool('test_logging_tool', { description: 'Logs' }, async ({ mcpReq }) => {
    await mcpReq.log('info', 'logged')
    return said('logged')
  })
  server.registerTool('test_streaming_elicitation', { description: 'Asks in a stream' }, (context) =>
    has(context, 'user_name')
      ? said(answers(context))
      : inputRequired({ inputRequests: { user_name: name } }),
  )
  const mirrored = { type: 'string', 'x-mcp-header': 'Region' }
  server.registerTool(
    'test_mirrored_argument',
    {
      description: 'Has an argument that is also a header',
      inputSchema: fromJsonSchema({ type: 'object', properties: { region: mirrored } }),
    },
    (input) => said(JSON.stringify(input)),
  )
  server.registerPrompt(`${prefix}prompt`, { description: 'Asks first' }, (context: ServerContext) =>
    has(context, 'user_context')
      ? { messages: [{ role: 'user' as const, content: said(answers(context)).content[0]! }] }
      : inputRequired({
          inputRequests: { user_context: ask('What context should the prompt use?', 'context') },
        }),
  )
}
