import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'
import { ensureTool } from './tools.ts'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** A real browser without a window; the caller closes it. */
export async function openBrowser(): Promise<Browser> {
  const given = process.env['CHROME_PATH']
  const found = given ?? places.find((path) => existsSync(path))
  if (found === undefined) ensureTool('chromium')
  // Chromium's own sandbox refuses to run as root.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath: found ?? '/usr/bin/chromium', args: asRoot })
}
