// Is there until somebody ends it.
console.log('here')
setInterval(() => {}, 60_000)
