/** A mock agent as it joins. */
export interface Part {
  name: string
  roles: readonly string[]
  tags: readonly string[]
  note: string
}

const part = (name: string, role: string, note: string, ...tags: string[]): Part => ({
  name,
  roles: [role],
  tags,
  note,
})

/** Nobody can be left out of the first eight; the others make it livelier. */
const named: readonly Part[] = [
  part(
    'bruno',
    'lead',
    'Plans the day, clears the way',
    'project:checkout',
    'project:search',
    'project:mobile',
  ),
  part(
    'ada',
    'architect',
    'How things fit together',
    'project:checkout',
    'project:search',
    'concern:performance',
  ),
  part('chen', 'worker', 'Payments and money', 'project:checkout'),
  part('dora', 'worker', 'Search and ranking', 'project:search', 'concern:performance'),
  part('goran', 'reviewer', 'Reads everything twice', 'concern:security'),
  part('ivo', 'tester', 'Breaks things politely', 'project:checkout', 'project:mobile'),
  part('june', 'docs', 'Says it in one sentence', 'project:mobile', 'project:search'),
  part(
    'kofi',
    'oncall',
    'Carries the pager',
    'concern:reliability',
    'concern:security',
    'concern:performance',
  ),
  part('nils', 'tester', 'Here for the morning', 'project:search'),
  part('hana', 'reviewer', 'Looks for what is missing', 'concern:performance', 'project:mobile'),
  part('emil', 'worker', 'Phones of all ages', 'project:mobile'),
  part('farah', 'worker', 'Wherever it burns', 'project:checkout', 'concern:reliability'),
]

const extras = [
  ...['oskar', 'pia', 'quinn', 'rosa', 'sami', 'tess', 'uma', 'viktor', 'wanda', 'xenia', 'yara', 'zeno'],
]
const extraRoles = ['worker', 'worker', 'reviewer', 'worker', 'tester', 'worker']
const projects = ['project:checkout', 'project:search', 'project:mobile']

export const fewestAgents = 8
export const mostAgents = 60
export const usualAgents = named.length

/** The first so many of the team; beyond those with a name of their own, more of the same trades. */
export function castOf(count: number): Part[] {
  const more = Array.from({ length: Math.max(0, count - named.length) }, (_, at) => {
    const name = extras[at] ?? `helper-${named.length + at + 1}`
    const role = extraRoles[at % extraRoles.length]!
    return part(name, role, 'Lends a hand', projects[at % projects.length]!)
  })
  return [...named.slice(0, count), ...more]
}
