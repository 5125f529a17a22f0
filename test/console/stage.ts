import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { openDisk } from '../../src/space/open.ts'
import type { DiskSpace } from '../../src/space/space.ts'
import { launchBrowser } from '../helpers/browser.ts'
import { type Running, startProcess } from '../helpers/processes.ts'

const program = new URL('../../dist/cli.cjs', import.meta.url)
/** Only ends what hangs: on a busy machine everything takes its time. */
const patienceMs = 120_000
const artefacts = new URL('../../test-artifacts/console/', import.meta.url).pathname

export interface OpenOptions extends BrowserContextOptions {
  phone?: boolean
  /** Runs before the page is loaded. */
  before?: (page: Page) => Promise<unknown>
  /** Errors in the page are expected. */
  forgiving?: boolean
  /** Returns once the page is live. @default true */
  waits?: boolean
  /** Stays open when the test is over. */
  keep?: boolean
}

/** A real hub on its own space, and a real browser. */
export class Stage {
  readonly dir = mkdtempSync(join(tmpdir(), 'mailbox-console-'))
  /** The space as a process beside the hub sees it. */
  space!: DiskSpace
  url = ''
  token = ''
  /** What the hub printed to open. */
  link = ''
  /** What must never happen: a request to another server, an error in the page, a policy violation. */
  readonly faults: string[] = []
  #hub: Running | undefined
  #browser: Browser | undefined
  readonly #contexts: BrowserContext[] = []
  /** Pages between two tests, each in a context of its own that has the console in its cache. */
  readonly #resting: Page[] = []
  /** Those of them that the test uses. */
  readonly #borrowed: Page[] = []
  #tests = 1

  static async open(tell: (dir: string) => Promise<unknown> = async () => {}): Promise<Stage> {
    const stage = new Stage()
    await tell(stage.dir)
    stage.space = await openDisk({
      dir: stage.dir,
      settings: { durability: 'os', 'limits.ratePerMinute': 0 },
    })
    const [browser] = await Promise.all([launchBrowser(), stage.startHub()])
    stage.#browser = browser
    return stage
  }

  /** Starts the hub, on the same port as before. The person opens its link in every page, if it `opens` it. */
  async startHub({ opens = true } = {}): Promise<void> {
    const port = this.url === '' ? '0' : new URL(this.url).port
    this.#hub = startProcess(program, ['--json', '--space', this.dir, 'serve', '--port', port])
    const printed = JSON.parse(await this.#hub.line(/^\{/)) as { url: string; open: string }
    this.url = printed.url
    this.link = printed.open
    this.token = new URL(this.link).hash.slice('#token='.length)
    if (opens) await this.#openLink()
  }

  async #openLink(): Promise<void> {
    const pages = (this.#browser?.contexts() ?? []).flatMap((context) => context.pages())
    const own = pages.filter((page) => page.url().startsWith(`${this.url}/`))
    await Promise.all(
      own.map((page) =>
        page.evaluate((hash) => {
          location.hash = hash
        }, new URL(this.link).hash),
      ),
    )
  }

  async stopHub(): Promise<void> {
    const hub = this.#hub
    this.#hub = undefined
    hub?.kill('SIGKILL')
    await hub?.exit
  }

  async page(path: string, options: OpenOptions = {}): Promise<Page> {
    const { phone: isPhone = false, before, forgiving = false, waits = true, keep = false, ...rest } = options
    const hasOwnContext = keep || Object.keys(rest).length > 0
    const page = hasOwnContext ? await this.#newPage(rest, keep) : await this.#borrow(before !== undefined)
    await page.setViewportSize(isPhone ? phone : desk)
    await page.addInitScript(forgetTests, this.#tests)
    if (!forgiving) await this.#watch(page)
    await before?.(page)
    await page.goto(`${this.url}${path}#token=${encodeURIComponent(this.token)}`)
    if (waits) await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' })
    return page
  }

  async #newPage(options: BrowserContextOptions, keep: boolean): Promise<Page> {
    const context = await this.#newContext(options)
    if (!keep) this.#contexts.push(context)
    return context.newPage()
  }

  /**
   * A page that has rested, or a new one beside it. To open the console in a new window takes four times the work of
   * opening it in a page that is there, and in a new tab twice the work.
   */
  async #borrow(isNew: boolean): Promise<Page> {
    const rested = this.#resting.pop() ?? (await (await this.#newContext()).newPage())
    this.#borrowed.push(rested)
    return isNew ? rested.context().newPage() : rested
  }

  async #newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.#browser!.newContext({ viewport: desk, reducedMotion: 'reduce', ...options })
    context.setDefaultTimeout(patienceMs)
    return context
  }

  /** A page in a new context without a token. */
  async stranger(path: string): Promise<Page> {
    const context = await this.#newContext()
    this.#contexts.push(context)
    const page = await context.newPage()
    await page.goto(this.url + path)
    return page
  }

  async #watch(page: Page): Promise<void> {
    page.on('request', (request) => {
      const url = request.url()
      if (!url.startsWith(`${this.url}/`) && !url.startsWith('data:')) this.faults.push(`asked for ${url}`)
    })
    page.on('pageerror', (error) => this.faults.push(`error: ${error.message}`))
    page.on('console', (message) => {
      if (message.type() === 'error') this.faults.push(`console: ${message.text()}`)
    })
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) =>
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
      )
    })
  }

  /** The end of a test: its pages are closed or empty, the hub runs, and what went wrong is returned. */
  async rest(): Promise<string[]> {
    if (this.#hub === undefined) await this.startHub()
    this.#tests++
    await Promise.all(this.#contexts.splice(0).map((context) => context.close()))
    for (const page of this.#borrowed.splice(0)) {
      const others = page.context().pages()
      await Promise.all(others.filter((other) => other !== page).map((other) => other.close()))
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.goto('about:blank')
      for (const event of ['request', 'pageerror', 'console', 'load']) page.removeAllListeners(event)
      this.#resting.push(page)
    }
    return this.faults.splice(0)
  }

  async close(): Promise<void> {
    await this.#browser!.close()
    await this.space.close()
    await this.stopHub()
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 3 })
  }
}

/** Runs in a page before anything else: what an earlier test kept in the browser is gone. */
function forgetTests(test: number): void {
  // An empty page has no storage.
  if (location.protocol === 'about:' || Number(sessionStorage.getItem('test')) >= test) return
  sessionStorage.clear()
  sessionStorage.setItem('test', String(test))
  localStorage.clear()
}

/** Polls with a timeout that suits a busy machine. */
export const eventually = <T>(look: () => T) => expect.poll(look, { timeout: patienceMs })

/** Saves a screenshot for a person to review, when asked to: together they take half a minute. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (!process.env['SCREENSHOTS']) return
  mkdirSync(artefacts, { recursive: true })
  await page.screenshot({ path: join(artefacts, `${name}.png`) })
}

export const desk = { width: 1440, height: 900 }
export const laptop = { width: 1024, height: 768 }
export const phone = { width: 390, height: 844 }
