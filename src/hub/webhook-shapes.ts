import type { Message } from '../model/message.ts'
import type { Encrypted } from '../model/sealed.ts'
import type { WebhookShape } from '../model/settings.ts'
import type { Digest } from '../query/digest.ts'
import { digestText } from '../space/digest-text.ts'

type Told = Message & Encrypted

/** A message to the person, for somebody who shows it. What is encrypted does not leave the space in plain text. */
interface Posted {
  spaceId: string
  message: Told
  /** Where the person can open it. It has no token in it: whoever follows it has to be logged in to the console. */
  link: string
  /** What it can be answered with in a word, and where. */
  choices: readonly { key: string; label: string; link: string }[]
}

/** A digest for the person. */
interface PostedDigest {
  spaceId: string
  digest: Digest
  link: string
}

/** What is posted. */
export interface Shaped {
  /** Where it is posted, if that is not the address that was configured. */
  url?: string
  type: string
  body: object
}

type Shape<What> = (posted: What, url: string) => Shaped

const json = 'application/json; charset=utf-8'

/** How a post looks to the services that people use. The words of senders can call nobody there. */
export const webhookShapes: Record<WebhookShape, Shape<Posted>> = {
  cloudevents: ({ spaceId, message, link, choices }) => ({
    type: 'application/cloudevents+json; charset=utf-8',
    body: cloudEvent(spaceId, message, link, choices),
  }),
  slack: ({ message, link, choices }) =>
    slack(titleOf(message), textOf(message, 2_500), [...choices, { label: 'Open it', link }]),
  discord: ({ message, link, choices }) =>
    discord(titleOf(message), textOf(message, 1_200), [...choices, { label: 'Open it', link }]),
  teams: ({ message, link, choices }) =>
    teams(titleOf(message), textOf(message, 3_000), [...choices, { label: 'Open it', link }]),
  ntfy: ({ message, link, choices }, url) => {
    const priority = { low: 2, normal: 3, high: 4, urgent: 5 }[message.priority]
    return ntfy(url, titleOf(message), textOf(message, 3_000), { link, choices, priority })
  },
}

/** How a digest looks there. */
export const digestShapes: Record<WebhookShape, Shape<PostedDigest>> = {
  cloudevents: ({ spaceId, digest }) => ({
    type: 'application/cloudevents+json; charset=utf-8',
    body: {
      specversion: '1.0',
      id: `digest-${digest.since}`,
      source: `/agent-mailbox/${spaceId}`,
      type: 'agent-mailbox.digest',
      time: digest.until,
      datacontenttype: 'application/json',
      data: withoutSecrets(digest),
    },
  }),
  slack: ({ digest, link }) => slack(digestTitle, wordsOf(digest, 2_500), [{ label: 'Open it', link }]),
  discord: ({ digest, link }) => discord(digestTitle, wordsOf(digest, 1_500), [{ label: 'Open it', link }]),
  teams: ({ digest, link }) => teams(digestTitle, wordsOf(digest, 3_000), [{ label: 'Open it', link }]),
  ntfy: ({ digest, link }, url) =>
    ntfy(url, digestTitle, wordsOf(digest, 3_000), { link, choices: [], priority: 3 }),
}

const digestTitle = 'What happened in the mailbox'

/** Times are in UTC: who reads it, and where, is not known here. */
const wordsOf = (digest: Digest, length: number): string => {
  const when = (at: string) => `${at.slice(0, 16).replace('T', ' ')} UTC`
  const quote = (text: string, { encrypted }: { encrypted?: true }) => (encrypted ? undefined : text)
  return cut(digestText(digest, { when, date: when, quote }), length)
}

/** What senders wrote, and is encrypted, stays in the space. */
function withoutSecrets(digest: Digest): Digest {
  const plain = <Line extends { encrypted?: true; subject: string }>(line: Line): Line => {
    if (line.encrypted === undefined) return line
    const { note: _, ...rest } = line as Line & { note?: string }
    return { ...(rest as unknown as Line), subject: '', ...('says' in line && { says: '' }) }
  }
  return {
    ...digest,
    decided: digest.decided.map(plain),
    finished: digest.finished.map(plain),
    needsYou: digest.needsYou.map(plain),
    lost: digest.lost.map(plain),
    blocked: digest.blocked.map(plain),
  }
}

interface Button {
  label: string
  link: string
}

const labelsAtMost = 60
const labelOf = ({ label }: Button): string => cut(label, labelsAtMost)

function slack(title: string, text: string, buttons: readonly Button[]): Shaped {
  // Mentions and links are made with < and >, which are escaped in the words of senders.
  const links = buttons.map((one) => `<${one.link}|${escaped(labelOf(one)).replaceAll('|', '/')}>`)
  return {
    type: json,
    body: {
      text: `*${escaped(title)}*\n${escaped(text)}\n${links.join('  ')}`,
      ...{ unfurl_links: false, unfurl_media: false },
    },
  }
}

function discord(title: string, text: string, buttons: readonly Button[]): Shaped {
  // Words of senders in a link could end it, so they stand before it.
  const links = new Map(buttons.map((one) => [one.link, [] as string[]]))
  for (const one of buttons) links.get(one.link)!.push(labelOf(one))
  const lines = [...links].map(([link, labels]) => `${labels.join(', ')}: ${link}`)
  return {
    type: json,
    body: {
      content: `**${title}**\n${text}\n${lines.join('\n')}`,
      allowed_mentions: { parse: [] },
      // No previews of links in the mail.
      flags: 4,
    },
  }
}

function teams(title: string, text: string, buttons: readonly Button[]): Shaped {
  const content = {
    ...{
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
    },
    body: [
      { type: 'TextBlock', text: title, weight: 'Bolder', wrap: true },
      { type: 'TextBlock', text, wrap: true },
    ],
    actions: buttons.map((one) => ({ type: 'Action.OpenUrl', title: labelOf(one), url: one.link })),
  }
  const contentType = 'application/vnd.microsoft.card.adaptive'
  return {
    type: json,
    body: { type: 'message', attachments: [{ contentType, contentUrl: null, content }] },
  }
}

/** As many as its server accepts. */
const ntfyActionsAtMost = 3

function ntfy(
  url: string,
  title: string,
  text: string,
  { link, choices, priority }: { link: string; choices: readonly Button[]; priority: number },
): Shaped {
  const { href, topic } = topicOf(url)
  const actions = choices
    .slice(0, ntfyActionsAtMost)
    .map((one) => ({ action: 'view', label: labelOf(one), url: one.link }))
  return {
    ...{ url: href, type: json },
    body: {
      ...{ topic, title, message: text || title, click: link, priority },
      ...(actions.length > 0 && { actions }),
    },
  }
}

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text

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
  return cut(body, length)
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** A message as a CloudEvent. Fields that are undefined are not in its JSON. */
function cloudEvent(spaceId: string, message: Told, link: string, choices: Posted['choices']) {
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
    data: {
      ...{ id, from, type, priority, subject, body, threadId, replyTo, encrypted },
      link,
      choices,
    },
  }
}
