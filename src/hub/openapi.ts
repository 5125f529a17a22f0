import * as z from 'zod/mini'
import { type Schema, toPath } from '../api/operation.ts'
import type { Reading } from '../api/reading.ts'
import { readings } from '../api/readings.ts'
import { entry, errorAnswer, named } from '../api/schemas.ts'
import { operations } from './operations.ts'

const uri = (id: string) => `#/components/schemas/${id}`
const content = (type: string, schema: object) => ({ content: { [type]: { schema } } })
const json = (schema: object) => content('application/json', schema)
const text = { type: 'string' }
const pascal = (path: string) => path.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())
const camel = (path: string) => path.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The API as OpenAPI 3.1, generated from the same tables as the routes. */
export function openApi(version: string): object {
  const inputs = z.registry<{ id: string }>()
  for (const [path, { input }] of operations) inputs.add(input, { id: `${pascal(path)}Input` })
  const acting = [...operations].map(([path, { summary, output, reads }]) => [
    `/api/mailboxes/{mailbox}/${path}`,
    {
      post: {
        operationId: camel(path),
        tags: [reads ? 'mailbox: looking' : 'mailbox: acting'],
        summary,
        parameters: [parameter('mailbox', 'path', text, true)],
        requestBody: { required: true, ...json({ $ref: uri(`${pascal(path)}Input`) }) },
        responses: { 200: jsonAnswer('Success', output), default: failed },
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
        responses: { 200: jsonAnswer('Success', reading.output), default: failed },
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
  const { schemas } = z.toJSONSchema(registry, { uri, io, unrepresentable: 'any' })
  return Object.fromEntries(
    Object.entries(schemas).map(([id, { $schema: _, $id: __, ...schema }]) => [id, schema]),
  )
}

const jsonAnswer = (description: string, schema: Schema) => ({
  ...{ description, ...json({ $ref: uri(idOf(schema)) }) },
})
const failed = jsonAnswer('What went wrong, and what to do about it', errorAnswer)

const parameter = (name: string, place: 'path' | 'query', schema: object, required: boolean) => ({
  ...{ name, in: place, required, schema },
})

function parametersOf({ path, input }: Reading): object[] {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'output', unrepresentable: 'any' })
  return Object.entries(properties).map(([name, schema]) => {
    const isInPath = path.includes(`{${name}}`)
    const place = isInPath ? 'path' : 'query'
    return parameter(name, place, schema as object, isInPath || required.includes(name))
  })
}

const streamPath = {
  get: {
    operationId: 'stream',
    tags: ['space'],
    summary: 'Follow the journal: server-sent events, or a WebSocket with the same entries',
    parameters: [
      parameter('after', 'query', { type: 'integer', minimum: 0 }, false),
      parameter('mailbox', 'query', text, false),
    ],
    responses: {
      200: {
        description: `Events named \`entry\`: \`id\` is the sequence number in the journal, the data is an ${idOf(entry)}. Resume with Last-Event-ID or \`after\`.`,
        ...content('text/event-stream', text),
      },
      default: jsonAnswer('What went wrong', errorAnswer),
    },
  },
}

const health = {
  type: 'object',
  properties: {
    ...{ ok: { type: 'boolean' }, version: text, error: { type: 'object' } },
    mirror: { enum: ['current', 'behind', 'ahead', 'away'] },
    scrub: {
      type: 'object',
      properties: { finishedAt: { type: ['string', 'null'] }, damaged: { type: 'integer' } },
    },
  },
  required: ['ok', 'version'],
}
const healthPath = {
  get: {
    operationId: 'health',
    tags: ['hub'],
    summary: 'Check that the hub is running',
    security: [],
    responses: {
      200: { description: 'The hub is running', ...json(health) },
      503: { description: 'The space cannot be used: its files were moved or deleted', ...json(health) },
    },
  },
}

const metricsPath = {
  get: {
    operationId: 'metrics',
    tags: ['hub'],
    summary: 'Get metrics for Prometheus',
    responses: { 200: { description: 'The metrics', ...content('text/plain', text) } },
  },
}
