import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MailboxError } from '../../base/errors.ts'
import { type ClientSetup, type Place, serverCommand, serverEnv } from '../setup/client.ts'
import { installJson, uninstallJson } from '../setup/json-settings.ts'

const mark = '// Written by `mailbox init`; `mailbox uninit` takes it away.'

export const opencode: ClientSetup = {
  name: 'opencode',
  label: 'OpenCode',
  binary: 'opencode',
  home: (env) => join(env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? homedir(), '.config'), 'opencode'),
  files(place) {
    const { scope, project, env } = place
    const configDir = scope === 'project' ? project : opencode.home(env)
    const pluginDir = scope === 'project' ? join(project, '.opencode') : opencode.home(env)
    return [
      {
        client: 'opencode',
        id: 'plugin',
        path: join(pluginDir, 'plugin', 'agent-mailbox.js'),
        install: (text) => installPlugin(text, place),
        uninstall: (text) => (text.startsWith(mark) ? '' : text),
      },
      {
        client: 'opencode',
        id: 'config',
        path: configFile(configDir),
        install: (text) => installJson(text, { server: { under: 'mcp', value: server(place) } }),
        uninstall: uninstallJson,
      },
    ]
  },
}

/** OpenCode reads either; a second one beside the person's own would be a surprise. */
function configFile(dir: string): string {
  const commented = join(dir, 'opencode.jsonc')
  return existsSync(commented) ? commented : join(dir, 'opencode.json')
}

/** OpenCode takes every function that a file in its plugin folder exports for a plugin. */
function installPlugin(text: string, { dist, space }: Place): string {
  if (text !== '' && !text.startsWith(mark)) {
    throw new MailboxError('conflict', 'there is a plugin of that name already', { hint: 'rename that one' })
  }
  const where = space === undefined ? [] : [`process.env.MAILBOX_SPACE ??= ${JSON.stringify(space)}`]
  const from = JSON.stringify(pathToFileURL(join(dist, 'opencode-plugin.js')).href)
  return `${[mark, ...where, `export * from ${from}`].join('\n')}\n`
}

function server(place: Place) {
  const environment = serverEnv(place)
  return { type: 'local', command: serverCommand(place), ...(environment && { environment }), enabled: true }
}
