// Required before a program: notes in the file LOADED_LOG, when it ends, whether it has loaded SQLite or the
// driver of a database.
const { appendFileSync } = require('node:fs')
process.on('exit', () => {
  const isLoaded = Object.keys(require.cache).some(
    (file) => file.includes('libsql') || file.includes('/node_modules/pg/'),
  )
  appendFileSync(process.env.LOADED_LOG, isLoaded ? 'heavy\n' : 'light\n')
})
