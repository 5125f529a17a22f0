// An agent that is talked to: shows a prompt, reads lines, and writes every byte it gets to a log.
// Usage: node fake-agent.mjs LOG [--bracketed] [--silent] [--busy FILE] [--prompt TEXT]
import { appendFileSync, existsSync, writeFileSync } from 'node:fs'

const [log, ...flags] = process.argv.slice(2)
const has = (flag) => flags.includes(flag)
const after = (flag) => flags[flags.indexOf(flag) + 1]
const prompt = has('--prompt') ? after('--prompt') : 'fake> '
const busyFile = has('--busy') ? after('--busy') : undefined
const note = (what) => appendFileSync(log, `${JSON.stringify(what)}\n`)

let line = ''
let inPaste = false
let isBusy = false
let rest = Buffer.alloc(0)

process.stdin.setRawMode(true)
if (has('--bracketed')) process.stdout.write('\x1b[?2004h')
writeFileSync(log, '')
ask()

function ask() {
  isBusy = busyFile !== undefined && existsSync(busyFile)
  if (!isBusy) process.stdout.write(`\r\n${prompt}${has('--silent') ? '' : line}`)
}

// A busy agent keeps printing, as one that works does.
setInterval(() => {
  if (isBusy && !existsSync(busyFile)) ask()
  else if (!isBusy && busyFile !== undefined && existsSync(busyFile)) isBusy = true
  else if (isBusy) process.stdout.write('\r\nworking ')
}, 40)

function submit() {
  note({ submit: line })
  line = ''
  process.stdout.write('\r\nok')
  ask()
}

process.stdin.on('data', (chunk) => {
  note({ bytes: chunk.toString('hex') })
  rest = Buffer.concat([rest, chunk])
  for (;;) {
    const text = rest.toString('latin1')
    if (text.startsWith('\x1b[200~')) {
      inPaste = true
      rest = rest.subarray(6)
    } else if (text.startsWith('\x1b[201~')) {
      inPaste = false
      rest = rest.subarray(6)
    } else if (text.startsWith('\x1b') && text.length < 6 && '\x1b[200~'.startsWith(text.slice(0, 4))) {
      break
    } else if (rest.length === 0) {
      break
    } else {
      take()
    }
  }
})

function take() {
  const byte = rest[0]
  if (inPaste && byte !== 0x1b) {
    const end = rest.indexOf(0x1b)
    add(end < 0 ? rest : rest.subarray(0, end))
    rest = end < 0 ? Buffer.alloc(0) : rest.subarray(end)
  } else if (byte === 0x0d || byte === 0x0a) {
    rest = rest.subarray(1)
    submit()
  } else if (byte < 0x20 || byte === 0x7f) {
    note({ key: byte, inPaste })
    rest = rest.subarray(1)
    if (byte === 0x03) process.exit(0)
  } else {
    const end = rest.findIndex((one) => one < 0x20 || one === 0x7f)
    add(end < 0 ? rest : rest.subarray(0, end))
    rest = end < 0 ? Buffer.alloc(0) : rest.subarray(end)
  }
}

const decoder = new TextDecoder('utf-8')
function add(bytes) {
  const text = decoder.decode(bytes, { stream: true })
  line += text
  if (!has('--silent')) process.stdout.write(text.replaceAll('\n', '\r\n'))
}
