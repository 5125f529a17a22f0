import { packed } from './confusable-characters.ts'

/** Characters and what they look like, for text in NFKD. Unpacked when it is first needed. */
export const confusables = (): ReadonlyMap<string, string> => {
  unpacked ??= unpack()
  return unpacked
}
let unpacked: Map<string, string> | undefined

/** As scripts/confusables.mjs has packed them: see there. */
function unpack(): Map<string, string> {
  const looks = new Map<string, string>()
  for (const group of packed.replaceAll('\n', '').split(' ')) {
    const [target = '', steps = ''] = group.split(':')
    const look = String.fromCodePoint(...target.split('+').map((code) => Number.parseInt(code, 36)))
    let char = 0
    for (const step of steps.split(',')) {
      char += Number.parseInt(step, 36)
      looks.set(String.fromCodePoint(char), look)
    }
  }
  return looks
}
