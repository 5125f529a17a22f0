import {
  formatSSEErrorEvent,
  formatSSEEvent,
  ListTasksResponse,
  SendMessageRequest,
  SendMessageResponse,
  SSE_HEADERS,
  StreamResponse,
  Task,
  TaskPushNotificationConfig,
  taskStateFromJSON,
} from '@a2a-js/sdk'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import {
  RequestMalformedError,
  restStatusFor,
  toRestErrorBody,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import { JsonRpcTransportHandler, type ServerCallContext, validateVersion } from '@a2a-js/sdk/server'
import { MailboxError } from '../../base/errors.ts'
import type { MailHandler } from './handler.ts'

/** JSON-RPC, of this version or the one before. */
export async function rpc(
  handler: MailHandler,
  context: ServerCallContext,
  body: Record<string, unknown>,
  legacy: boolean,
): Promise<Response> {
  const toError = (error: unknown) => ({
    ...{ jsonrpc: '2.0', id: (body['id'] as string | number | undefined) ?? null },
    error: legacy
      ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(typedError(error))
      : JsonRpcTransportHandler.mapToJSONRPCError(typedError(error)),
  })
  try {
    validateVersion(context.requestedVersion, await handler.getAgentCard(), 'JSONRPC')
    const transport = legacy
      ? new LegacyJsonRpcTransportHandler(handler)
      : new JsonRpcTransportHandler(handler)
    const answer = await transport.handle(body, context)
    if (!(Symbol.asyncIterator in answer)) return Response.json(answer)
    return await events(answer as AsyncGenerator<unknown>, (error) => Response.json(toError(error)), toError)
  } catch (error) {
    return Response.json(toError(error))
  }
}

/** HTTP+JSON, over the same handler. */
export async function rest(
  handler: MailHandler,
  context: ServerCallContext,
  request: Request,
  path: string,
  body: unknown,
): Promise<Response> {
  const { method } = request
  const failed = (thrown: unknown) => {
    const error = typedError(thrown)
    const status = restStatusFor(error)
    return Response.json(toRestErrorBody(error, status), { status })
  }
  const json = (value: unknown, status = 200) => Response.json(value, { status })
  const stream = (generator: AsyncGenerator<StreamResponse>) =>
    events(
      mapped(generator, (event) => StreamResponse.toJSON(event)),
      failed,
      (error) => toRestErrorBody(error, restStatusFor(error)),
    )
  try {
    validateVersion(context.requestedVersion, await handler.getAgentCard(), 'HTTP+JSON')
    const query = new URL(request.url).searchParams
    const [, id = '', verb = '', more = '', configId = ''] =
      /^tasks\/([^/:]+)(?::(\w+))?(?:\/(pushNotificationConfigs)(?:\/([^/]+))?)?$/.exec(path) ?? []
    const route = `${method} ${id === '' ? path : `tasks/*${verb && `:${verb}`}${more && `/${more}`}${configId && '/*'}`}`
    switch (route) {
      case 'POST message:send': {
        const task = await handler.sendMessage(SendMessageRequest.fromJSON(body))
        return json(SendMessageResponse.toJSON({ payload: { $case: 'task', value: task } }))
      }
      case 'POST message:stream':
        return await stream(handler.sendMessageStream(SendMessageRequest.fromJSON(body)))
      case 'GET tasks/*:subscribe':
      case 'POST tasks/*:subscribe':
        return await stream(handler.resubscribe({ tenant: '', id }))
      case 'POST tasks/*:cancel':
        return json(Task.toJSON(await handler.cancelTask({ tenant: '', id, metadata: undefined })))
      case 'GET tasks/*':
        return json(
          Task.toJSON(
            await handler.getTask({ tenant: '', id, historyLength: numberIn(query, 'historyLength') }),
          ),
        )
      case 'GET tasks':
        return json(ListTasksResponse.toJSON(await handler.listTasks(listParams(query))))
      case 'POST tasks/*/pushNotificationConfigs': {
        const given = TaskPushNotificationConfig.fromJSON({ ...(body as object), taskId: id })
        return json(
          TaskPushNotificationConfig.toJSON(await handler.createTaskPushNotificationConfig(given)),
          201,
        )
      }
      case 'GET tasks/*/pushNotificationConfigs': {
        const { configs } = await handler.listTaskPushNotificationConfigs({ taskId: id })
        return json({ configs: configs.map((one) => TaskPushNotificationConfig.toJSON(one)) })
      }
      case 'GET tasks/*/pushNotificationConfigs/*': {
        const found = await handler.getTaskPushNotificationConfig({ taskId: id, id: configId })
        return json(TaskPushNotificationConfig.toJSON(found))
      }
      case 'DELETE tasks/*/pushNotificationConfigs/*':
        await handler.deleteTaskPushNotificationConfig({ taskId: id, id: configId })
        return new Response(null, { status: 204 })
      default:
        throw new MailboxError('not_found', `there is no ${method} /${path.slice(0, 60)}`, {
          hint: 'see the agent card, and the A2A specification for HTTP+JSON',
        })
    }
  } catch (error) {
    return failed(error)
  }
}

const listParams = (query: URLSearchParams) => ({
  ...{ tenant: '', contextId: query.get('contextId') ?? '', pageToken: query.get('pageToken') ?? '' },
  status: query.has('status') ? taskStateFromJSON(query.get('status')) : 0,
  pageSize: numberIn(query, 'pageSize'),
  historyLength: numberIn(query, 'historyLength'),
  statusTimestampAfter: query.get('statusTimestampAfter') ?? undefined,
  includeArtifacts: query.get('includeArtifacts') === 'true',
})

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new RequestMalformedError(`${name} is not a number`)
}

/** What the mailbox refuses, as an error of the protocol. A defect of ours stays one. */
function typedError(error: unknown): unknown {
  if (!(error instanceof MailboxError)) return error
  const text = [error.message, error.hint].filter(Boolean).join('; ')
  if (['invalid', 'unknown_recipient', 'over_limit'].includes(error.code))
    return new RequestMalformedError(text)
  return error.code === 'internal' ? error : new UnsupportedOperationError(text)
}

async function* mapped<A, B>(from: AsyncGenerator<A>, change: (one: A) => B): AsyncGenerator<B> {
  for await (const one of from) yield change(one)
}

/** Server-sent events. What goes wrong before the first of them is an answer like any other. */
async function events(
  generator: AsyncGenerator<unknown>,
  failed: (error: unknown) => Response,
  toError: (error: unknown) => unknown,
): Promise<Response> {
  let first: IteratorResult<unknown>
  try {
    first = await generator.next()
  } catch (error) {
    return failed(error)
  }
  async function* frames() {
    try {
      if (!first.done) yield formatSSEEvent(first.value)
      for await (const event of generator) yield formatSSEEvent(event)
    } catch (error) {
      yield formatSSEErrorEvent(toError(error))
    }
  }
  const text = ReadableStream.from(frames()).pipeThrough(new TextEncoderStream())
  return new Response(text as ReadableStream, { headers: SSE_HEADERS })
}
