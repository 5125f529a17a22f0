import { useEffect } from 'preact/hooks'
import { connection } from './data/connection.ts'
import { goLive } from './data/live.ts'
import { loadParts } from './data/part.ts'
import { token } from './data/session.ts'
import { Shell } from './shell/shell.tsx'
import { startWatch } from './state/away.ts'
import { needsYou, owed } from './state/matters.ts'
import { startNotifying } from './state/notify.ts'
import { overview } from './state/overview.ts'
import { SignIn } from './views/sign-in.tsx'

let isNotifying = false

/** Runs once there is a token: loads what every page needs and opens the stream that keeps it current. */
async function begin(signal: AbortSignal): Promise<void> {
  connection.value = 'connecting'
  // The hub answers in this order, so what needs the person arrives first.
  const stops = [needsYou.use(), overview.use(), owed.use()]
  signal.addEventListener('abort', () => {
    for (const stop of stops) stop()
  })
  if (!isNotifying) {
    startNotifying()
    startWatch()
  }
  isNotifying = true
  // The stream starts where the first answer ends. Entries that are already part of it change nothing.
  const start = await new Promise<number>((resolve) => {
    const off = overview.data.subscribe((data) => {
      if (data === undefined) return
      resolve(data.seq)
      queueMicrotask(() => off())
    })
  })
  void loadParts()
  await goLive(start, signal)
}

export function App() {
  const isIn = token.value !== null
  useEffect(() => {
    if (!isIn) return
    const ending = new AbortController()
    void begin(ending.signal)
    return () => ending.abort()
  }, [isIn])
  return isIn ? <Shell /> : <SignIn />
}
