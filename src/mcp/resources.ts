import { type McpServer, ResourceTemplate, type ServerContext } from '@modelcontextprotocol/server'
import type { Mailbox } from '../mailbox.ts'
import { toPrintableLine } from '../model/text.ts'
import { fenced } from './answer.ts'
import { type Changes, messageUri } from './changes.ts'

const mimeType = 'text/markdown'
/** As many of the latest messages are listed; all others can be read by their id. */
const listed = 20

/** Threads and messages as resources. Looking at one changes nothing, as it does everywhere. */
export function registerResources(
  server: McpServer,
  mailboxOf: (context: ServerContext) => Promise<Mailbox>,
): void {
  server.registerResource(
    'thread',
    new ResourceTemplate('mailbox://thread/{id}', { list: undefined }),
    { description: 'A thread, by the id of any message in it', mimeType },
    async (uri, { id }, context) => {
      const messages = await (await mailboxOf(context)).thread(String(id))
      return { contents: [{ uri: uri.href, mimeType, text: fenced(messages, true) }] }
    },
  )
  server.registerResource(
    'message',
    new ResourceTemplate('mailbox://message/{id}', {
      list: async (context) => {
        const { messages } = await (await mailboxOf(context)).inbox({ limit: listed })
        return {
          resources: messages.map(({ id, from, subject }) => ({
            uri: messageUri(id),
            name: toPrintableLine(`${from}: ${subject || id}`),
            mimeType,
          })),
        }
      },
    }),
    { description: 'A message and how far it has come with each recipient', mimeType },
    async (uri, { id }, context) => {
      const { message, receipts } = await (await mailboxOf(context)).show(String(id))
      const ladder = receipts.map(({ recipient, state }) => toPrintableLine(`- ${recipient}: ${state}`))
      const text = [fenced([message], true), ...ladder].join('\n')
      return { contents: [{ uri: uri.href, mimeType, text }] }
    },
  )
}

/**
 * Sends word of changed resources for as long as the connection lasts. The newer protocol filters by what its
 * listeners asked for on the way out; in the older one the subscriptions are ours to keep.
 */
export function honourSubscriptions(server: McpServer, changes: Changes, era: 'legacy' | 'modern'): void {
  const wanted = new Set<string>()
  let stop: (() => void) | undefined
  const start = () =>
    (stop ??= changes.subscribe((uri) => {
      // A connection that has just gone is noticed by whoever serves it.
      if (era === 'modern' || wanted.has(uri)) server.server.sendResourceUpdated({ uri }).catch(() => {})
    }))
  if (era === 'modern') start()
  else {
    server.server.setRequestHandler('resources/subscribe', ({ params }) => {
      wanted.add(params.uri)
      start()
      return {}
    })
    server.server.setRequestHandler('resources/unsubscribe', ({ params }) => {
      wanted.delete(params.uri)
      return {}
    })
  }
  server.server.onclose = () => stop?.()
}
