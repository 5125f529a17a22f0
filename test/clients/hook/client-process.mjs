// Stands for a client that runs its hooks by way of a shell: each line of its standard input is a command, and
// it prints as one line of JSON what that printed.
import { spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'

for await (const line of createInterface({ input: process.stdin })) {
  const { script, input } = JSON.parse(line)
  const { stdout, stderr, status } = spawnSync('sh', ['-c', script], { input, encoding: 'utf8' })
  console.log(JSON.stringify({ stdout, stderr, status }))
}
