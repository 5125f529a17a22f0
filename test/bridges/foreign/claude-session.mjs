// A session of Claude Code as others see it: a record with its process, and a socket that takes what it gets.
//
// claude-session.mjs CONFIG SOCKETS NAME LOG: writes the id of each message that it has taken into LOG, a line each.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

const [config, sockets, name, log] = process.argv.slice(2)
mkdirSync(sockets, { recursive: true })
mkdirSync(join(config, 'sessions'), { recursive: true })
const socket = join(sockets, `${process.pid}.sock`)
const procStart = readFileSync('/proc/self/stat', 'latin1').split(') ')[1].split(' ')[19]
const record = {
  ...{ pid: process.pid, sessionId: '587724c7-65de-4d95-8c11-2d5e59f927f8', cwd: '/proj', procStart, name },
  ...{ kind: 'interactive', entrypoint: 'cli', messagingSocketPath: socket, status: 'idle' },
}
const server = createServer({ allowHalfOpen: true }, (connection) => {
  let text = ''
  connection.on('data', (data) => (text += data))
  connection.on('error', () => connection.destroy())
  connection.on('end', () => {
    for (const line of text.split('\n').filter(Boolean)) {
      const frame = JSON.parse(line)
      if (frame.type === 'user') appendFileSync(log, `${frame.msg_id}\n`)
    }
    connection.end()
  })
})
server.listen(socket, () => {
  writeFileSync(join(config, 'sessions', `${process.pid}.json`), JSON.stringify(record))
  console.log('ready')
})
