import { pidExists } from '../base/process.ts'
import { foreground } from './foreground.ts'
import { type Program, programFor } from './programs.ts'
import type { PanePlace } from './store.ts'
import { type Look, plainCommand, type Tmux } from './tmux.ts'

/** What is in front of a pane, and whether it is one to type into. */
export interface Front {
  look: Look
  program: Program
  /** It is not the program that the mail is for. */
  isOther: boolean
  /** Why nothing can be typed, whatever the screen says. */
  obstacle?: string
}

/** A pane as it is now; undefined when it is gone, or another has taken its number. */
export async function lookAtFront(
  tmux: Tmux,
  { pane, panePid }: PanePlace,
  wanted: string | undefined,
  epoch: string,
): Promise<Front | undefined> {
  const look = await lookAt(tmux, pane, panePid)
  if (look === undefined || look.panePid !== panePid) return undefined
  const name = await foreground(panePid, look.command)
  const isOther = wanted !== undefined && name !== wanted
  const [obstacle] = [
    look.isDead && 'the program in the pane has ended',
    look.epoch !== epoch && 'another watcher types into this pane',
    look.inMode && 'the pane is in copy mode',
    look.isSynchronized && 'the pane is synchronized with others',
    look.isInputOff && 'the input of the pane is off',
    isOther && `${name} is in the pane; waits for ${wanted}`,
    !plainCommand.test(look.command) && 'the program has an odd name',
  ].filter((one) => one !== false)
  const program = programFor(name, wanted !== undefined)
  return { look, program, isOther, ...(obstacle === undefined ? {} : { obstacle }) }
}

/** A server that is gone cannot say so; then the process of the pane has gone with it. */
async function lookAt(tmux: Tmux, pane: string, panePid: number): Promise<Look | undefined> {
  try {
    return await tmux.look(pane)
  } catch (error) {
    if (pidExists(panePid)) throw error
    return undefined
  }
}
