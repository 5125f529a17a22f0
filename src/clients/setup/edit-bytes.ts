import { MailboxError } from '../../base/errors.ts'

const bom = '\ufeff'

/** Applies an edit to a file's bytes. Anything but UTF-8 is refused; a byte order mark is kept. */
export function editBytes(bytes: Buffer | undefined, edit: (text: string) => string): Buffer {
  const text = decode(bytes ?? Buffer.alloc(0))
  const mark = text.startsWith(bom) ? bom : ''
  return Buffer.from(mark + edit(text.slice(mark.length)))
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new MailboxError('invalid', 'it is not UTF-8', { cause, hint: 'convert it: iconv -t UTF-8' })
  }
}

/** Whether a settings file is empty, without even a comment. */
export const isBlank = (bytes: Buffer): boolean => /^\ufeff?\s*(\{\s*\})?\s*$/.test(bytes.toString('utf8'))
