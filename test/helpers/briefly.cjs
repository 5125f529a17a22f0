// Required before a command: notes in the file BRIEFLY_LOG, when it ends, whether it has loaded the whole program.
const fs = require('node:fs')
const { readFileSync } = fs
let isWhole = false
fs.readFileSync = (path, ...more) => {
  isWhole ||= String(path).endsWith('program.cjs')
  return readFileSync(path, ...more)
}
process.on('exit', () => fs.appendFileSync(process.env.BRIEFLY_LOG, isWhole ? 'whole\n' : 'brief\n'))
