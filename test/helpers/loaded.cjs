// Required before a program: notes in the file LOADED_LOG, when it ends, whether it has loaded SQLite.
const { appendFileSync } = require('node:fs')
process.on('exit', () => {
  const isLoaded = Object.keys(require.cache).some((file) => file.includes('libsql'))
  appendFileSync(process.env.LOADED_LOG, isLoaded ? 'sqlite\n' : 'light\n')
})
