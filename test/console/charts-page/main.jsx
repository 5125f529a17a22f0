import { render } from 'preact'
import { useState } from 'preact/hooks'
import { ReplaySlider } from '../../../console/src/charts/replay-slider.tsx'
import { SequenceDiagram } from '../../../console/src/charts/sequence-diagram.tsx'
import { SmallMultiples } from '../../../console/src/charts/small-multiples.tsx'
import { TrafficGraph } from '../../../console/src/charts/traffic-graph.tsx'
import { TrafficMatrix } from '../../../console/src/charts/traffic-matrix.tsx'
import { series, thread, traffic } from './figures.js'
import './page.css'

const wanted = new URLSearchParams(location.search)
const { agents, pairs } = traffic(Number(wanted.get('agents') ?? 11))
const messages = thread(Number(wanted.get('messages') ?? 12))
const buckets = series(48)
const [first, last] = [1, 1_200]

function Page() {
  const [seq, setSeq] = useState(400)
  const [playing, setPlaying] = useState(false)
  const [picked, setPicked] = useState('nothing')
  const pick = (selection) => setPicked(JSON.stringify(selection))
  return (
    <>
      <h1>Charts</h1>
      <output id="picked">{picked}</output>
      <section id="graph">
        <h2>Traffic</h2>
        <TrafficGraph agents={agents} pairs={pairs} onSelect={pick} />
      </section>
      <section id="matrix">
        <h2>The same as a matrix</h2>
        <TrafficMatrix agents={agents} pairs={pairs} onSelect={pick} />
      </section>
      <section id="sequence">
        <h2>A thread</h2>
        <SequenceDiagram messages={messages} onSelect={pick} />
      </section>
      <section id="replay">
        <h2>The history</h2>
        <ReplaySlider
          first={first}
          last={last}
          firstAt={buckets[0].at}
          lastAt={buckets.at(-1).at}
          seq={seq}
          onChange={setSeq}
          playing={playing}
          onPlay={setPlaying}
          buckets={buckets}
        />
        <output id="seq">{seq}</output>
      </section>
      <section id="series">
        <h2>Figures</h2>
        <SmallMultiples buckets={buckets} />
      </section>
    </>
  )
}

render(<Page />, document.getElementById('page'))
