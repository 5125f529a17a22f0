import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceTemplateCallback,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { asMailboxError } from '../base/errors.ts'
import { plainId, plainLine, quoted } from '../conversation/fence.ts'
import type { Mailbox } from '../space/mailbox/api.ts'
import { type Changes, messageUri } from './changes.ts'
import { fenced } from './tool-result.ts'

const mimeType = 'text/markdown'
/** How many of the latest messages are listed. The others can be read by id. */
const listed = 20

/** Threads and messages as resources. Reading one changes nothing. */
export function registerResources(
  server: McpServer,
  mailboxOf: (context: ServerContext) => Promise<Mailbox>,
): void {
  /** Reports what is not there, or cannot be, with the protocol's own errors. */
  const reading =
    (print: (mailbox: Mailbox, id: string) => Promise<string>): ReadResourceTemplateCallback =>
    async ({ href: uri }, { id }, context) => {
      try {
        return { contents: [{ uri, mimeType, text: await print(await mailboxOf(context), String(id)) }] }
      } catch (error) {
        const { code, message } = asMailboxError(error)
        if (code === 'not_found') throw new ResourceNotFoundError(uri)
        if (code === 'internal') throw error
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, plainLine(`${code}: ${message}`))
      }
    }
  server.registerResource(
    'thread',
    new ResourceTemplate('mailbox://thread/{id}', { list: undefined }),
    { description: 'A thread, by the id of any message in it; subscribe by its threadId', mimeType },
    reading(async (mailbox, id) => fenced(await mailbox.thread(id), true)),
  )
  server.registerResource(
    'message',
    new ResourceTemplate('mailbox://message/{id}', {
      list: async (context) => {
        const { messages } = await (await mailboxOf(context)).inbox({ limit: listed })
        return {
          resources: messages.map((message) => ({
            uri: messageUri(message.id),
            // A client shows it without marks, so it holds no word of the sender but the name.
            name: `Message ${plainId(message)} from ${quoted(message.from)}`,
            mimeType,
          })),
        }
      },
    }),
    { description: 'A message and its state for each recipient', mimeType },
    reading(async (mailbox, id) => {
      const { message, receipts } = await mailbox.show(id)
      const ladder = receipts.map(({ recipient, state }) => plainLine(`- ${recipient}: ${state}`))
      return [fenced([message], true), ...ladder].join('\n')
    }),
  )
}

/** Resources that one connection can subscribe to. */
const maxSubscriptions = 1_000

/**
 * Reports changed resources for as long as the connection lasts. In the newer protocol the SDK filters by what
 * listeners asked for; in the older one we keep the subscriptions. Once it resolves, or a subscription is
 * confirmed, no change is missed.
 */
export async function honourSubscriptions(
  { server }: McpServer,
  changes: Changes,
  era: 'legacy' | 'modern',
): Promise<void> {
  const wanted = new Set<string>()
  let isClosed = false
  let stop: (() => void) | undefined
  const tell = (uri: string) => {
    // The server notices a closed connection itself.
    if (era === 'modern' || wanted.has(uri)) server.sendResourceUpdated({ uri }).catch(() => {})
  }
  const end = () => {
    stop?.()
    stop = undefined
  }
  const closed = server.onclose
  server.onclose = () => {
    isClosed = true
    end()
    closed?.()
  }
  if (era === 'modern') {
    stop = changes.subscribe(tell)
    return changes.ready()
  }
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }) => {
    if (wanted.size >= maxSubscriptions && !wanted.has(uri))
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `there are ${maxSubscriptions} subscriptions already: end one first`,
      )
    wanted.add(uri)
    // If the client has gone meanwhile, nothing would ever end the subscription.
    if (!isClosed) stop ??= changes.subscribe(tell)
    await changes.ready()
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    wanted.delete(uri)
    if (wanted.size === 0) end()
    return {}
  })
}
