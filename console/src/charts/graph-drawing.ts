import type { Point } from './graph-layout.ts'
import { type Party, volume } from './traffic.ts'

export interface Box {
  left: number
  top: number
  right: number
  bottom: number
}

/** Wide enough for most fonts. Only used to keep labels apart. */
const letterPx = 6.9
const labelPx = 15

/** The area shows the volume, so the radius is a square root. */
export function radiusOf(party: Party, most: number, count: number): number {
  const [least, range] = count > 80 ? [3.5, 7] : [6, 11]
  return least + range * Math.sqrt(volume(party) / Math.max(1, most))
}

/** Thinner when there are many lines, so that nodes and names stay visible. */
export function widthOf(messages: number, most: number, lines: number): number {
  const [least, range] = lines > 160 ? [0.6, 2.4] : lines > 50 ? [0.8, 3.2] : [1, 5]
  return least + range * Math.sqrt(messages / Math.max(1, most))
}

/** A curve from one node to another, so that both directions are visible, with an arrowhead at the node. */
export function bow(from: Point, to: Point, toRadius: number, width: number): { line: string; head: string } {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const far = Math.max(1, Math.hypot(dx, dy))
  const bend = Math.min(46, far * 0.16)
  const control = { x: (from.x + to.x) / 2 - (dy / far) * bend, y: (from.y + to.y) / 2 + (dx / far) * bend }
  // The arrowhead follows the end of the curve, which comes from the control point.
  const [ex, ey] = [to.x - control.x, to.y - control.y]
  const length = Math.max(1, Math.hypot(ex, ey))
  const [ux, uy] = [ex / length, ey / length]
  const size = 4.5 + width * 1.1
  const tip = { x: to.x - ux * (toRadius + 1.5), y: to.y - uy * (toRadius + 1.5) }
  const base = { x: tip.x - ux * size, y: tip.y - uy * size }
  const half = size * 0.55
  return {
    line: `M${pt(from)}Q${pt(control)} ${pt(base)}`,
    head: `M${pt(tip)}L${pt({ x: base.x - uy * half, y: base.y + ux * half })}L${pt({ x: base.x + uy * half, y: base.y - ux * half })}Z`,
  }
}

const pt = ({ x, y }: Point): string => `${x.toFixed(1)},${y.toFixed(1)}`

/** The label goes below its node, shifted inward where it would leave the picture. */
export function labelBox(name: string, { x, y }: Point, radius: number, width: number): Box {
  const half = (name.length * letterPx) / 2
  const middle = half * 2 > width ? width / 2 : Math.min(width - half, Math.max(half, x))
  return { left: middle - half, right: middle + half, top: y + radius + 1, bottom: y + radius + 1 + labelPx }
}

/** The nodes that have room for a label. The first in the list take precedence. */
export function roomForLabels(boxes: readonly { name: string; label: Box; node: Box }[]): Set<string> {
  const most = boxes.length > 80 ? 40 : boxes.length
  const taken: Box[] = []
  const named = new Set<string>()
  for (const { name, label } of boxes) {
    if (named.size === most) break
    if (taken.some((other) => overlap(label, other))) continue
    // A label over another node would seem to belong to it.
    if (boxes.some((other) => other.name !== name && overlap(label, other.node))) continue
    taken.push(label)
    named.add(name)
  }
  return named
}

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom

const sides: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
}

/** The nearest node in that direction, preferring those straight ahead. */
export function neighbour(key: string, from: string, places: ReadonlyMap<string, Point>): string | undefined {
  const side = sides[key]
  const here = places.get(from)
  if (side === undefined || here === undefined) return undefined
  let best: { name: string; cost: number } | undefined
  for (const [name, { x, y }] of places) {
    const [dx, dy] = [x - here.x, y - here.y]
    const ahead = dx * side[0] + dy * side[1]
    if (name === from || ahead <= 0.5) continue
    const aside = Math.abs(dx * side[1]) + Math.abs(dy * side[0])
    const cost = ahead + 2 * aside
    if (best === undefined || cost < best.cost) best = { name, cost }
  }
  return best?.name
}
