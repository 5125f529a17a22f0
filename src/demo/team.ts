/** What a mock agent joins with. */
export interface Member {
  name: string
  roles: readonly string[]
  tags: readonly string[]
  note: string
}

const member = (name: string, role: string, note: string, ...tags: string[]): Member => ({
  name,
  roles: [role],
  tags,
  note,
})

/** The first eight are needed; the others make it livelier. */
const named: readonly Member[] = [
  member(
    'bruno',
    'lead',
    'Plans the day, unblocks people',
    'project:checkout',
    'project:search',
    'project:mobile',
  ),
  member(
    'ada',
    'architect',
    'How things fit together',
    'project:checkout',
    'project:search',
    'concern:performance',
  ),
  member('chen', 'worker', 'Payments and billing', 'project:checkout'),
  member('dora', 'worker', 'Search and ranking', 'project:search', 'concern:performance'),
  member('goran', 'reviewer', 'Reads everything twice', 'concern:security'),
  member('ivo', 'tester', 'Breaks things politely', 'project:checkout', 'project:mobile'),
  member('june', 'docs', 'Documentation', 'project:mobile', 'project:search'),
  member(
    'kofi',
    'oncall',
    'Carries the pager',
    'concern:reliability',
    'concern:security',
    'concern:performance',
  ),
  member('nils', 'tester', 'On loan until noon', 'project:search'),
  member('hana', 'reviewer', 'Looks for what is missing', 'concern:performance', 'project:mobile'),
  member('emil', 'worker', 'Mobile app, old phones', 'project:mobile'),
  member('farah', 'worker', 'Firefighting', 'project:checkout', 'concern:reliability'),
]

const extras = [
  ...['oskar', 'pia', 'quinn', 'rosa', 'sami', 'tess', 'uma', 'viktor', 'wanda', 'xenia', 'yara', 'zeno'],
]
const extraRoles = ['worker', 'worker', 'reviewer', 'worker', 'tester', 'worker']
const projects = ['project:checkout', 'project:search', 'project:mobile']

export const minAgents = 8
export const maxAgents = 60
export const defaultAgents = named.length

/** A team of this size: the named members first, then more with the same roles. */
export function teamOf(count: number): Member[] {
  const more = Array.from({ length: Math.max(0, count - named.length) }, (_, at) => {
    const name = extras[at] ?? `helper-${named.length + at + 1}`
    const role = extraRoles[at % extraRoles.length]!
    return member(name, role, 'Helps out', projects[at % projects.length]!)
  })
  return [...named.slice(0, count), ...more]
}
