import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { LocalSpace, Mailbox } from '../../../src/mod.ts'
import { trustSpace } from '../../../src/space/trust.ts'
import { tempSpace } from '../../helpers/temp.ts'
import { until } from '../../helpers/wait.ts'
import { clientHome } from './claude.ts'
import type { ModelRequest, Script } from './scripted-model.ts'

/** Installing a client takes a while the first time. */
export const clientTimeoutMs = 240_000

export interface MailStage {
  home: ReturnType<typeof clientHome>
  space: LocalSpace
  ada: Mailbox
  /** Sends mail whose subject is the mark. */
  mail(mark: string, to: string, input?: Partial<Parameters<Mailbox['send']>[0]>): Promise<void>
  /** The rungs that the mail with this mark has reached with somebody. */
  stepsOf(mark: string, name: string): Promise<string[]>
}

/** A project with a mailbox in it, and somebody who writes. */
export async function mailStage(): Promise<MailStage> {
  const home = clientHome()
  const space = await tempSpace({ dir: join(home.project, '.mailbox') })
  // Its user created it; here another process did, with another home.
  trustSpace(space.dir, { HOME: home.home })
  const ada = await space.mailbox('ada')
  const sent = new Map<string, string>()
  return {
    home,
    space,
    ada,
    async mail(mark, to, input = {}) {
      const { id } = await ada.send({ to, subject: mark, body: `the body of ${mark}`, ...input })
      sent.set(mark, id)
    },
    async stepsOf(mark, name) {
      const { receipts } = await space.show(sent.get(mark)!)
      const receipt = receipts.find(({ recipient }) => recipient === name)
      return receipt?.steps.map(({ state }) => state) ?? []
    },
  }
}

/** Resolves when somebody waits for the mail of an idle agent. */
export async function untilWaiting(project: string, agent: string): Promise<void> {
  const path = join(project, '.mailbox', 'hooks', 'agents', `${agent}.waiter`)
  await until(() => existsSync(path))
}

/** Clients ask the model for titles and such beside the conversation. */
export const isAside = ({ tools }: ModelRequest): boolean => tools.length === 0

/** How often a text stands in what a model was given. */
export const timesIn = ({ text }: ModelRequest, words: string): number => text.split(words).length - 1

/**
 * A turn in which urgent mail and a question come while the model thinks: it calls a tool once, and then has
 * nothing more to say, however often it is asked.
 */
export function interruptedTurn(
  stage: MailStage,
  agent: string,
  call: (request: ModelRequest) => { name: string; input: Record<string, unknown> },
): Script {
  let isCalled = false
  return async (request) => {
    if (isAside(request)) return { text: 'a title' }
    if (isCalled) return { text: 'Done.' }
    isCalled = true
    await stage.mail('STOP-MAIL', agent, { awaitingResponse: true })
    await stage.mail('TOOL-MAIL', agent, { priority: 'high' })
    return { calls: [call(request)] }
  }
}
