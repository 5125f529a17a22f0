import { computed } from '@preact/signals'
import { boxOfTag } from '../../../src/model/address.ts'
import { get } from '../data/api.ts'
import { Resource } from '../data/resource.ts'
import type { Entry, Overview, RosterAgent } from '../data/types.ts'
import { boxOf, isTag } from '../lib/address.ts'

/** What the frame shows: agents, channels and counts. */
export const overview = new Resource<Overview>({
  load: (_, signal) => get<Overview>('/api/overview', {}, signal),
  apply: (data, entries) => {
    // The answer may include entries that the stream has not delivered yet.
    const fresh = entries.filter(({ seq }) => seq > data.seq)
    const changed = { ...fresh.reduce(applyToOverview, data), seq: fresh.at(-1)?.seq ?? data.seq }
    // Counts of unread mail and open requests depend on more than one entry.
    return { data: changed, stale: entries.some(({ kind }) => kind !== 'segment' && kind !== 'torn') }
  },
})

function applyToOverview(data: Overview, entry: Entry): Overview {
  if (entry.kind === 'agent') {
    const known = data.agents.find(({ name }) => name === entry.agent.name)
    const agent: RosterAgent = { ...(known?.waitingFor && { waitingFor: known.waitingFor }), ...entry.agent }
    const others = data.agents.filter(({ name }) => name !== agent.name)
    return { ...data, agents: [...others, agent].sort((a, b) => (a.name < b.name ? -1 : 1)) }
  }
  if (entry.kind !== 'message') return data
  const { message } = entry
  const tags = new Set([...message.tags.map(boxOfTag), ...message.to.map(boxOf).filter(isTag)])
  const channels = data.channels.map((channel) =>
    tags.delete(channel.tag)
      ? { ...channel, messages: channel.messages + 1, lastAt: message.createdAt }
      : channel,
  )
  const fresh = [...tags].map((tag) => ({ tag, messages: 1, lastAt: message.createdAt }))
  return {
    ...data,
    channels: [...channels, ...fresh],
    totals: { ...data.totals, messages: data.totals.messages + 1 },
  }
}

export const agentsByName = computed(
  () => new Map((overview.data.value?.agents ?? []).map((agent) => [agent.name, agent])),
)

/** All addresses, for fields that take one. */
export const addresses = computed(() => {
  const { agents = [], channels = [] } = overview.data.value ?? {}
  const living = agents.filter(({ name, state }) => name !== 'user' && state !== 'dead')
  const roles = new Set(living.flatMap((agent) => agent.roles.map((role) => `role:${role}`)))
  const tags = new Set([
    ...living.flatMap((agent) => agent.tags.map(boxOfTag)),
    ...channels.map(({ tag }) => tag),
  ])
  return [...living.map(({ name }) => name), ...[...roles].sort(), ...[...tags].sort(), 'all']
})
