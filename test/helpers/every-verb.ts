import { join } from 'node:path'
import { openDisk } from '../../src/space/open.ts'

/** The messages of the scene that verbs are about. */
export interface SceneIds {
  /** From bob to ada, unread. */
  unread: string
  /** From ada to bob, unread. */
  sent: string
  /** From lead to ada, shown to her. */
  shown: string
  /** To role:worker, unclaimed. */
  task: string
  /** To role:worker, claimed by bob. */
  claimed: string
  /** Ada could not do it. */
  failed: string
  /** From ada to an agent that has left. */
  dead: string
  /** Lines of `export` from another space. */
  exported: string
}

/** A small space in which every verb has something to do: four agents, mail in every state, three segments. */
export async function createScene(dir: string): Promise<SceneIds> {
  const settings = { 'retention.segmentEntries': 12, durability: 'os' } as const
  await using space = await openDisk({ dir, settings })
  const ada = await space.mailbox('ada', { join: { roles: ['architect'], tags: ['project:x'] } })
  const bob = await space.mailbox('bob', { join: { roles: ['worker'] } })
  const lead = await space.mailbox('lead', { join: { roles: ['lead'] } })
  const cleo = await space.mailbox('cleo')
  const body = 'Some words about it. '.repeat(20)
  const { id: shown } = await lead.send({ to: 'ada', subject: 'shown', body, requiresAck: true })
  const { id: failed } = await lead.send({ to: 'ada', subject: 'failed', body })
  await ada.check({ budgetTokens: 10_000 })
  await ada.fail(failed, { reason: 'no time' })
  const { id: claimed } = await lead.send({ to: 'role:worker', subject: 'claimed', body })
  await bob.claim(claimed)
  const { id: dead } = await ada.send({ to: 'cleo', subject: 'dead', body })
  await cleo.leave()
  for (let n = 0; n < 20; n++) await lead.send({ to: 'project:x', subject: `more ${n}`, body })
  const { id: task } = await lead.send({ to: 'role:worker', subject: 'task', body })
  const { id: unread } = await bob.send({ to: 'ada', subject: 'unread', body })
  const { id: sent } = await ada.send({ to: 'bob', subject: 'sent', body })
  await ada.search('words')
  return { unread, sent, shown, task, claimed, failed, dead, exported: await exportFrom(`${dir}-other`) }
}

async function exportFrom(dir: string): Promise<string> {
  await using space = await openDisk({ dir, settings: { durability: 'os' } })
  const zoe = await space.mailbox('zoe')
  for (let n = 0; n < 3; n++) await zoe.send({ to: 'zoe', subject: `imported ${n}`, body: 'From elsewhere.' })
  const lines: string[] = []
  for (const { id } of (await zoe.sent()).messages) {
    const { message, receipts } = await zoe.show(id)
    lines.push(`${JSON.stringify({ message, receipts })}\n`)
  }
  return lines.join('')
}

/** How a verb is called in the scene. */
export interface VerbCall {
  words: string[]
  /** Who calls it. @default 'ada' */
  as?: string
  stdin?: string
  /** What the journal has more of when it succeeds. */
  adds?: 'message' | 'receipt' | 'agent'
  /** It runs until it is told to stop. */
  endless?: boolean
}

const toolCalls = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/call', params: { name: 'check', arguments: {} } },
]

/** Verbs that have nothing to do with a space, or need a terminal, a hub or a database of their own. */
export const otherVerbs = 'init uninit trust login logout completion demo tmux bridge move open help'.split(
  ' ',
)

/** Every other verb, by name. */
export function everyVerb(dir: string, ids: SceneIds): Record<string, VerbCall> {
  return {
    doctor: { words: ['doctor'] },
    config: { words: ['config', 'set', 'limits.inbox', '77'] },
    prompt: { words: ['prompt', 'ada'] },
    complete: { words: ['complete', '--', 'show', ''] },
    join: { words: ['join', 'dora', '--role', 'worker'], adds: 'agent' },
    leave: { words: ['leave'], adds: 'agent' },
    agents: { words: ['agents'] },
    whoami: { words: ['whoami'] },
    update: { words: ['update', '--note', 'at work'], adds: 'agent' },
    send: { words: ['send', 'bob', '--subject', 'new', '--body', 'text', '--key', 'k1'], adds: 'message' },
    reply: { words: ['reply', ids.unread, '--body', 'yes'], adds: 'message' },
    forward: { words: ['forward', ids.unread, 'bob'], adds: 'message' },
    broadcast: { words: ['broadcast', '--subject', 'all', '--body', 'text'], adds: 'message' },
    handoff: {
      words: ['handoff', 'bob', '--subject', 'work', '--work-completed', 'half', '--next-step', 'rest'],
      adds: 'message',
    },
    escalate: { words: ['escalate', ids.shown, '--reason', 'blocked'], adds: 'message' },
    route: { words: ['route', 'add', 'type:ci_failure', '--to', 'role:worker'] },
    withdraw: { words: ['withdraw', ids.sent], adds: 'receipt' },
    check: { words: ['check'], adds: 'receipt' },
    inbox: { words: ['inbox'] },
    read: { words: ['read', ids.unread], adds: 'receipt' },
    count: { words: ['count'] },
    show: { words: ['show', ids.sent] },
    thread: { words: ['thread', ids.sent] },
    sent: { words: ['sent'] },
    scheduled: { words: ['scheduled'] },
    search: { words: ['search', 'words'] },
    dead: { words: ['dead', '--resend', ids.dead, '--to', 'bob'], adds: 'message' },
    wait: { words: ['wait', '--timeout', '1s'], adds: 'receipt' },
    watch: { words: ['watch'], endless: true },
    log: { words: ['log'] },
    ack: { words: ['ack', ids.shown], adds: 'receipt' },
    claim: { words: ['claim', ids.task], as: 'bob', adds: 'receipt' },
    start: { words: ['start', ids.shown], adds: 'receipt' },
    done: { words: ['done', ids.shown], adds: 'receipt' },
    fail: { words: ['fail', ids.shown, '--reason', 'no'], adds: 'receipt' },
    release: { words: ['release', ids.claimed], as: 'bob', adds: 'receipt' },
    archive: { words: ['archive', ids.shown], adds: 'receipt' },
    retry: { words: ['retry', ids.failed], adds: 'receipt' },
    plan: { words: ['plan', 'submit', '--subject', 'plan', '--body', 'steps'], adds: 'message' },
    shutdown: { words: ['shutdown', 'request', 'bob', '--reason', 'over'], as: 'lead', adds: 'message' },
    status: { words: ['status', '--of', 'bob'], as: 'lead', adds: 'message' },
    'help-request': { words: ['help-request', '--body', 'which port?'], adds: 'message' },
    task: { words: ['task', 'bob', '--subject', 'build it'], as: 'lead', adds: 'message' },
    'ci-failure': { words: ['ci-failure', 'bob', '--check', 'lint'], as: 'lead', adds: 'message' },
    review: { words: ['review', 'bob', '--comment', 'a.ts:1: why?'], as: 'lead', adds: 'message' },
    owed: { words: ['owed'] },
    serve: { words: ['serve', '--port', '0'], endless: true },
    token: { words: ['token', 'ada'] },
    key: { words: ['key', 'rotate', 'ada'] },
    audit: { words: ['audit'] },
    mcp: {
      words: ['mcp'],
      stdin: toolCalls.map((call) => `${JSON.stringify({ jsonrpc: '2.0', ...call })}\n`).join(''),
    },
    hook: {
      words: ['hook', 'claude', 'SessionStart', '--pid', `${process.pid}`],
      stdin: JSON.stringify({ session_id: 's1', hook_event_name: 'SessionStart', cwd: dir }),
    },
    verify: { words: ['verify', '--deep'] },
    repair: { words: ['repair', '--yes'] },
    rebuild: { words: ['rebuild'] },
    stats: { words: ['stats'] },
    digest: { words: ['digest'] },
    top: { words: ['top', '--json'] },
    answer: { words: ['answer', ids.shown, 'ack'], adds: 'receipt' },
    'archive-old': { words: ['archive-old', '--gzip-after', '1s'] },
    export: { words: ['export', '--out', join(dir, 'export.jsonl')] },
    import: { words: ['import', '-'], stdin: ids.exported, adds: 'message' },
  }
}
