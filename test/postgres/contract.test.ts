import { journalContract } from '../contract/journal.ts'
import { tempPostgres } from '../helpers/temp.ts'

journalContract('PostgresJournal', () => tempPostgres())
journalContract('PostgresJournal with small segments', () => tempPostgres({ segmentBytes: 2_000 }))
