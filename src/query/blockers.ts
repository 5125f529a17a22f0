import { prerequisites } from '../conversation/task.ts'
import type { Message } from '../model/message.ts'
import type { Source } from './message.ts'
import { mattersWhere } from './owed.ts'

/** Tasks that have to be done before the work that a message asks for, and are open or have failed. */
export function blockersOf(
  source: Source,
  message: Pick<Message, 'type' | 'payload'> & { seq: number },
): string[] {
  const isOpen = (id: string) =>
    mattersWhere(
      source,
      "x.open = 1 AND x.kind = 'task' AND (x.key = ?1 OR m.id = ?1) AND x.seq <> ?2 LIMIT 1",
      [id, message.seq],
    ).length > 0
  return prerequisites(message).filter(isOpen)
}
