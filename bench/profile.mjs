/**
 * `node bench/profile.mjs FILE…`: where the time of CPU profiles went, for people without a browser.
 * Several files are added up, as for the processes of one measurement. Waiting is told apart.
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

const rows = 22
const waiting = '(idle)'

const nameOf = ({ functionName, url, lineNumber }) =>
  `${functionName || '(anonymous)'}${url === '' ? '' : ` ${basename(url)}:${lineNumber + 1}`}`

/** Time by function, in microseconds: in itself, and with all that it called. */
const self = new Map()
const total = new Map()
const add = (map, name, time) => map.set(name, (map.get(name) ?? 0) + time)

function take({ nodes, samples, timeDeltas }) {
  const byId = new Map(nodes.map((node) => [node.id, { ...node, name: nameOf(node.callFrame) }]))
  for (const node of nodes)
    for (const child of node.children ?? []) byId.get(child).parent = byId.get(node.id)
  for (const [place, id] of samples.entries()) {
    add(self, byId.get(id).name, timeDeltas[place])
    const callers = new Set()
    for (let node = byId.get(id); node !== undefined; node = node.parent) callers.add(node.name)
    for (const name of callers) add(total, name, timeDeltas[place])
  }
}

const files = process.argv.slice(2)
for (const file of files) take(JSON.parse(readFileSync(file, 'utf8')))
const idle = self.get(waiting) ?? 0
const busy = (total.get('(root)') ?? 0) - idle
const seconds = (time) => `${(time / 1e6).toFixed(2)} s`
console.log(
  `${files.length} profiles: ${seconds(busy)} busy, ${seconds(idle)} waiting; shares are of the busy time`,
)

for (const [heading, map] of [
  ['in the function itself', self],
  ['with what it called', total],
]) {
  console.log(`\n${heading}`)
  const sorted = [...map]
    .filter(([name]) => name !== waiting && name !== '(root)')
    .sort((a, b) => b[1] - a[1])
  for (const [name, time] of sorted.slice(0, rows)) {
    console.log(`${((100 * time) / busy).toFixed(1).padStart(6)} %  ${name}`)
  }
}
