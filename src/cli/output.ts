import { once } from 'node:events'
import picocolors from 'picocolors'

export type Colors = ReturnType<typeof picocolors.createColors>

/** Where something is printed. To look at a stream of the process makes it, which takes as long as a short command. */
export interface Stream {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

/** Colours for one of the two streams: none for a file or a pipe, or when NO_COLOR is set. */
export function colorsFor(stream: Pick<Stream, 'isTTY'>): Colors {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  const wanted = FORCE_COLOR !== undefined && FORCE_COLOR !== '' && FORCE_COLOR !== '0'
  const able = stream.isTTY === true && TERM !== 'dumb'
  return picocolors.createColors(!NO_COLOR && (wanted || able))
}

/** How many columns fit. */
export const widthOf = (stream: Pick<Stream, 'columns'>): number => Math.max(40, stream.columns || 80)

/** Writes, and waits when the reader is slow. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** `mailbox log | head` closes the pipe early; that is a normal end, not an error. */
export function ignoreClosedPipes(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  process.stderr.on('error', () => {})
}

/** Resolves when everything written has been flushed. */
export async function settle(): Promise<void> {
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise((done) => stream.write('', done))),
  )
}
