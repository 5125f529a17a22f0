// Runs the hook again and again, as fast as it can, and prints the ids of the messages that it was shown. Ends
// when its standard input says so, with the number of runs.
import { spawn } from 'node:child_process'

const [hook, session] = process.argv.slice(2)
const input = JSON.stringify({ session_id: session })
let isOver = false
let runs = 0
process.stdin.on('data', () => {
  isOver = true
})

const run = () =>
  new Promise((resolve, reject) => {
    const child = spawn(hook, ['claude', 'PostToolUse'], { stdio: ['pipe', 'pipe', 'inherit'] })
    let said = ''
    child.stdout.on('data', (data) => {
      said += data
    })
    child.stdin.on('error', () => {}) // The quick path does not read it.
    child.stdin.end(input)
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(said) : reject(new Error(`the hook ended with ${code}`)),
    )
  })

while (!isOver) {
  const said = await run()
  runs++
  for (const [, id] of said.matchAll(/Message ([0-9a-f-]{36}) from/g)) console.log(`id ${id}`)
}
console.log(`runs ${runs}`)
process.exit(0)
