import { Marked } from 'marked'

const escapeHtml = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** The anchor of a heading, as GitHub makes it, so that links work in both places. */
const slugOf = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const plain = (tokens) =>
  tokens.map((token) => (token.tokens ? plain(token.tokens) : (token.text ?? ''))).join('')

/** A Markdown page as HTML, with its title, its headings and its text by section for the search. */
export function renderPage(markdown, resolveLink) {
  const sections = [{ id: '', heading: '', text: '' }]
  const headings = []
  const used = new Map()
  let title = ''
  const renderer = {
    heading({ tokens, depth }) {
      const text = plain(tokens)
      const slug = slugOf(text)
      const count = used.get(slug) ?? 0
      used.set(slug, count + 1)
      const id = count === 0 ? slug : `${slug}-${count}`
      if (depth === 1 && title === '') title = text
      else {
        sections.push({ id, heading: text, text: '' })
        if (depth <= 3) headings.push({ id, text, depth })
      }
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}<a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`
    },
    link({ href, tokens }) {
      return `<a href="${escapeHtml(resolveLink(href))}">${this.parser.parseInline(tokens)}</a>`
    },
    image({ href, text }) {
      return `<img src="${escapeHtml(resolveLink(href))}" alt="${escapeHtml(text)}" loading="lazy">`
    },
    table(token) {
      const row = (cells, tag) =>
        `<tr>${cells.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`
      const head = token.header.some(({ text }) => text !== '')
        ? `<thead>${row(token.header, 'th')}</thead>`
        : ''
      const rows = token.rows.map((cells) => row(cells, 'td')).join('\n')
      return `<div class="table" tabindex="0" role="region" aria-label="Table"><table>${head}<tbody>${rows}</tbody></table></div>\n`
    },
    code({ text, lang }) {
      return `<pre tabindex="0"><code${lang ? ` data-language="${escapeHtml(lang)}"` : ''}>${escapeHtml(text)}</code></pre>\n`
    },
    // Comments for those who edit a page, and pictures by theme.
    html({ text }) {
      return /^\s*<!--/.test(text)
        ? ''
        : text.replace(/ (src|srcset)="([^"]*)"/g, (_, name, href) => ` ${name}="${resolveLink(href)}"`)
    },
  }
  const marked = new Marked({ renderer })
  const html = marked.parse(markdown)
  // What is between two headings, in the same order.
  const texts = html.split(/<h[1-6] id="[^"]*">/)
  let at = 0
  for (const [index, part] of texts.entries()) {
    const text = part
      .replace(/^[\s\S]*?<\/h[1-6]>/, (head) => (index === 0 ? head : ''))
      .replace(/<[^>]+>/g, ' ')
      .replace(
        /&(amp|lt|gt|quot|#39);/g,
        (_, name) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[name],
      )
      .replace(/\s+/g, ' ')
      .trim()
    // The title of the page is the heading of its first section.
    if (index > 1 || (index === 1 && title === '')) at++
    if (sections[at] !== undefined) sections[at].text += text
  }
  return {
    html,
    title,
    headings,
    sections: sections.filter(({ heading, text }) => heading !== '' || text !== ''),
  }
}
