import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { launchBrowser } from '../helpers/browser.ts'
import { tempDir } from '../helpers/temp.ts'

const root = new URL('../..', import.meta.url).pathname

/** Declarations as the build writes them, of a library with one function. */
function smallDeclarations(): string {
  const dir = tempDir()
  mkdirSync(join(dir, 'space'))
  writeFileSync(join(dir, 'mod.d.ts'), "export { openSpace } from './space/open.ts';\n")
  const ways = ['dir: string', 'url: URL'].map(
    (input) => `export declare function openSpace(${input}): Promise<void>;`,
  )
  writeFileSync(join(dir, 'space', 'open.d.ts'), `/** Opens a space. */\n${ways.join('\n')}\n`)
  return dir
}

function build(from: string) {
  const out = join(tempDir(), 'site')
  const words = ['--root', from, '--out', out, '--declarations', smallDeclarations()]
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'scripts', 'docs.mjs'), ...words],
    {
      encoding: 'utf8',
    },
  )
  return { status, stdout, stderr, out }
}

/** What the site is built from. */
function copyOfDocs(): string {
  const dir = tempDir()
  for (const name of [
    'docs',
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'examples',
    'bench/results',
  ])
    cpSync(join(root, name), join(dir, name), { recursive: true })
  mkdirSync(join(dir, 'src', 'conversation'), { recursive: true })
  return dir
}

it('builds without a word, asks nothing of the network, and finds what one searches for', async () => {
  const { status, stdout, stderr, out } = build(root)
  expect({ status, stderr }, stdout).toEqual({ status: 0, stderr: '' })
  const browser = await launchBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  const faults: string[] = []
  page.on('request', (request) => request.url().startsWith('file:') || faults.push(request.url()))
  page.on('console', (message) => faults.push(message.text()))
  page.on('pageerror', (error) => faults.push(error.message))
  await page.goto(pathToFileURL(join(out, 'index.html')).href)
  await page.keyboard.press('/')
  await page.keyboard.type('lease claims settle')
  await page.getByRole('link', { name: /What settles what: Claims/ }).click()
  await page.getByRole('heading', { name: 'Claims' }).waitFor()
  await page.getByRole('link', { name: 'Library reference' }).click()
  await page.getByText('function openSpace(dir: string)').waitFor()
  expect(await page.locator('pre').first().textContent()).toContain('openSpace(url: URL)')
  await page.setViewportSize({ width: 390, height: 800 })
  expect(Number(await page.evaluate('document.documentElement.scrollWidth'))).toBeLessThanOrEqual(390)
  // Closed on a phone, and there again when the window is wide.
  await page.reload()
  const demo = page.getByRole('link', { name: 'The demo' })
  expect(await demo.isVisible()).toBe(false)
  await page.setViewportSize({ width: 1280, height: 800 })
  await demo.waitFor()
  expect(faults).toEqual([])
}, 120_000)

it.each([
  ['a link to a page that is not there', '[x](nowhere.md)', 'nowhere.md leads nowhere'],
  [
    'a link to a heading that is not there',
    '[x](hub.md#no-such-heading)',
    'names a heading that is not there',
  ],
  ['a picture of another site', '![x](https://example.org/x.png)', 'is a request to the outside'],
])('fails for %s', (_, markdown, problem) => {
  const from = copyOfDocs()
  writeFileSync(join(from, 'docs', 'demo.md'), `# The demo\n\n${markdown}\n`)
  const { status, stderr, out } = build(from)
  expect(status).toBe(1)
  expect(stderr).toContain(`docs/demo.md: `)
  expect(stderr).toContain(problem)
  expect(existsSync(out)).toBe(false)
})

it('fails for a page that no list names', () => {
  const from = copyOfDocs()
  writeFileSync(join(from, 'docs', 'lost.md'), '# Lost\n')
  expect(build(from).stderr).toContain('docs/lost.md is in no list')
})

it('has pictures that are small, and say nothing of the machine they were made on', () => {
  const dir = join(root, 'docs', 'pictures')
  const files = readdirSync(dir)
  expect(files.reduce((sum, file) => sum + statSync(join(dir, file)).size, 0)).toBeLessThan(700_000)
  for (const file of files)
    expect(readFileSync(join(dir, file), 'latin1'), file).not.toMatch(/\/(?:tmp|home|work|root)\//)
})
