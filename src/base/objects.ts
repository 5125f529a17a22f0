export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What was given, without what is undefined. */
export function given<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept: Record<string, unknown> = {}
  for (const name in values) if (values[name] !== undefined) kept[name] = values[name]
  return kept as never
}

/** Makes a value when it is first asked for: a command lives for 50 ms, and most need few of them. */
export function onDemand<T>(make: () => T): () => T {
  const made: T[] = []
  return () => {
    if (made.length === 0) made.push(make())
    return made[0]!
  }
}
