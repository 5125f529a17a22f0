import type { Client } from '../../model/client.ts'
import { claude } from '../claude/dialect.ts'
import { codex } from '../codex/dialect.ts'
import { gemini } from '../gemini/dialect.ts'
import { opencode } from '../opencode/dialect.ts'
import type { Dialect } from './dialect.ts'

/** What the hooks know of each client. Apart from how it is set up, so that hooks load none of that. */
export const dialects: Record<Client, Dialect> = { claude, codex, gemini, opencode }
