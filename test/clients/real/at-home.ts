import { dirname, join } from 'node:path'
import { clientNamed } from '../../../src/clients/registry.ts'
import type { Client } from '../../../src/model/client.ts'
import { clientProgram } from '../../helpers/install.ts'
import { initHome, placeIn } from '../setup/home.ts'
import { type ClientHome, claudeEnv, cli, type RunningClient, skipWelcome, startClient } from './claude.ts'
import { setUpCodex } from './codex.ts'
import { geminiWords, setUpGemini } from './gemini.ts'
import { setUpOpencode } from './opencode.ts'

/** A client as its user has it after `mailbox init`: with all of its settings at home, and no others. */
export interface ClientAtHome {
  env: Record<string, string>
  words(...args: string[]): string[]
  /** Starts it without a terminal. */
  start(...args: string[]): RunningClient
}

/** Each writes the client's own settings, and gives the environment in which it finds them. */
const setUps: Record<Client, (home: ClientHome, modelUrl: string) => Record<string, string>> = {
  claude(home, modelUrl) {
    skipWelcome(home)
    return claudeEnv({ home, modelUrl })
  },
  codex: (home, modelUrl) => setUpCodex({ home, modelUrl }),
  gemini: (home, modelUrl) => setUpGemini({ home, modelUrl }),
  opencode: (home, modelUrl) => setUpOpencode({ home, modelUrl }),
}

export function clientAtHome(
  client: Client,
  home: ClientHome,
  modelUrl: string,
  more: Record<string, string> = {},
): ClientAtHome {
  const env = { ...setUps[client](home, modelUrl), ...more }
  const place = placeIn(home.home, { env, project: home.project, dist: dirname(cli) })
  initHome(place, [clientNamed(client)])
  const words = (...args: string[]) =>
    client === 'gemini' ? [process.execPath, ...geminiWords(args)] : [clientProgram(client), ...args]
  return {
    env,
    words,
    start(...args) {
      const [program, ...rest] = words(...args)
      return startClient(program!, rest, { cwd: home.project, env })
    },
  }
}

/** Where its first session makes a space. */
export const spaceDirOf = ({ home }: ClientHome): string => join(home, '.mailbox')
