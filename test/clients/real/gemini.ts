import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clientProgram } from '../../helpers/install.ts'
import { bareEnv, type clientHome, type RunningClient, startClient } from './claude.ts'

export interface GeminiOptions {
  home: ReturnType<typeof clientHome>
  modelUrl: string
  settings: object
  args: readonly string[]
}

/** Starts the real Gemini CLI against a scripted model. */
export function startGemini({ home, modelUrl, settings, args }: GeminiOptions): RunningClient {
  mkdirSync(join(home.home, '.gemini'), { recursive: true })
  const quiet = {
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
  }
  writeFileSync(join(home.home, '.gemini', 'settings.json'), JSON.stringify({ ...quiet, ...settings }))
  const client = startClient(process.execPath, [clientProgram('gemini'), ...args, '-m', 'gemini-2.5-flash'], {
    cwd: home.project,
    env: {
      ...bareEnv(home),
      ...{
        GEMINI_CLI_HOME: home.home,
        GEMINI_API_KEY: 'a-key-for-loopback',
        GOOGLE_GEMINI_BASE_URL: modelUrl,
      },
      // It would start itself anew with more memory.
      GEMINI_CLI_NO_RELAUNCH: 'true',
    },
  })
  client.end()
  return client
}
