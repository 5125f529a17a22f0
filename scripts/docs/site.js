// The search of the documentation. `sections` is in search.js: [address, page, heading, text].
const input = document.querySelector('input[type=search]')
const list = document.querySelector('.found')
const { up } = document.body.dataset
const mostFound = 12

const lower = (text) => text.toLowerCase()

/** Sections that have every word, the heading counting more than the text. */
function find(query) {
  const words = lower(query).split(/\s+/).filter(Boolean)
  if (words.length === 0) return []
  return sections
    .map(([address, page, heading, text]) => {
      const [inPage, inHeading, inText] = [page, heading, text].map(lower)
      let score = 0
      for (const word of words) {
        const own =
          (inHeading.includes(word) ? 6 : 0) +
          (inPage.includes(word) ? 3 : 0) +
          (inText.includes(word) ? 1 : 0)
        if (own === 0) return { score: 0 }
        score += own
      }
      return { score, address, page, heading, text, words }
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, mostFound)
}

/** The part of a text that has the first of the words. */
function excerpt(text, words) {
  const at = Math.max(0, ...words.map((word) => lower(text).indexOf(word)))
  return `${at > 40 ? '… ' : ''}${text.slice(Math.max(0, at - 40), at + 110)} …`
}

function show() {
  const found = find(input.value)
  list.replaceChildren(
    ...found.map(({ address, page, heading, text, words }) => {
      const link = document.createElement('a')
      link.href = up + address
      const title = document.createElement('strong')
      title.textContent = heading === '' || heading === page ? page : `${page}: ${heading}`
      const about = document.createElement('span')
      about.textContent = excerpt(text, words)
      link.append(title, about)
      const item = document.createElement('li')
      item.append(link)
      return item
    }),
  )
  if (found.length === 0 && input.value.trim() !== '') {
    const none = document.createElement('li')
    none.textContent = 'Nothing found'
    list.append(none)
  }
  list.hidden = input.value.trim() === ''
}

input.addEventListener('input', show)
input.form.addEventListener('submit', (event) => {
  event.preventDefault()
  list.querySelector('a')?.click()
})
document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement
  if (event.key === '/' && !isTyping) {
    event.preventDefault()
    input.focus()
  } else if (event.key === 'Escape') {
    input.value = ''
    show()
    input.blur()
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const links = [...list.querySelectorAll('a')]
    if (links.length === 0) return
    event.preventDefault()
    const at = links.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)
    ;(links[at] ?? input).focus()
  }
})
// The list of pages is folded where it would push the page away.
const narrow = matchMedia('(max-width: 800px)')
const showMenu = () => {
  document.querySelector('.menu details').open = !narrow.matches
}
showMenu()
narrow.addEventListener('change', showMenu)
