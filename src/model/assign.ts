/** How mail to a role finds its agent: whoever comes first takes it, or it is offered to the least busy holder first. */
const ways = ['queue', 'least-busy'] as const
type Way = (typeof ways)[number]

interface Assignment {
  usual: Way
  byRole: ReadonlyMap<string, Way>
  /** Whether mail to any role is offered. */
  offersAny: boolean
}

/** Reads `least-busy`, or `ci=least-busy, review=queue`. Undefined if it is neither. */
function parseAssign(text: string): Assignment | undefined {
  const byRole = new Map<string, Way>()
  let usual: Way | undefined
  for (const part of text.split(',').map((word) => word.trim())) {
    const [role, written, ...more] = part.includes('=') ? part.split('=') : ['', part]
    const way = ways.find((one) => one === written?.trim())
    const name = role!.trim()
    const isTwice = name === '' ? usual !== undefined : byRole.has(name)
    if (way === undefined || more.length > 0 || isTwice || (name === '' && part.includes('=')))
      return undefined
    if (name === '') usual = way
    else byRole.set(name, way)
  }
  return { usual: usual ?? 'queue', byRole, offersAny: [usual, ...byRole.values()].includes('least-busy') }
}

export const isAssign = (value: unknown): value is string =>
  typeof value === 'string' && parseAssign(value) !== undefined

const parsed = new Map<string, Assignment | undefined>()

/** Whether mail to a role is offered to its least busy holder first; without a role, whether any is. */
export function offersMail(setting: string, role?: string): boolean {
  if (!parsed.has(setting)) parsed.set(setting, parseAssign(setting))
  const assignment = parsed.get(setting)
  if (assignment === undefined) return false
  const { usual, byRole, offersAny } = assignment
  return role === undefined ? offersAny : (byRole.get(role) ?? usual) === 'least-busy'
}
