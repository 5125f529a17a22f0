/** A mock agent as it joins. */
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

/** Nobody can be left out of the first eight; the others make it livelier. */
const named: readonly Member[] = [
  member(
    'bruno',
    'lead',
    'Plans the day, clears the way',
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
  member('chen', 'worker', 'Payments and money', 'project:checkout'),
  member('dora', 'worker', 'Search and ranking', 'project:search', 'concern:performance'),
  member('goran', 'reviewer', 'Reads everything twice', 'concern:security'),
  member('ivo', 'tester', 'Breaks things politely', 'project:checkout', 'project:mobile'),
  member('june', 'docs', 'Says it in one sentence', 'project:mobile', 'project:search'),
  member(
    'kofi',
    'oncall',
    'Carries the pager',
    'concern:reliability',
    'concern:security',
    'concern:performance',
  ),
  member('nils', 'tester', 'Here for the morning', 'project:search'),
  member('hana', 'reviewer', 'Looks for what is missing', 'concern:performance', 'project:mobile'),
  member('emil', 'worker', 'Phones of all ages', 'project:mobile'),
  member('farah', 'worker', 'Wherever it burns', 'project:checkout', 'concern:reliability'),
]

const extras = [
  ...['oskar', 'pia', 'quinn', 'rosa', 'sami', 'tess', 'uma', 'viktor', 'wanda', 'xenia', 'yara', 'zeno'],
]
const extraRoles = ['worker', 'worker', 'reviewer', 'worker', 'tester', 'worker']
const projects = ['project:checkout', 'project:search', 'project:mobile']

export const minAgents = 8
export const maxAgents = 60
export const defaultAgents = named.length

/** The first so many of the team; beyond those with a name of their own, more of the same roleBehaviours. */
export function teamOf(count: number): Member[] {
  const more = Array.from({ length: Math.max(0, count - named.length) }, (_, at) => {
    const name = extras[at] ?? `helper-${named.length + at + 1}`
    const role = extraRoles[at % extraRoles.length]!
    return member(name, role, 'Lends a hand', projects[at % projects.length]!)
  })
  return [...named.slice(0, count), ...more]
}
