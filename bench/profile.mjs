/** `node bench/profile.mjs FILE…`: where the time of a CPU profile went, for people without a browser. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const rows = 20

const nameOf = ({ functionName, url, lineNumber }) =>
  `${functionName || '(anonymous)'}${url === '' ? '' : ` ${basename(url)}:${lineNumber + 1}`}`

/** Time by function: in itself, and with all that it called. */
function timesOf({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, { ...node, name: nameOf(node.callFrame) }]))
  for (const node of nodes)
    for (const child of node.children ?? []) byId.get(child).parent = byId.get(node.id)
  const self = new Map()
  const total = new Map()
  let all = 0
  const add = (map, name, time) => map.set(name, (map.get(name) ?? 0) + time)
  for (const [place, id] of samples.entries()) {
    const time = timeDeltas[place]
    all += time
    add(self, byId.get(id).name, time)
    const seen = new Set()
    for (let node = byId.get(id); node !== undefined; node = node.parent) seen.add(node.name)
    for (const name of seen) add(total, name, time)
  }
  return { self, total, all }
}

const print = (heading, map, all) => {
  console.log(`\n${heading}`)
  const sorted = [...map].sort((a, b) => b[1] - a[1]).slice(0, rows)
  for (const [name, time] of sorted) console.log(`${((100 * time) / all).toFixed(1).padStart(6)} %  ${name}`)
}

for (const file of process.argv.slice(2)) {
  const { self, total, all } = timesOf(JSON.parse(readFileSync(file, 'utf8')))
  console.log(`\n${basename(file)}, ${(all / 1e6).toFixed(1)} s`)
  print('in the function itself', self, all)
  print('with what it called', total, all)
}
