import type { Database } from '../base/sqlite.ts'

/** Raises an agent's floor in a group's box past everything that it has seen, sent, or was excluded from. */
export function createFloor(database: Database): (agent: string, box: string, rank: number) => void {
  const readFloor = database.prepare('SELECT seq FROM floor WHERE agent = ? AND box = ? AND rank = ?')
  const writeFloor = database.prepare('INSERT OR REPLACE INTO floor VALUES (?, ?, ?, ?)')
  const nextAbove = database.prepare(
    `SELECT g.seq, m.sender = ?1 OR EXISTS (SELECT 1 FROM receipt r WHERE r.seq = g.seq AND r.owner = ?1)
       OR EXISTS (SELECT 1 FROM json_each(m.excluded) WHERE value = ?1)
     FROM receipt g JOIN message m ON m.seq = g.seq
     WHERE g.box = ?2 AND g.class = 0 AND g.rank = ?3 AND g.seq > ?4 ORDER BY g.seq LIMIT 1`,
  )
  return (agent, box, rank) => {
    const start = readFloor.get<[number]>([agent, box, rank])?.[0] ?? 0
    let floor = start
    for (;;) {
      const [seq, isSettled] = nextAbove.get<[number, number]>([agent, box, rank, floor]) ?? []
      if (seq === undefined || isSettled === 0) break
      floor = seq
    }
    if (floor !== start) writeFloor.run([agent, box, rank, floor])
  }
}
