import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** A page that a running transaction has changed, as it was before. */
export interface OriginalPage {
  number: number
  content: Buffer
}

const magic = 'd9d505f920a163d7'
const headerBytes = 28
/** A page number before the content, a checksum after it. */
const framing = 8
const pagesAtOnce = 64

/**
 * The pages that the running transaction has changed, from SQLite's rollback journal
 * (https://sqlite.org/fileformat2.html#the_rollback_journal): each page is there before it changes. Pages that
 * were added, and pages taken from the list of free ones, are not. Undefined if the file is not as expected.
 */
export function originalPages(path: string): OriginalPage[] | undefined {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    if (size === 0) return []
    const header = Buffer.alloc(headerBytes)
    readSync(fd, header, 0, headerBytes, 0)
    if (header.toString('hex', 0, 8) !== magic) return undefined
    const start = header.readUInt32BE(20)
    const recordBytes = header.readUInt32BE(24) + framing
    const pages: OriginalPage[] = []
    for (let at = start; at < size; at += pagesAtOnce * recordBytes) {
      const slice = Buffer.alloc(Math.min(pagesAtOnce * recordBytes, size - at))
      if (readSync(fd, slice, 0, slice.length, at) !== slice.length) return undefined
      for (let from = 0; from + recordBytes <= slice.length; from += recordBytes)
        pages.push({
          number: slice.readUInt32BE(from),
          content: slice.subarray(from + 4, from + recordBytes - 4),
        })
    }
    return pages
  } finally {
    closeSync(fd)
  }
}
