import { journalContract } from '../contract/journal.ts'
import { isStorm } from '../helpers/storm.ts'
import { tempPostgres } from '../helpers/temp.ts'

journalContract('PostgresJournal', () => tempPostgres())
if (isStorm)
  journalContract('PostgresJournal with small segments', () => tempPostgres({ segmentBytes: 2_000 }))
