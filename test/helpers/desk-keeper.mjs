// Starts desks.mjs and passes on what it is told and what it says, and meanwhile kills, stops, continues and starves it at
// random. One that was killed is started again and told which spaces it had. It prints what it did: `killed`, `stopped`
// or `starved`. It is a process of its own because a test may wait for the desk without doing anything else.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const letPass = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const chance = (ms) => Math.random() * ms

/** What was told, by the space that it is about. */
const spaces = new Map()
let child

function start() {
  child = spawn(process.execPath, [fileURLToPath(new URL('desks.mjs', import.meta.url))], {
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  child.stdin.on('error', () => {}) // It may die before it reads.
  for (const line of spaces.values()) child.stdin.write(`${line}\n`)
}

async function hurt() {
  const dice = Math.random()
  if (dice < 0.25) {
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
    start()
    return 'killed'
  }
  const [what, times, ms] = dice < 0.6 ? ['stopped', 1, 250] : ['starved', 8, 15]
  for (let time = 0; time < times; time++) {
    child.kill('SIGSTOP')
    await letPass(chance(ms))
    child.kill('SIGCONT')
    await letPass(chance(3))
  }
  return what
}

start()
process.once('exit', () => child.kill('SIGKILL'))
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { open, close } = JSON.parse(line)
    if (open !== undefined) spaces.set(open, line)
    else spaces.delete(close)
    child.stdin.write(`${line}\n`)
  })
  .on('close', () => process.exit())
for (;;) {
  await letPass(20 + chance(180))
  if (spaces.size > 0) console.log(await hurt())
}
