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
    .all()
    .map(([tag, messages, created]) => ({
      tag: tag as string,
      messages: messages as number,
      lastAt: new Date(created as number).toISOString(),
    }))
}

export const countMessages = ({ index }: Source): number =>
  index.sql('SELECT count(*) FROM message').get()?.[0] as number
