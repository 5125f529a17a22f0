import { journalContract } from '../contract/journal.ts'
import { tempJournal } from '../helpers/temp.ts'

journalContract('FileJournal', () => tempJournal())
journalContract('FileJournal with small segments', () => tempJournal({ segmentBytes: 2_000 }))
journalContract('FileJournal on a synced disk', () => tempJournal({ durability: 'disk' }))
