import { editDistance } from '../base/nearest.ts'
import { onDemand } from '../base/objects.ts'
import { conversations, knownTypes, typeOf } from './registry.ts'

/** A name without what only its spelling adds: `ShutdownRequest`, `SHUTDOWN-REQUEST` and `shutdown_request` are one. */
const spelling = (name: string): string => name.toLowerCase().replaceAll(/[-_]/g, '')

const bySpelling = onDemand(
  () =>
    new Map<string, string>(
      conversations.flatMap(({ messages }) =>
        Object.entries(messages).flatMap(([name, { aka = [] }]) =>
          [name, ...aka].map((one) => [spelling(one), name] as const),
        ),
      ),
    ),
)

/** The type that a name means: a known one however it is spelled, or what another system calls it; else the name. */
export const typeNamed = (name: string): string =>
  typeOf(name) === undefined ? (bySpelling().get(spelling(name)) ?? name) : name

/** Whether a type is one of those wanted, whatever they are called. */
export function isOfType(type: string, wanted: string | readonly string[]): boolean {
  const names = typeof wanted === 'string' ? [wanted] : wanted
  return names.includes(type) || names.some((name) => typeNamed(name) === typeNamed(type))
}

/** What a sender should know about the type it has given. */
export function warnOfType(given: string): string | undefined {
  const type = typeNamed(given)
  if (type !== given)
    return spelling(type) === spelling(given) ? undefined : `the type ${given} was taken as ${type}`
  if (typeOf(type) !== undefined) return undefined
  const near = nearTypes(type)
  return near.length === 0
    ? undefined
    : `${type} is not a known type, so it asks for nothing; did you mean ${near.join(' or ')}?`
}

const judged = new Map<string, string[]>()
const judgedLimit = 100

/** Known types that a name may have meant: cached, because a program sends the same type again and again. */
function nearTypes(name: string): string[] {
  const known = judged.get(name)
  if (known !== undefined) return known
  const near = knownTypes.filter((type) => isTypo(name, type) || isPart(name, type)).slice(0, 3)
  if (judged.size === judgedLimit) judged.clear()
  judged.set(name, near)
  return near
}

/** A type of one's own is often a few letters away from a short word such as text, so short names are none. */
const isTypo = (name: string, type: string): boolean =>
  editDistance(spelling(name), spelling(type)) <= Math.min(3, Math.floor(spelling(name).length / 5))

/** `status` is part of status_request, but `deploy_request` is a type of its own. */
function isPart(name: string, type: string): boolean {
  const words = type.split('_')
  return name
    .toLowerCase()
    .split(/[-_]/)
    .every((word) => words.includes(word))
}
