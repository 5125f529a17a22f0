import { join } from 'node:path'
import { readFileIfAny } from '../../base/files.ts'

/**
 * The session that calls our tools in an OpenCode process. OpenCode can have several in one, and its MCP calls do not
 * say which it is; the plugin writes it down just before each call (`opencode-plugin.js`).
 */
export const openCodeCaller = (space: string, pid: number): string | undefined =>
  readFileIfAny(join(space, 'hooks', 'callers', `opencode-${pid}`))?.trim() || undefined
