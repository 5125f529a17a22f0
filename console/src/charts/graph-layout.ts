import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from 'd3-force'

export interface Point {
  x: number
  y: number
}

interface Node extends SimulationNodeDatum {
  name: string
}

/** Enough for 200 nodes to settle. All run before the first drawing, so nothing moves on screen. */
const ticks = 300
const warmTicks = 60

/**
 * Places nodes so that those with traffic are close to each other, with coordinates between 0 and 1. The same
 * names and links always give the same picture, because the start position is derived from the name. Nodes
 * from `before` move little.
 */
export function layoutGraph(
  names: readonly string[],
  links: readonly { from: string; to: string }[],
  before: ReadonlyMap<string, Point> = new Map(),
): Map<string, Point> {
  const sorted = [...names].sort()
  const reach = 30 * Math.sqrt(sorted.length)
  const nodes: Node[] = sorted.map((name) => ({
    name,
    ...(warm(before.get(name), reach) ?? start(name, reach)),
  }))
  const known = new Set(sorted)
  const edges = links
    .filter(({ from, to }) => from !== to && known.has(from) && known.has(to))
    .map(({ from, to }) => ({ source: from, target: to }))
  const isWarm = sorted.filter((name) => before.has(name)).length > sorted.length / 2
  const simulation = forceSimulation(nodes)
    .force(
      'charge',
      forceManyBody<Node>()
        .strength(-90)
        .distanceMax(reach * 1.2),
    )
    .force(
      'link',
      forceLink<Node, { source: string | Node; target: string | Node }>(edges)
        .id(({ name }) => name)
        .distance(46),
    )
    .force('collide', forceCollide<Node>(20))
    .force('x', forceX<Node>(0).strength(0.09))
    .force('y', forceY<Node>(0).strength(0.12))
    .alpha(isWarm ? 0.15 : 1)
    .stop()
  simulation.tick(isWarm ? warmTicks : ticks)
  return inUnits(nodes)
}

function inUnits(nodes: readonly Node[]): Map<string, Point> {
  const xs = nodes.map(({ x = 0 }) => x)
  const ys = nodes.map(({ y = 0 }) => y)
  const [left, top] = [Math.min(...xs), Math.min(...ys)]
  const [width, height] = [Math.max(...xs) - left, Math.max(...ys) - top]
  const share = (value: number, from: number, size: number) => (size < 1e-6 ? 0.5 : (value - from) / size)
  return new Map(
    nodes.map(({ name, x = 0, y = 0 }) => [name, { x: share(x, left, width), y: share(y, top, height) }]),
  )
}

const warm = (point: Point | undefined, reach: number): Point | undefined =>
  point === undefined ? undefined : { x: (point.x - 0.5) * 2 * reach, y: (point.y - 0.5) * 2 * reach }

function start(name: string, reach: number): Point {
  const seed = hash(name)
  const angle = ((seed & 0xffff) / 0x10000) * 2 * Math.PI
  const far = reach * (0.3 + 0.7 * ((seed >>> 16) / 0x10000))
  return { x: Math.cos(angle) * far, y: Math.sin(angle) * far }
}

/** FNV-1a: any hash will do, as long as it is the same everywhere. */
function hash(text: string): number {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  return sum >>> 0
}
