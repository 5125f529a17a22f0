import { isObject } from '../base/objects.ts'

/** Where a bridge has brought a message from. Its sender is the word of whoever wrote it there. */
export type Origin = {
  /** The format of the other system, such as `ao`. */
  format: string
  /** The folder that is bridged. */
  path: string
  /** What the message is called there. */
  id: string
  /** When it was written, as it says there. */
  at?: string
  /** Its type there, if that is another word than here. */
  type?: string
  /** What it is there, word for word, if it cannot be written again from the fields of the message. */
  raw?: string
}

export function describeOrigin(value: unknown): string {
  const { format, path, id } = (isObject(value) ? value : {}) as Partial<Origin>
  return `${format} in ${path}, where it is ${id}`
}
