import type uPlot from 'uplot'
import type { LifeEvent, Threshold } from './types.ts'

interface Marks {
  events?: readonly LifeEvent[]
  thresholds?: readonly Threshold[]
}

interface MarkStyle {
  died: string
  restarted: string
  hub_started: string
  /** Of a threshold. */
  line: string
}

/** Draws deaths, restarts and thresholds over the lines of a chart. */
export function marksPlugin(latest: { readonly current: Marks }, style: MarkStyle): uPlot.Plugin {
  return {
    hooks: {
      draw: (plot) => {
        const { ctx, bbox } = plot
        const ratio = devicePixelRatio
        ctx.save()
        ctx.beginPath()
        ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
        ctx.clip()
        ctx.lineWidth = ratio
        const stroke = (color: string, dash: number[], from: [number, number], to: [number, number]) => {
          ctx.strokeStyle = color
          ctx.setLineDash(dash.map((length) => length * ratio))
          ctx.beginPath()
          ctx.moveTo(...from)
          ctx.lineTo(...to)
          ctx.stroke()
        }
        for (const { at, kind } of latest.current.events ?? []) {
          const x = Math.round(plot.valToPos(Date.parse(at) / 1_000, 'x', true))
          stroke(style[kind], [3, 3], [x, bbox.top], [x, bbox.top + bbox.height])
          // A mark at the top, so that the two kinds differ by more than their colour.
          const size = 4 * ratio
          ctx.fillStyle = style[kind]
          ctx.beginPath()
          if (kind === 'died') {
            ctx.moveTo(x - size, bbox.top)
            ctx.lineTo(x + size, bbox.top)
            ctx.lineTo(x, bbox.top + 1.6 * size)
          } else if (kind === 'restarted') ctx.arc(x, bbox.top + size, size, 0, 2 * Math.PI)
          else ctx.rect(x - size, bbox.top, 2 * size, 1.6 * size)
          ctx.fill()
        }
        for (const { value } of latest.current.thresholds ?? []) {
          if (value > (plot.scales['y']?.max ?? 0)) continue
          const y = Math.round(plot.valToPos(value, 'y', true))
          stroke(style.line, [6, 4], [bbox.left, y], [bbox.left + bbox.width, y])
        }
        ctx.restore()
      },
    },
  }
}
