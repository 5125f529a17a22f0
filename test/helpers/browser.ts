import { spawnSync } from 'node:child_process'
import { type Browser, chromium } from 'playwright-core'
import { ensureTool } from './tools.ts'

/** The system's own Chromium: no browser is downloaded. */
function chromePath(): string {
  const given = process.env['CHROME_PATH']
  if (given !== undefined && given !== '') return given
  const find = () => spawnSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).stdout.trim()
  const found = find()
  if (found !== '') return found
  ensureTool('chromium')
  return find()
}

export function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  // Its sandbox needs a user that is not root.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath: chromePath(), args: [...sandbox, ...args] })
}
