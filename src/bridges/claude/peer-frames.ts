import { isObject } from '../../base/objects.ts'
import { type Opened, openEnvelope } from './envelope.ts'

export interface PeerMessage extends Opened {
  id: string
}

export interface PeerNotice {
  status: string
  detail: string | undefined
  ids: string[]
}

export function frameIn(line: string): Record<string, unknown>[] {
  try {
    const frame: unknown = line === '' ? undefined : JSON.parse(line)
    return isObject(frame) ? [frame] : []
  } catch {
    return []
  }
}

export function messageIn(frame: Record<string, unknown>): PeerMessage | undefined {
  const { msg_id: id, message } = frame
  const content = isObject(message) ? message['content'] : undefined
  // Without an id it cannot be told from the same message sent again: the sender hears that it was not taken.
  if (typeof id !== 'string' || id === '' || id.length > 200 || typeof content !== 'string') return undefined
  return { id, ...openEnvelope(content) }
}

export function noticesIn(frame: Record<string, unknown>): PeerNotice[] {
  const { action, status, status_detail: detail, drop_reason: reason, orig_msg_id: id } = frame
  if (action !== 'peer_message_status' || typeof status !== 'string') return []
  const dropped = Array.isArray(frame['dropped_msg_ids']) ? frame['dropped_msg_ids'] : []
  const ids = [id, ...dropped].filter((one): one is string => typeof one === 'string')
  const more = [detail, reason].find((one) => typeof one === 'string') as string | undefined
  return [{ status, detail: more, ids: [...new Set(ids)] }]
}
