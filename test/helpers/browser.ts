import { type Browser, chromium } from 'playwright-core'
import { browserPath, needTool } from './tools.ts'

export function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  const path = browserPath()
  if (path === undefined) needTool('chromium')
  // Its sandbox needs a user that is not root.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  // There is no graphics card to use, and emulating one takes more than drawing without one.
  const plain = ['--disable-gpu', '--disable-background-networking', '--disable-component-update']
  return chromium.launch({ executablePath: path!, args: [...sandbox, ...plain, ...args] })
}
