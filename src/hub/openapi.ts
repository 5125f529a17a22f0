import * as z from 'zod/mini'
import { type Schema, toPath } from '../api/operation.ts'
import { type Reading, readings } from '../api/readings.ts'
import { entry, errorAnswer, named } from '../api/schemas.ts'
import { operations } from './operations.ts'

interface JsonSchema {
  type?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  [keyword: string]: unknown
}

const reference = (id: string) => ({ $ref: `#/components/schemas/${id}` })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const pascal = (path: string) => path.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())
const camel = (path: string) => path.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The API as OpenAPI 3.1, generated from the same tables as the routes. */
export function openApi(version: string): object {
  const inputs = z.registry<{ id: string }>()
  for (const { path, input } of operations.values()) inputs.add(input, { id: `${pascal(path)}Input` })
  const failed = {
    description: 'What went wrong, and what to do about it',
    ...json(reference(idOf(errorAnswer))),
  }
  const answered = (output: Schema) => ({
    200: { description: 'Success', ...json(reference(idOf(output))) },
    default: failed,
  })
  const acting = [...operations.values()].map(({ path, summary, output, reads }) => [
    `/api/mailboxes/{mailbox}/${path}`,
    {
      post: {
        operationId: camel(path),
        tags: [reads ? 'mailbox: looking' : 'mailbox: acting'],
        summary,
        parameters: [parameter('mailbox', 'path', { type: 'string' }, true)],
        requestBody: { required: true, ...json(reference(`${pascal(path)}Input`)) },
        responses: answered(output),
      },
    },
  ])
  const looking = Object.entries<Reading>(readings).map(([name, reading]) => [
    reading.path,
    {
      get: {
        operationId: `get${pascal(toPath(name))}`,
        tags: ['space'],
        summary: reading.summary,
        parameters: parametersOf(reading),
        responses: answered(reading.output),
      },
    },
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: 'agent-mailbox hub',
      version,
      description:
        'Mail between agents, over HTTP. Operations on a mailbox are POST requests; readings of the space are GET requests.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }],
    paths: {
      ...Object.fromEntries([...looking, ...acting]),
      '/api/stream': streamPath,
      '/health': healthPath,
      '/metrics': metricsPath,
    },
    components: {
      schemas: { ...schemasOf(named, 'output'), ...schemasOf(inputs, 'input') },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
  }
}

function idOf(schema: Schema): string {
  const id = named.get(schema)?.id
  if (id === undefined) throw new Error('a schema of the API has no name')
  return id
}

function schemasOf(registry: typeof named, io: 'input' | 'output'): Record<string, object> {
  const uri = (id: string) => `#/components/schemas/${id}`
  const { schemas } = z.toJSONSchema(registry, { uri, io, unrepresentable: 'any' })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema]),
  )
}

const parameter = (name: string, place: 'path' | 'query', schema: object, required: boolean) => ({
  ...{ name, in: place, required, schema },
})

function parametersOf({ path, query }: Reading): object[] {
  const { properties = {}, required = [] } = z.toJSONSchema(query, {
    io: 'output',
    unrepresentable: 'any',
  }) as JsonSchema
  return Object.entries(properties).map(([name, schema]) => {
    const isInPath = path.includes(`{${name}}`)
    return parameter(name, isInPath ? 'path' : 'query', schema, isInPath || required.includes(name))
  })
}

const plain = (description: string) => ({
  description,
  content: { 'text/plain': { schema: { type: 'string' } } },
})

const streamPath = {
  get: {
    operationId: 'stream',
    tags: ['space'],
    summary: 'Follow the journal: server-sent events, or a WebSocket with the same entries',
    parameters: [
      parameter('after', 'query', { type: 'integer', minimum: 0 }, false),
      parameter('mailbox', 'query', { type: 'string' }, false),
    ],
    responses: {
      200: {
        description: `Events named \`entry\`: \`id\` is the sequence number in the journal, the data is an ${idOf(entry)}. Resume with Last-Event-ID or \`after\`.`,
        content: { 'text/event-stream': { schema: { type: 'string' } } },
      },
      default: { description: 'What went wrong', ...json(reference(idOf(errorAnswer))) },
    },
  },
}

const healthPath = {
  get: {
    operationId: 'health',
    tags: ['hub'],
    summary: 'Check that the hub is running',
    security: [],
    responses: {
      200: {
        description: 'The hub is running',
        ...json({
          type: 'object',
          properties: { ok: { type: 'boolean' }, version: { type: 'string' } },
          required: ['ok', 'version'],
        }),
      },
    },
  },
}

const metricsPath = {
  get: {
    operationId: 'metrics',
    tags: ['hub'],
    summary: 'Get metrics for Prometheus',
    responses: { 200: plain('The metrics') },
  },
}
