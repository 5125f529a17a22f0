import { ensureTool } from './tools.ts'

/** Programs of the system that some test needs, and the packages they come in. */
const tools = ['strace', 'tmux', 'chromium', 'busybox', 'faketime']

/**
 * Before the first test, so that two of them do not install at once: only one may. A test whose tool could not
 * be had says so itself, and how to get it.
 */
export default function bringTools(): void {
  for (const tool of tools) {
    if (tool === 'chromium' && process.env['CHROME_PATH']) continue
    try {
      ensureTool(tool)
    } catch {
      // Told where it is needed.
    }
  }
}
