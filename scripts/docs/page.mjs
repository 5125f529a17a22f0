const escapeHtml = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Only its own style and scripts: a page asks nothing of other sites. */
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:"

export function pageHtml({ address, title, html, headings }, menu, up) {
  const links = menu.map(({ title: group, pages }) => {
    const items = pages.map((page) => {
      const current = page.address === address ? ' aria-current="page"' : ''
      return `<li><a href="${up}${page.address}"${current}>${escapeHtml(page.title)}</a></li>`
    })
    return `<h2>${escapeHtml(group)}</h2>\n<ul>${items.join('')}</ul>`
  })
  const inside = headings
    .filter(({ depth }) => depth === 2)
    .map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`)
  const contents =
    inside.length > 2
      ? `<nav class="contents" aria-label="On this page"><ul>${inside.join('')}</ul></nav>`
      : ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escapeHtml(title)}${address === 'index.html' ? '' : ' · agent-mailbox'}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${up}site.css">
<script src="${up}search.js" defer></script>
<script src="${up}site.js" defer></script>
</head>
<body data-up="${up}">
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="home" href="${up}index.html">agent-mailbox</a>
<form role="search"><input type="search" placeholder="Search (/)" aria-label="Search the documentation" autocomplete="off"><ol class="found" hidden></ol></form>
</header>
<nav class="menu" aria-label="Pages"><details open><summary>Pages</summary>
${links.join('\n')}
</details></nav>
<main id="content">
${contents}${html}</main>
</body>
</html>
`
}
