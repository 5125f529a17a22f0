import { pidExists } from '../base/process.ts'
import { foreground } from './foreground.ts'
import { type Program, programFor } from './programs.ts'
import type { PanePlace } from './store.ts'
import { type PaneSnapshot, plainCommand, type Tmux } from './tmux.ts'

/** What a pane shows, and whether we may type into it. */
export interface PaneState {
  look: PaneSnapshot
  program: Program
  /** Another program than the one that the mail is for is in the foreground. */
  isOther: boolean
  /** Why nothing can be typed, whatever the screen shows. */
  obstacle: string | undefined
}

/** The state of a pane; undefined when it is gone, or its number belongs to another pane now. */
export async function readPaneState(
  tmux: Tmux,
  { pane, panePid }: PanePlace,
  wanted: string | undefined,
  epoch: string,
): Promise<PaneState | undefined> {
  const look = await tmux.look(pane).catch((error: unknown) => {
    // A server that has ended cannot tell us, but then the pane's process has ended too.
    if (pidExists(panePid)) throw error
  })
  if (!look || look.panePid !== panePid) return undefined
  const name = await foreground(panePid, look.command)
  const isOther = wanted !== undefined && name !== wanted
  const [obstacle] = [
    look.isDead && 'the program in the pane has exited',
    look.epoch !== epoch && 'another watcher is typing into this pane',
    look.inMode && 'the pane is in copy mode',
    look.isSynchronized && 'the pane is synchronized with others',
    look.isInputOff && 'the input of the pane is disabled',
    isOther && `${name} is in the pane; waiting for ${wanted}`,
    !plainCommand.test(look.command) && 'the name of the program is not supported',
  ].filter((one) => one !== false)
  return { look, program: programFor(name, wanted !== undefined), isOther, obstacle }
}
