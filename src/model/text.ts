/**
 * Text from a message is untrusted. Before it reaches a terminal, everything that the terminal would obey is
 * removed: C0 except newline and tab, DEL, C1, and characters that reorder or hide text.
 */
const unsafe =
  /\r\n|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}\ud800-\udfff]/gu

/** Makes text safe for a terminal; what is removed leaves a visible mark. */
export function toPrintable(text: string): string {
  return text.replace(unsafe, (found) => (found === '\r\n' ? '\n' : mark(found)))
}

/** Invisible characters that can carry hidden text; they do no harm on a terminal. */
const hidden =
  /\u00ad|\u034f|\u115f|\u1160|\u17b4|\u17b5|[\u180b-\u180f]|[\u206a-\u206f]|\u3164|[\ufe00-\ufe0f]|\uffa0|[\u{1d173}-\u{1d17a}]|[\u{e0100}-\u{e01ef}]/gu

/** Removes everything that controls a terminal or hides or reorders characters, without leaving a mark. */
export const withoutControls = (text: string): string =>
  text.replace(unsafe, (found) => (found === '\r\n' ? '\n' : '')).replace(hidden, '')

function mark(char: string): string {
  const code = char.charCodeAt(0)
  return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? '\u2421' : '\ufffd'
}

/** The same on one line, for tables. */
export const toPrintableLine = (text: string): string =>
  toPrintable(text)
    .replace(/[\n\t]+/g, ' ')
    .trim()

/** A rough count: a token is about four characters of English, fewer of most other scripts. */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4)
