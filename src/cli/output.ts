import { once } from 'node:events'
import picocolors from 'picocolors'

export type Colors = ReturnType<typeof picocolors.createColors>

/** Colours for one of the two streams: a file or a pipe gets none, nor does anybody who set NO_COLOR. */
export function colorsFor(stream: NodeJS.WriteStream): Colors {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  const wanted = FORCE_COLOR !== undefined && FORCE_COLOR !== '' && FORCE_COLOR !== '0'
  const able = stream.isTTY === true && TERM !== 'dumb'
  return picocolors.createColors(!NO_COLOR && (wanted || able))
}

/** Columns to fit into. */
export const widthOf = (stream: NodeJS.WriteStream): number => Math.max(40, stream.columns || 80)

/** Writes, and waits while the reader is slower than we are. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** `mailbox log | head` closes the pipe when it has seen enough; that is an end, not an error. */
export function ignoreClosedPipes(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  process.stderr.on('error', () => {})
}

/** Resolves when everything written is out. */
export async function settle(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write('', done))),
  )
}
