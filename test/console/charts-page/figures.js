// Traffic, a thread and figures of the size that the address asks for, the same every time.
const people = [
  'ada',
  'bruno',
  'chen',
  'dora',
  'emil',
  'farah',
  'goran',
  'hana',
  'ivo',
  'june',
  'kofi',
  'lena',
]
const types = ['request', 'response', 'handoff', 'plan_submission', 'plan_approval', 'status_update', 'text']
const subjects = [
  'Retry budget for the importer',
  'Which schema do the invoices follow?',
  'Flaky test in the ledger suite',
  'Plan: split the settlement job',
  'Migration is through on staging, please check the totals before noon',
  'Docs for the new flag',
]

function chance(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

export function traffic(count) {
  const next = chance(count)
  const agents = Array.from({ length: count }, (_, at) => ({
    name: at < people.length ? people[at] : `swarm-${Math.floor(at / 20)}/worker-${at}`,
    state: at % 11 === 10 ? 'dead' : 'alive',
    roles: [],
  }))
  agents.push({ name: 'user', state: 'alive', roles: [] })
  const groups = ['role:reviewer', 'project:ledger', 'all']
  const pairs = new Map()
  const add = (from, to, messages) => {
    if (from !== to) pairs.set(`${from} ${to}`, { from, to, messages })
  }
  for (const [at, { name }] of agents.entries()) {
    add(name, agents[0].name, 1 + Math.floor(next() * 12))
    add(agents[Math.floor(at / 6)].name, name, 1 + Math.floor(next() * 20))
    if (at % 3 === 0) add(name, groups[(at / 3) % groups.length], 1 + Math.floor(next() * 5))
    if (at > 2) add(name, agents[Math.floor(next() * at)].name, 1 + Math.floor(next() * 30))
  }
  return { agents, pairs: [...pairs.values()] }
}

export function thread(count) {
  const next = chance(7)
  const cast = people.slice(0, Math.min(7, 2 + Math.ceil(count / 4)))
  const at = (index) => new Date(Date.UTC(2026, 2, 2, 8, 0) + index * 61_000).toISOString()
  return Array.from({ length: count }, (_, index) => {
    const from = cast[Math.floor(next() * cast.length)]
    const other = cast[(cast.indexOf(from) + 1 + Math.floor(next() * (cast.length - 1))) % cast.length]
    const answers = index > 0 && next() < 0.5
    const toRole = next() < 0.15
    const toAll = next() < 0.06
    const to = toAll ? 'all' : toRole ? 'role:reviewer' : other
    const state = ['stored', 'shown', 'processing', 'completed', 'failed'][Math.floor(next() * 5)]
    const receipts = toAll
      ? cast.filter((name) => name !== from).map((name) => ({ owner: name, box: name, state: 'shown' }))
      : [{ owner: to, box: toRole && state !== 'stored' ? other : to, state }]
    return {
      id: `m${index}`,
      from,
      to: [to],
      type: toAll ? 'broadcast' : types[Math.floor(next() * types.length)],
      subject: subjects[Math.floor(next() * subjects.length)],
      createdAt: at(index),
      priority: next() < 0.08 ? 'urgent' : 'normal',
      ...(answers ? { replyTo: `m${Math.max(0, index - 1 - Math.floor(next() * 3))}` } : {}),
      receipts,
    }
  })
}

export function series(count) {
  const next = chance(3)
  return Array.from({ length: count }, (_, index) => {
    const load = 20 + 18 * Math.sin(index / 5) + 8 * next()
    const quiet = index > 20 && index < 26
    return {
      at: new Date(Date.UTC(2026, 2, 2, 8, 0) + index * 300_000).toISOString(),
      sent: quiet ? 0 : Math.round(load),
      handled: quiet ? 0 : Math.round(load * (0.7 + 0.3 * next())),
      pending: Math.round(10 + 6 * Math.cos(index / 6)),
      p50Ms: quiet ? null : 400 + 200 * next(),
      p95Ms: quiet ? null : 1_800 + 900 * next(),
      p99Ms: quiet ? null : 4_000 + 2_500 * next(),
    }
  })
}
