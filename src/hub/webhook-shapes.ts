import type { Message } from '../model/message.ts'
import type { Encrypted } from '../model/sealed.ts'
import type { WebhookShape } from '../model/settings.ts'

type Told = Message & Encrypted

/** A message to the person, for somebody who shows it. What is encrypted does not leave the space in plain text. */
interface Posted {
  spaceId: string
  message: Told
  /** Where the person can open it. It has no token in it: whoever follows it has to be logged in to the console. */
  link: string
}

interface Shaped {
  /** Where it is posted, if that is not the address that was configured. */
  url?: string
  type: string
  body: object
}

type Shape = (posted: Posted, url: string) => Shaped

const json = 'application/json; charset=utf-8'

/** How a post looks to the services that people use. The words of senders can call nobody there. */
export const webhookShapes: Record<WebhookShape, Shape> = {
  cloudevents: ({ spaceId, message }) => ({
    type: 'application/cloudevents+json; charset=utf-8',
    body: cloudEvent(spaceId, message),
  }),
  slack: ({ message, link }) => ({
    type: json,
    // Mentions and links are made with < and >, which are escaped in the words of senders.
    body: {
      text: `*${escaped(titleOf(message))}*\n${escaped(textOf(message, 2_500))}\n<${link}|Open it>`,
      ...{ unfurl_links: false, unfurl_media: false },
    },
  }),
  discord: ({ message, link }) => ({
    type: json,
    body: {
      content: `**${titleOf(message)}**\n${textOf(message, 1_500)}\n${link}`,
      allowed_mentions: { parse: [] },
      // No previews of links in the mail.
      flags: 4,
    },
  }),
  teams: ({ message, link }) => ({
    type: json,
    body: {
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          contentUrl: null,
          content: card(message, link),
        },
      ],
    },
  }),
  ntfy: ({ message, link }, url) => {
    const { href, topic } = topicOf(url)
    return {
      ...{ url: href, type: json },
      body: {
        ...{
          topic,
          title: titleOf(message),
          message: textOf(message, 3_000) || titleOf(message),
          click: link,
        },
        priority: { low: 2, normal: 3, high: 4, urgent: 5 }[message.priority],
      },
    }
  },
}

/** JSON is published at the root of the server, with the topic in it. */
function topicOf(url: string): { href: string; topic: string } {
  const parsed = new URL(url)
  const [topic = '', ...before] = parsed.pathname.split('/').reverse()
  parsed.pathname = before.reverse().join('/') || '/'
  return { href: parsed.href, topic: decodeURIComponent(topic) }
}

const titleOf = ({ from, subject, type, priority, encrypted }: Told): string =>
  `${priority === 'urgent' ? 'Urgent: ' : ''}${(encrypted === undefined && subject) || type} (from ${from})`

function textOf({ body, encrypted }: Told, length: number): string {
  if (encrypted !== undefined) return 'Encrypted. Open it to read it.'
  return body.length > length ? `${body.slice(0, length)}…` : body
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

const card = (message: Told, link: string) => ({
  ...{ $schema: 'http://adaptivecards.io/schemas/adaptive-card.json', type: 'AdaptiveCard', version: '1.4' },
  body: [
    { type: 'TextBlock', text: titleOf(message), weight: 'Bolder', wrap: true },
    { type: 'TextBlock', text: textOf(message, 3_000), wrap: true },
  ],
  actions: [{ type: 'Action.OpenUrl', title: 'Open it', url: link }],
})

/** A message as a CloudEvent. Fields that are undefined are not in its JSON. */
function cloudEvent(spaceId: string, message: Told) {
  const { id, type, threadId, createdAt, from, priority, replyTo, traceparent, encrypted } = message
  const { subject, body } = encrypted === undefined ? message : { subject: undefined, body: undefined }
  return {
    specversion: '1.0',
    id,
    source: `/agent-mailbox/${spaceId}`,
    type: `agent-mailbox.message.${type}`,
    subject: threadId,
    time: createdAt,
    datacontenttype: 'application/json',
    traceparent,
    data: { id, from, type, priority, subject, body, threadId, replyTo, encrypted },
  }
}
