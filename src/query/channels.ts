import { isoTime } from '../model/time.ts'
import type { Source } from './message.ts'

/** All messages with a tag, or addressed to it. */
export interface Channel {
  tag: string
  messages: number
  lastAt: string
}

/** All channels, the one with the newest message first. */
export function channels({ index }: Source): Channel[] {
  return index
    .sql(
      `SELECT tag, n, created FROM (SELECT tag, count(*) AS n, max(seq) AS last FROM label GROUP BY tag)
       JOIN message ON seq = last ORDER BY last DESC`,
    )
    .all<[string, number, number]>()
    .map(([tag, messages, created]) => ({ tag, messages, lastAt: isoTime(created) }))
}

export const countMessages = ({ index }: Source): number =>
  index.sql('SELECT count(*) FROM message').get<[number]>()![0]
