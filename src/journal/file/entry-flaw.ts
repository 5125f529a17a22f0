import { maxJsonDepth, parseStrictJson } from '../../base/json.ts'
import { draftSchema } from '../../model/schemas.ts'

/** What strict parsing of a line objects to. Normal reading is faster and more lenient. */
export function flawOf(line: Buffer): string | undefined {
  try {
    const read = parseStrictJson(line.toString('utf8'), maxJsonDepth + 2) as Record<string, unknown>
    const { seq, at, prev, sum, ...draft } = read
    const issue = draftSchema.safeParse(draft).error?.issues[0]
    return issue && `${issue.path.join('.')}: ${issue.message}`
  } catch (error) {
    return (error as Error).message
  }
}
