#!/usr/bin/env node
import { writeSync } from 'node:fs'
import { CodeCache } from '../base/code-cache.ts'

declare const __VERSION__: string

const words = process.argv.slice(2)
/** Verbs that may be done without the whole program, by the files that do it. */
const briefly: Readonly<Record<string, string>> = {
  ...{ check: 'mail', count: 'mail', send: 'mail' },
  ...{ ack: 'steps', start: 'steps', done: 'steps', archive: 'steps' },
}
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) printVersion()
else void runProgram()

/** By itself: to load the program takes longer than all the rest. */
function printVersion(): void {
  try {
    writeSync(1, `${__VERSION__}\n`)
  } catch (error) {
    // If nobody reads it, that is no failure.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') process.exitCode = 1
  }
}

async function runProgram(): Promise<void> {
  const cache = new CodeCache({ require, import: (name) => import(name) })
  const load = <T>(file: string) => cache.load<T>(`${import.meta.dirname}/${file}.cjs`)
  // Options may stand before the verb. A word that only looks like one does no harm.
  const verb = words.find((word) => Object.hasOwn(briefly, word))
  if (verb !== undefined) cache.runs(verb)
  const asked =
    verb !== undefined && (await load<typeof import('./brief/mail.ts')>(`brief-${briefly[verb]}`).run(words))
  if (asked === true) process.exit()
  const { run } = load<typeof import('./program.ts')>('program')
  await run(words, (name) => cache.runs(name), asked || undefined)
}
