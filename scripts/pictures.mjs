// npm run pictures: makes every picture of the README and the docs anew, from a seeded demo and a space of its own.
// Needs chromium, tmux and libfaketime: the pictures show a date that was never, and no path of this machine.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { recordingSvg } from './pictures/recording.mjs'

const root = new URL('..', import.meta.url).pathname
const cli = join(root, 'dist', 'cli.cjs')
const out = join(root, 'docs', 'pictures')
const scratch = mkdtempSync(join(tmpdir(), 'mailbox-pictures-'))
/** A Thursday morning. */
const shownTime = Date.UTC(2026, 0, 15, 9, 30)
const offsetSeconds = Math.round((shownTime - Date.now()) / 1_000)
const faketime = ['x86_64', 'aarch64']
  .map((cpu) => `/usr/lib/${cpu}-linux-gnu/faketime/libfaketime.so.1`)
  .find((path) => existsSync(path))
if (faketime === undefined) throw new Error('libfaketime is missing: apt-get install faketime')

const environment = {
  ...{ PATH: `${join(scratch, 'bin')}:${process.env.PATH}`, HOME: scratch, TMPDIR: scratch, TZ: 'UTC' },
  ...{ LD_PRELOAD: faketime, FAKETIME: String(offsetSeconds), FAKETIME_DONT_FAKE_MONOTONIC: '1' },
  ...{ DONT_FAKE_MONOTONIC: '1', MAILBOX_CLOCK: 'wall', LC_ALL: 'C.UTF-8' },
}

mkdirSync(join(scratch, 'bin'))
symlinkSync(cli, join(scratch, 'bin', 'mailbox'))
mkdirSync(out, { recursive: true })

try {
  await recordTerminal()
  await photographConsole()
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
}

/** A few commands and the live screen, as a terminal shows them. */
async function recordTerminal() {
  const [columns, rows] = [88, 23]
  const socket = join(scratch, 'tmux')
  const tmux = (...words) =>
    execFileSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...words], {
      encoding: 'utf8',
      env: environment,
    })
  const space = { ...environment, MAILBOX_SPACE: join(scratch, 'shop') }
  const mailbox = (...words) =>
    execFileSync(process.execPath, [cli, ...words, '--quiet'], { env: space, encoding: 'utf8' })
  const variables = Object.entries(space).map(([name, value]) => `${name}=${value}`)
  tmux(
    'new-session',
    '-d',
    '-s',
    'shell',
    '-x',
    String(columns),
    '-y',
    String(rows),
    'env',
    ...variables,
    'PS1=$ ',
    'sh',
  )
  const screen = () => tmux('capture-pane', '-e', '-p', '-t', 'shell')
  const frames = []
  const shoot = (seconds) => frames.push({ seconds, text: screen() })
  const shows = async (pattern) => {
    while (!pattern.test(screen())) await sleep(50)
    // What is still being drawn.
    await sleep(300)
  }
  const run = async (line, pattern, seconds) => {
    tmux('send-keys', '-t', 'shell', '-l', line)
    await sleep(200)
    shoot(1.2)
    tmux('send-keys', '-t', 'shell', 'Enter')
    await shows(pattern)
    shoot(seconds)
  }
  const press = async (key, pattern, seconds) => {
    tmux('send-keys', '-t', 'shell', key)
    await shows(pattern)
    shoot(seconds)
  }
  await shows(/\$/)
  mailbox('join', 'bob', '--role', 'worker')
  await run('mailbox join ada --role architect', /joined/, 0.8)
  mailbox('join', 'chen', '--role', 'worker')
  mailbox('config', 'set', 'name', 'shop')
  await run(
    'mailbox --as bob send role:architect --subject Plan --priority urgent --body "Split the parser?"',
    /sent to/,
    1.6,
  )
  await run('clear; mailbox --as ada check', /end of/, 4)
  await run('clear; mailbox --as ada reply @last --body "Yes, along the lexer."', /sent to/, 1.6)
  await run('mailbox --as ada show @last', /shown|stored/, 3.5)
  mailbox(
    '--as',
    'chen',
    'plan',
    'submit',
    '--to',
    'user',
    '--subject',
    'Pay by card',
    '--body',
    'First the form, then the webhook, then receipts by mail.',
  )
  mailbox(
    '--as',
    'bob',
    'send',
    'user',
    '--await',
    '--subject',
    'Ship on Friday?',
    '--body',
    'Everything is green except the large-text pages.',
  )
  mailbox('--as', 'bob', 'send', 'chen', '--await', '--subject', 'Which port?', '--body', '?')
  await run('clear; mailbox top', /q quit/, 4)
  await press('Enter', /Esc back/, 3.5)
  await press('Escape', /Enter open/, 0.8)
  await press('a', /z undoes/, 3)
  tmux('kill-server')
  writeFileSync(
    join(out, 'terminal.svg'),
    recordingSvg(frames, { columns, rows, title: 'The mailbox command line' }),
  )
}

/** The console on a demo that has gone on for a while, in the sizes and themes of the docs. */
async function photographConsole() {
  const words = ['demo', '--json', '--seed', '7', '--speed', '8', '--port', '0', '--no-tour']
  const demo = spawn(process.execPath, [cli, ...words], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(demo, 'exit')
  // Its own server and browser see real time; only what they show is of that morning.
  const browser = await chromium.launch({
    executablePath: browserPath(),
    args: ['--no-sandbox', '--disable-gpu'],
  })
  try {
    const lines = createInterface({ input: demo.stdout })[Symbol.asyncIterator]()
    const { url, open } = JSON.parse((await lines.next()).value)
    for (let crashes = 0; crashes === 0; ) {
      const { value } = await lines.next()
      const { message } = JSON.parse(value)
      if (message?.subject === 'Back online') crashes++
    }
    const context = async (options) => {
      const made = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        timezoneId: 'UTC',
        locale: 'en-GB',
        ...options,
      })
      made.setDefaultTimeout(120_000)
      const page = await made.newPage()
      // Only what it shows is of that morning: timers run as they are.
      await page.clock.setFixedTime(Date.now() + offsetSeconds * 1_000)
      await page.goto(open)
      await page.locator('.row').first().waitFor()
      return page
    }
    const light = await context({ colorScheme: 'light' })
    const shoot = (page, name) => page.screenshot({ path: join(out, name), animations: 'disabled' })
    await light.locator('.row').first().waitFor()
    await light.locator('.row').first().click()
    await sleep(1_500)
    await shoot(light, 'needs-you.png')
    await light.goto(`${url}/threads`)
    await light.locator('.row').nth(2).waitFor()
    await light.locator('.row', { hasText: 'handoff' }).first().click()
    await sleep(1_500)
    await shoot(light, 'thread.png')
    const dark = await context({ colorScheme: 'dark' })
    await dark.goto(`${url}/traffic`)
    await sleep(2_500)
    await shoot(dark, 'traffic.png')
  } finally {
    await browser.close()
    demo.kill('SIGINT')
    await ended
  }
}

function browserPath() {
  const look = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
    .map((name) => `command -v ${name}`)
    .join(' || ')
  return process.env.CHROME_PATH || execFileSync('sh', ['-c', look], { encoding: 'utf8' }).trim()
}
