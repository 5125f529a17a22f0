import {
  type CallToolResult,
  completable,
  fromJsonSchema,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { letPass } from '../helpers/wait.ts'
import { registerRounds, states } from './rounds.ts'
import { registerTasks } from './task-fixtures.ts'

/** The smallest PNG there is, and a WAV of no sound. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const wav = Buffer.from(
  'RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0',
  'latin1',
).toString('base64')

const stepMs = 50

const text = (words: string) => ({ type: 'text' as const, text: words })
const image = { type: 'image' as const, data: png, mimeType: 'image/png' }
const embedded = (uri: string, mimeType: string, words: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: words },
})

/**
 * What the conformance suite wants to find behind a transport: tools, resources and prompts of every kind, as its
 * scenarios describe them. It is served by the endpoint in place of the mailbox; the transport is the same.
 */
export function createFixtureServer(): McpServer {
  const server = new McpServer(
    { name: 'fixtures', version: '1.0.0' },
    {
      capabilities: {
        ...{ logging: {}, completions: {}, resources: { subscribe: true, listChanged: false } },
        ...{ tools: { listChanged: false }, prompts: { listChanged: false } },
      },
      requestState: { verify: states.verify },
    },
  )
  registerContents(server)
  registerConversations(server)
  registerResources(server)
  registerPrompts(server)
  registerRounds(server)
  registerTasks(server)
  return server
}

/** Tools that answer with every kind of content. */
function registerContents(server: McpServer): void {
  const answers: Record<string, CallToolResult['content']> = {
    test_simple_text: [text('This is a simple text response for testing.')],
    test_image_content: [image],
    test_audio_content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }],
    test_embedded_resource: [
      embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
    ],
    test_multiple_content_types: [
      text('Multiple content types test:'),
      image,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  }
  for (const [name, content] of Object.entries(answers))
    server.registerTool(name, { description: name }, () => ({ content }))
  server.registerTool('test_reconnection', { description: 'Closes its stream' }, async ({ http }) => {
    http?.closeSSE?.()
    await letPass(stepMs)
    return { content: [text('Reconnection test completed')] }
  })
  server.registerTool('test_error_handling', { description: 'Fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing')
  })
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: { type: 'string' }, city: { type: 'string' } },
      },
    },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: { type: 'string' },
      email: { type: 'string' },
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
  } as const
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Has a schema of its own', inputSchema: fromJsonSchema(schema) },
    () => ({ content: [text('fine')] }),
  )
}

/** Tools that say something to the client, or ask it, before they answer. */
function registerConversations(server: McpServer): void {
  const log = ({ mcpReq }: ServerContext, data: string) =>
    mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
  server.registerTool('test_tool_with_logging', { description: 'Logs' }, async (context) => {
    await log(context, 'Tool execution started')
    await letPass(stepMs)
    await log(context, 'Tool processing data')
    await letPass(stepMs)
    await log(context, 'Tool execution completed')
    return { content: [text('logged')] }
  })
  server.registerTool('test_tool_with_progress', { description: 'Progresses' }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    for (const progress of [0, 50, 100]) {
      const params = { progressToken: progressToken!, progress, total: 100 }
      if (progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params })
      await letPass(stepMs)
    }
    return { content: [text('progressed')] }
  })
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model of the client', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, { mcpReq }) => {
      const messages = [{ role: 'user' as const, content: text(prompt) }]
      const { content } = await mcpReq.requestSampling({ messages, maxTokens: 100 }, belongingTo(mcpReq))
      return { content: [text(`LLM response: ${JSON.stringify(content)}`)] }
    },
  )
  type Asked = Parameters<ServerContext['mcpReq']['elicitInput']>[0]
  const elicit = async (
    { mcpReq }: ServerContext,
    message: string,
    properties: object,
    required?: string[],
  ) => {
    const requestedSchema = { type: 'object', properties, ...(required === undefined ? {} : { required }) }
    const { action, content } = await mcpReq.elicitInput(
      { message, requestedSchema } as Asked,
      belongingTo(mcpReq),
    )
    return { content: [text(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`)] }
  }
  server.registerTool(
    'test_elicitation',
    { description: 'Asks the person', inputSchema: z.object({ message: z.string() }) },
    ({ message }, context) => {
      const field = (description: string) => ({ type: 'string', description })
      const fields = { username: field("User's response"), email: field("User's email address") }
      return elicit(context, message, fields, ['username', 'email'])
    },
  )
  server.registerTool('test_elicitation_sep1034_defaults', { description: 'Defaults' }, (context) =>
    elicit(context, 'Check what is filled in', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  )
  const names = ['option1', 'option2', 'option3']
  const titled = (noun: string) =>
    ['First', 'Second', 'Third'].map((word, n) => ({ const: `value${n + 1}`, title: `${word} ${noun}` }))
  server.registerTool('test_elicitation_sep1330_enums', { description: 'Choices' }, (context) =>
    elicit(context, 'Choose', {
      untitledSingle: { type: 'string', enum: names },
      titledSingle: { type: 'string', oneOf: titled('Option') },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: names } },
      titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
    }),
  )
}

function registerResources(server: McpServer): void {
  const words = 'This is the content of the static text resource.'
  server.registerResource('static-text', 'test://static-text', { description: 'Text' }, ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'text/plain', text: words }],
  }))
  server.registerResource(
    'static-binary',
    'test://static-binary',
    { description: 'Bytes' },
    ({ href: uri }) => ({
      contents: [{ uri, mimeType: 'image/png', blob: png }],
    }),
  )
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'By id' },
    ({ href: uri }, { id }) => {
      const data = { id, templateTest: true, data: `Data for ID: ${String(id)}` }
      return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(data) }] }
    },
  )
}

function registerPrompts(server: McpServer): void {
  const say = (...contents: (ReturnType<typeof text> | typeof image | ReturnType<typeof embedded>)[]) => ({
    messages: contents.map((content) => ({ role: 'user' as const, content })),
  })
  server.registerPrompt('test_simple_prompt', { description: 'Simple' }, () =>
    say(text('This is a simple prompt for testing.')),
  )
  const word = (description: string) =>
    completable(z.string().describe(description), (value) =>
      ['paris', 'park', 'party'].filter((one) => one.startsWith(value)),
    )
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'Two', argsSchema: z.object({ arg1: word('First'), arg2: word('Second') }) },
    ({ arg1, arg2 }) => say(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'Resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) =>
      say(
        embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  )
  server.registerPrompt('test_prompt_with_image', { description: 'Image' }, () =>
    say(image, text('Please analyze the image above.')),
  )
}

/** A question goes out on the stream of the call that asks it; the client's own stream may not be open yet. */
const belongingTo = ({ id }: ServerContext['mcpReq']) => ({ relatedRequestId: id })
