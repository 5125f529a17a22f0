const characters: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\x03': 'interrupt',
  '\x1a': 'suspend',
  '\x0c': 'redraw',
  '\x15': 'clear',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\t': 'down',
  '\x1b': 'escape',
}
const sequences: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  F: 'end',
  H: 'home',
  '1~': 'home',
  '4~': 'end',
  '5~': 'page-up',
  '6~': 'page-down',
}

const esc = String.fromCharCode(27)
const parts = new RegExp(`${esc}[[O][\\d;]*[A-Za-z~]|${esc}|[^${esc}]`, 'gu')

/** The keys in what a terminal has sent: a character is itself, everything else has a name. */
export function keysIn(sent: string): string[] {
  return (sent.match(parts) ?? []).flatMap((part) => {
    const isSequence = part.startsWith(esc) && part.length > 1
    const name = isSequence ? sequences[part.slice(2)] : characters[part]
    if (name !== undefined) return [name]
    // A key that nobody knows does nothing.
    return /^\P{Cc}$/u.test(part) ? [part] : []
  })
}
