import { titleOf, wordsOf } from '../../../src/conversation/words.ts'
import type { ThreadMessage } from '../data/types.ts'
import { block, line, subjectOf } from '../lib/text.ts'
import { fullTime } from '../lib/time.ts'
import { renderMarkdown } from './markdown-render.ts'

const headOf = ({ from, to }: ThreadMessage): string => `${line(from)} to ${to.map(line).join(', ')}`

const style = `body{font:15px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1f1d1a}
article{border-top:1px solid #dfdbd3;padding:1rem 0}header{color:#57534b;font-size:.9em}
pre{padding:.75rem;background:#f5f3ef;overflow:auto}code{font-family:ui-monospace,monospace}
table{border-collapse:collapse}td,th{border:1px solid #dfdbd3;padding:.2rem .5rem}
blockquote{margin:0;padding-left:1rem;border-left:3px solid #dfdbd3}dt{font-weight:600}dd{margin:0 0 .4rem}`

function toMarkdown(messages: readonly ThreadMessage[], title: string): string {
  const parts = messages.map((message) => {
    const { body, facts, others } = wordsOf(message)
    const more = [...facts, ...others].map(({ label, text }) => `- **${line(label)}**: ${line(text)}`)
    const files = message.attachments.map((file) => `- \`${line(file)}\``)
    return [
      `## ${headOf(message)}`,
      `${fullTime(message.createdAt)} · ${message.id}`,
      block(body),
      ...more,
      ...files,
    ]
      .filter((part) => part !== '')
      .join('\n\n')
  })
  return [`# ${title}`, ...parts].join('\n\n').concat('\n')
}

/** A document without scripts, built from text and from Markdown that was cleaned. */
function toHtml(messages: readonly ThreadMessage[], title: string): string {
  const page = document.implementation.createHTMLDocument(title)
  const add = (parent: Element, name: string, text = '') => {
    const element = page.createElement(name)
    element.textContent = text
    parent.append(element)
    return element
  }
  const charset = add(page.head, 'meta')
  charset.setAttribute('charset', 'utf-8')
  add(page.body, 'h1', title)
  for (const message of messages) {
    const { body, facts, others } = wordsOf(message)
    const article = add(page.body, 'article')
    add(article, 'header', `${headOf(message)} · ${fullTime(message.createdAt)}`)
    article.append(page.importNode(renderMarkdown(body), true))
    const list = [...facts, ...others]
    if (list.length > 0) {
      const all = add(article, 'dl')
      for (const { label, text } of list) {
        add(all, 'dt', line(label))
        add(all, 'dd', line(text))
      }
    }
    for (const file of message.attachments) add(article, 'p', line(file))
  }
  // As text: the policy of this page would apply to a style element, even in a document that is not shown.
  const html = page.documentElement.outerHTML.replace('</head>', () => `<style>${style}</style></head>`)
  return `<!doctype html>\n${html}\n`
}

/** Downloads a thread as one file that needs nothing else. */
export function downloadThread(messages: readonly ThreadMessage[], kind: 'md' | 'html'): void {
  const title = subjectOf(titleOf(messages[0]!))
  const text = kind === 'md' ? toMarkdown(messages, title) : toHtml(messages, title)
  const name =
    title
      .replace(/[^\p{L}\p{N}]+/gu, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 60) || 'thread'
  const url = URL.createObjectURL(new Blob([text], { type: kind === 'md' ? 'text/markdown' : 'text/html' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name}.${kind}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
