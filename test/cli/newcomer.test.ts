import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { launchBrowser } from '../helpers/browser.ts'
import { tempDir } from '../helpers/temp.ts'
import { Shell } from './at-terminal.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The lines of a block of the README that a newcomer pastes, by how it begins. */
function linesToPaste(start: string): string[] {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text!)
  return blocks
    .find((text) => text.startsWith(start))!
    .trim()
    .split('\n')
}

async function openConsole(link: string): Promise<Page> {
  const browser = await launchBrowser()
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  const host = new URL(link).host
  page.on('request', (request) => expect(new URL(request.url()).host).toBe(host))
  await page.goto(link)
  return page
}

it('takes a newcomer from the README to the first decisions, a search and a saved view', async () => {
  const bin = tempDir()
  mkdirSync(join(bin, 'bin'))
  symlinkSync(join(root, 'dist', 'cli.cjs'), join(bin, 'bin', 'mailbox'))
  const path = `PATH='${join(bin, 'bin')}:${process.env['PATH'] ?? ''}'`
  // No space is named, and HOME has none.
  const shell = await Shell.open({
    ...{ environment: `MAILBOX_SPACE= ${path} PAGER=cat`, width: 120, height: 50, agents: [] },
  })
  const expected = [/ada .*joined/, /bob joined/, /ready\$/, /Shall we split/, /sent to bob/, /Yes, along/]
  let pasted = 0
  /** Pastes a line, and gives what it printed. It has to succeed. */
  const paste = async (line: string): Promise<string> => {
    const end = `end-of-${++pasted}-code`
    shell.enter(`clear; ${line}`)
    shell.enter(`echo ${end}-$?`)
    await shell.shows(new RegExp(`${end}-\\d`))
    const shown = shell.screen()
    expect(shown, line).toContain(`${end}-0`)
    expect(shown, line).not.toContain('error:')
    return shown
  }
  for (const [at, line] of linesToPaste('mailbox join ada').entries())
    expect(await paste(line)).toMatch(expected[at] ?? /ready\$/)
  expect(await paste('mailbox')).toContain('Nothing needs you')
  for (const line of linesToPaste('mailbox agents')) {
    // The live screen stays until it is quit.
    if (!line.startsWith('mailbox top')) await paste(line)
    else {
      shell.enter(`clear; ${line}`)
      await shell.shows('q quit')
      shell.press('q')
      await shell.shows(/ready\$/)
    }
  }
  // Where there are clients, it asks.
  const asks = /^mailbox init +#/
  for (const line of linesToPaste('mailbox init --dry-run')) if (!asks.test(line)) await paste(line)

  // Somebody asks: the person finds it by the bare command, and decides in the console.
  await paste('mailbox --as ada plan submit --to user --subject Split --body "Lexer first."')
  await paste('mailbox --as bob help-request --to user --subject Port --body "Which port?"')
  expect(await paste('mailbox')).toContain('2 items need you')
  shell.enter('clear; mailbox serve --port 0')
  await shell.shows(/^open +http:\S+/m)
  const link = /^open +(http:\S+)/m.exec(shell.screen())![1]!
  const page = await openConsole(link)
  const heading = page.locator('.triage h1, .triage-over h2')
  const subjects = ['Split', 'Port']
  await page.getByText('Needs you').first().waitFor()
  await page.locator('.row').first().waitFor()
  await page.keyboard.press('t')
  await heading.first().waitFor()
  for (let left = subjects.length; left > 0; left--) {
    const subject = (await heading.textContent())!
    if (subject === 'Split') {
      await page.keyboard.press('a')
      await page.getByText('Plan approved').first().waitFor()
      await page.keyboard.press('z')
      await expect.poll(() => heading.textContent(), { timeout: 60_000 }).toBe('Split')
      await page.keyboard.press('a')
    } else {
      await page.keyboard.press('r')
      await page.getByLabel(/^Answer bob/).waitFor()
      await page.keyboard.type('7337')
      await page.keyboard.press('Control+Enter')
    }
    await expect.poll(() => heading.textContent(), { timeout: 60_000 }).not.toBe(subject)
  }

  await page.goto(new URL('/search', link).href)
  await page.getByRole('searchbox').fill('lexer')
  await page.locator('.row').first().waitFor()
  await page.getByRole('button', { name: 'Save this search' }).click()
  await page.keyboard.type('parsing')
  await page.keyboard.press('Enter')
  await page.locator('.nav').getByRole('link', { name: 'parsing' }).waitFor()

  // What was decided there has arrived, and the view is the command line's as well.
  shell.press('C-c')
  await shell.shows('ready$')
  expect(await paste('mailbox --as ada check')).toContain('Approved.')
  expect(await paste('mailbox --as bob check')).toContain('7337')
  expect(await paste('mailbox search @parsing')).toContain('Split')
  expect(await paste('mailbox doctor')).not.toMatch(/^(?:warn|fail)/m)
})
