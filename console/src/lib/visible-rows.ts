/** Where each row starts; the last number is where the list ends. */
export function startsOf(heights: readonly number[]): number[] {
  const starts = [0]
  for (const height of heights) starts.push(starts.at(-1)! + height)
  return starts
}

/** The rows that can be seen, from the first to behind the last, and some beyond the edges. */
export function rangeIn(
  starts: readonly number[],
  top: number,
  height: number,
  overscan: number,
): [first: number, last: number] {
  const count = starts.length - 1
  const first = Math.max(0, rowAt(starts, top) - overscan)
  const last = Math.min(count, rowAt(starts, top + height) + 1 + overscan)
  return [Math.min(first, last), last]
}

/** The last row that starts at or above a place. */
function rowAt(starts: readonly number[], place: number): number {
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (starts[middle]! <= place) low = middle
    else high = middle - 1
  }
  return low
}
