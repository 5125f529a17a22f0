import { handlingOperations } from './handling-operations.ts'
import { readingOperations } from './reading-operations.ts'
import { sendingOperations } from './sending-operations.ts'

/** The methods of a mailbox that answer at once. */
export const mailboxOperations = { ...sendingOperations, ...readingOperations, ...handlingOperations }
