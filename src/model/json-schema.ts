import * as z from 'zod/mini'
import { agentSchema, claimSchema, draftSchema, messageSchema, receiptChangeSchema } from './schemas.ts'

/** The shapes on disk and on the wire as JSON Schema, for readers in other languages. */
export function jsonSchemas(): Record<'message' | 'receiptChange' | 'claim' | 'agent' | 'draft', object> {
  return {
    message: z.toJSONSchema(messageSchema),
    receiptChange: z.toJSONSchema(receiptChangeSchema),
    claim: z.toJSONSchema(claimSchema),
    agent: z.toJSONSchema(agentSchema),
    draft: z.toJSONSchema(draftSchema),
  }
}
