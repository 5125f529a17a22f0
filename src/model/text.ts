import { onDemand } from '../base/objects.ts'

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

/**
 * Invisible characters that can carry hidden text; they do no harm on a terminal. Every format character and every one
 * that need not be shown, but the few of Arabic, Syriac and Kaithi that are formats of what follows and are seen.
 */
const hidden = onDemand(
  () =>
    /(?![\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}])[\p{Cf}\p{Default_Ignorable_Code_Point}\ufffc\u{13430}-\u{1345f}]/gu,
)

/** Removes what is invisible and can carry hidden text. */
export const withoutHidden = (text: string): string => text.replace(hidden(), '')

/** Removes everything that controls a terminal or hides or reorders characters, without leaving a mark. */
export const withoutControls = (text: string): string =>
  withoutHidden(text.replace(unsafe, (found) => (found === '\r\n' ? '\n' : '')))

/** JSON that is harmless on a terminal: what is unsafe there is escaped, so that the value stays the same. */
export const toSafeJson = (value: unknown): string =>
  JSON.stringify(value).replace(unsafe, (found) => escaped(found))

const escaped = (text: string): string =>
  text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

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
