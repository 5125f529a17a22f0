/** Up to three names that a typo could have meant; part of a name will do where it has four letters or more. */
export function nearest(name: string, candidates: readonly string[]): string[] {
  const wanted = name.toLowerCase()
  return candidates
    .map((candidate) => {
      const bare = candidate.replace(/^role:/, '').toLowerCase()
      const inside = bare.includes(wanted) || wanted.includes(bare)
      return {
        candidate,
        distance: Math.min(editDistance(wanted, bare), inside ? 1.5 : Number.POSITIVE_INFINITY),
      }
    })
    .filter(({ distance }) => distance <= Math.max(1, Math.min(3, Math.floor(wanted.length / 2))))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate)
}

/** Insertions, deletions, replacements and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1
      let best = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + same)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) best = Math.min(best, rows[i - 2]![j - 2]! + 1)
      row.push(best)
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}
