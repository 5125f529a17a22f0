/** What a mock agent joins with. */
export interface Member {
  name: string
  role: string
  note: string
  tags: string[]
}

function member(name: string, role: string, note: string, ...tags: string[]): Member {
  return { name, role, note, tags }
}

const [checkout, search, mobile] = ['project:checkout', 'project:search', 'project:mobile'] as const
const [performance, reliability] = ['concern:performance', 'concern:reliability'] as const
const security = 'concern:security'

/** The first eight are needed; the others make it livelier. */
const named: readonly Member[] = [
  member('bruno', 'lead', 'Plans the day, unblocks people', checkout, search, mobile),
  member('ada', 'architect', 'How things fit together', checkout, search, performance),
  member('chen', 'worker', 'Payments and billing', checkout),
  member('dora', 'worker', 'Search and ranking', search, performance),
  member('goran', 'reviewer', 'Reads everything twice', security),
  member('ivo', 'tester', 'Breaks things politely', checkout, mobile),
  member('june', 'docs', 'Documentation', mobile, search),
  member('kofi', 'oncall', 'Carries the pager', reliability, security, performance),
  member('nils', 'tester', 'On loan until noon', search),
  member('hana', 'reviewer', 'Looks for what is missing', performance, mobile),
  member('emil', 'worker', 'Mobile app, old phones', mobile),
  member('farah', 'worker', 'Firefighting', checkout, reliability),
]

const extraNames = 'oskar pia quinn rosa sami tess uma viktor wanda xenia yara zeno'.split(' ')
const extraRoles = ['worker', 'worker', 'reviewer', 'worker', 'tester', 'worker']
const projects = [checkout, search, mobile]

export const minAgents = 8
export const maxAgents = 60
export const defaultAgents = named.length

/** A team of this size: the named members first, then more with the same roles. */
export function teamOf(count: number): Member[] {
  const more = Array.from({ length: Math.max(0, count - named.length) }, (_, at) => {
    const name = extraNames[at] ?? `helper-${named.length + at + 1}`
    const role = extraRoles[at % extraRoles.length]!
    return member(name, role, 'Helps out', projects[at % projects.length]!)
  })
  return [...named.slice(0, count), ...more]
}
