/** Where a record is that cannot be read. */
export interface UnreadableLine {
  segment: number
  /** Counted from 1. */
  line: number
}

const namedAtMost = 3

/** `1 record could not be read (segment 1, line 4)`. */
export function unreadableText(lines: readonly UnreadableLine[]): string {
  const places = lines.slice(0, namedAtMost).map(({ segment, line }) => `segment ${segment}, line ${line}`)
  const more = lines.length > namedAtMost ? [`${lines.length - namedAtMost} more`] : []
  const records = lines.length === 1 ? '1 record' : `${lines.length} records`
  return `${records} could not be read (${[...places, ...more].join('; ')})`
}

/** What to do about it. */
export const unreadableHint = 'run `mailbox verify`, then `mailbox repair`'
