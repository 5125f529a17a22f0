import { type Browser, chromium } from 'playwright-core'
import { browserPath, needTool } from './tools.ts'

export function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  const path = browserPath()
  if (path === undefined) needTool('chromium')
  // Its sandbox needs a user that is not root.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath: path!, args: [...sandbox, ...args] })
}
