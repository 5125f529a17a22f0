import DOMPurify from 'dompurify'
import { Marked, type Tokens } from 'marked'

/**
 * Renders untrusted Markdown. Three layers of defence: HTML in it becomes text, links may only use a few
 * schemes, and DOMPurify passes a short list of elements. DOMPurify's trusted-types policy is the only one the
 * page allows, so no other code can write HTML.
 */
const allowedTags = [
  ...['p', 'br', 'hr', 'strong', 'em', 'del', 'code', 'pre', 'blockquote', 'ul', 'ol', 'li', 'a', 'span'],
  ...['h3', 'h4', 'h5', 'h6', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
]
const webLink = /^(?:https?:\/\/|mailto:)/i

const escaped = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)

const marked = new Marked({
  gfm: true,
  breaks: true,
  async: false,
  renderer: {
    html: ({ text }: Tokens.HTML | Tokens.Tag) => escaped(text),
    // Below the headings of the page.
    heading({ tokens, depth }) {
      const level = Math.min(6, depth + 2)
      return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`
    },
    // Loading an image would contact another server, so it becomes a link.
    image: ({ href, text }) => link(href, escaped(text === '' ? 'image' : `image: ${text}`)),
    link({ href, tokens }) {
      return link(href, this.parser.parseInline(tokens))
    },
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    code: ({ text }) => `<pre tabindex="0"><code>${escaped(text)}</code></pre>\n`,
  },
})

const link = (href: string, inner: string): string =>
  webLink.test(href.trim()) ? `<a href="${escaped(href.trim())}">${inner}</a>` : `<span>${inner}</span>`

const purifier = DOMPurify(window)
purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName !== 'A') return
  const href = node.getAttribute('href') ?? ''
  if (!webLink.test(href)) node.removeAttribute('href')
  node.setAttribute('target', '_blank')
  node.setAttribute('rel', 'noopener noreferrer nofollow')
  node.setAttribute('title', href)
})

export function renderMarkdown(text: string): DocumentFragment {
  return purifier.sanitize(marked.parse(text) as string, {
    ALLOWED_TAGS: allowedTags,
    ALLOWED_ATTR: ['href', 'start', 'tabindex'],
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  })
}
