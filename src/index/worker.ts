import { parentPort, workerData } from 'node:worker_threads'
import { FileJournal } from '../journal/file/file-journal.ts'
import type { FromWorker, ToWorker, WorkerData } from './background.ts'
import { openIndex, openSearch } from './open.ts'
import { inSpace } from './shelter.ts'

/** The thread that {@link Background} starts. It catches one projection up whenever it is asked to. */
const { dir, projection } = workerData as WorkerData
// It only reads, so it does not matter where the journal itself is.
const journal = new FileJournal({ dir, isCopy: true })
const open = projection === 'words' ? openSearch : openIndex
const target = open(journal, [inSpace(dir, journal)])
const say = (message: FromWorker) => parentPort!.postMessage(message)
let ending = false

async function catchUp(): Promise<void> {
  try {
    // Between chunks it can be told to end.
    while (!ending && target.catchUp({ chunks: 1, onProgress: say })) await new Promise(setImmediate)
    say(true)
  } catch {
    say(false)
  }
  if (ending) end()
}

/** A thread that is terminated from outside would leave its locks behind, so it ends itself. */
function end(): void {
  target.close()
  void journal.close().then(() => parentPort!.close())
}

let running = false
parentPort!.on('message', (message: ToWorker) => {
  if (message === 'end') {
    ending = true
    if (!running) end()
  } else if (!running) {
    running = true
    void catchUp().finally(() => (running = false))
  }
})
