import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientProgram } from '../../helpers/install.ts'
import { bareEnv, type ClientHome, type RunningClient, startClient } from './claude.ts'

export interface GeminiOptions {
  home: ClientHome
  modelUrl: string
  settings?: object
  args: readonly string[]
}

/** Starts the real Gemini CLI against a scripted model. */
export function startGemini(options: GeminiOptions): RunningClient {
  const client = startClient(process.execPath, geminiWords(options.args), {
    cwd: options.home.project,
    env: setUpGemini(options),
  })
  client.end()
  return client
}

export const geminiWords = (args: readonly string[]): string[] => [
  ...[clientProgram('gemini'), ...args, '-m', 'gemini-2.5-flash'],
]

/** Writes its settings, and gives the environment in which it finds them. */
export function setUpGemini({
  home,
  modelUrl,
  settings = {},
}: Omit<GeminiOptions, 'args'>): Record<string, string> {
  mkdirSync(join(home.home, '.gemini'), { recursive: true })
  const quiet = {
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  }
  writeFileSync(join(home.home, '.gemini', 'settings.json'), JSON.stringify({ ...quiet, ...settings }))
  return {
    ...bareEnv(home),
    ...{ GEMINI_CLI_HOME: home.home, GEMINI_API_KEY: 'a-key-for-loopback', GOOGLE_GEMINI_BASE_URL: modelUrl },
    // It would start itself again with more memory.
    GEMINI_CLI_NO_RELAUNCH: 'true',
  }
}
