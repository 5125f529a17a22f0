/**
 * Which file has the lines of a segment: that of its number, unless files were swapped. Everything else knows segments
 * by the number that they were written under, so that places stay true when the files are swapped back.
 */
export class SegmentOrder {
  /** Only those that are not in their place. */
  #files = new Map<number, number>()
  /** Rises when the order changes. */
  version = 0

  fileOf(segment: number): number {
    return this.#files.get(segment) ?? segment
  }

  forget(): void {
    this.#set(new Map())
  }

  /**
   * Finds out which file follows which, by the seq that each begins with; `firstSeq` is undefined for a file that is
   * not ours or does not tell. Returns whether the order is another than before.
   */
  find(files: readonly number[], firstSeq: (file: number) => number | undefined): boolean {
    const known = files.flatMap((file) => {
      const seq = firstSeq(file)
      return seq === undefined ? [] : { file, seq }
    })
    const sorted = known.toSorted((a, b) => a.seq - b.seq || a.file - b.file)
    const found = new Map<number, number>()
    for (const [at, { file: segment }] of known.entries())
      if (sorted[at]!.file !== segment) found.set(segment, sorted[at]!.file)
    return this.#set(found)
  }

  #set(found: Map<number, number>): boolean {
    const isSame =
      found.size === this.#files.size && [...found].every(([segment, file]) => this.fileOf(segment) === file)
    if (isSame) return false
    this.#files = found
    this.version++
    return true
  }
}
