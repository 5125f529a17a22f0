// Opens a space whose index is missing, and stops itself after the first portion has been taken in.
import { writeSync } from 'node:fs'
import { openSpace } from '../../dist/mod.js'

await openSpace({
  dir: process.argv[2],
  onProgress(seq) {
    writeSync(1, `at ${seq}\n`)
    process.kill(process.pid, 'SIGSTOP')
  },
})
