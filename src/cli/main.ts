#!/usr/bin/env node
import { writeSync } from 'node:fs'
import { CodeCache } from '../base/code-cache.ts'

declare const __VERSION__: string

const words = process.argv.slice(2)
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) printVersion()
else runProgram()

/** By itself: to load the program takes longer than all the rest. */
function printVersion(): void {
  try {
    writeSync(1, `${__VERSION__}\n`)
  } catch (error) {
    // If nobody reads it, that is no failure.
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') process.exitCode = 1
  }
}

function runProgram(): void {
  const cache = new CodeCache({ require, import: (name) => import(name) })
  const { run } = cache.load<typeof import('./program.ts')>(`${import.meta.dirname}/program.cjs`)
  void run(words, (verb) => cache.runs(verb))
}
