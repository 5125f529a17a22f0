import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MailboxError } from '../../base/errors.ts'
import { type ClientSetup, jsonFile, type Place, stdioServer, userHome } from '../setup/client-setup.ts'

// `uninit` recognises the file by this line, so it never changes.
const mark = '// Written by `mailbox init`; `mailbox uninit` takes it away.'

export const opencodeSetup: ClientSetup = {
  name: 'opencode',
  label: 'OpenCode',
  binary: 'opencode',
  home: (env) => join(env['XDG_CONFIG_HOME'] || join(userHome(env), '.config'), 'opencode'),
  files(place) {
    const { scope, project, env } = place
    const configDir = scope === 'project' ? project : opencodeSetup.home(env)
    const pluginDir = scope === 'project' ? join(project, '.opencode') : opencodeSetup.home(env)
    return [
      {
        client: 'opencode',
        id: 'plugin',
        path: join(pluginDir, 'plugin', 'agent-mailbox.js'),
        install: (text) => installPlugin(text, place),
        uninstall: (text) => (text.startsWith(mark) ? '' : text),
      },
      jsonFile('opencode', 'config', configFile(configDir), {
        server: { under: 'mcp', value: server(place) },
      }),
    ]
  },
}

/** OpenCode reads either name; a second file beside the person's own would be a surprise. */
function configFile(dir: string): string {
  const commented = join(dir, 'opencode.jsonc')
  return existsSync(commented) ? commented : join(dir, 'opencode.json')
}

/** OpenCode treats every function that a file in its plugin folder exports as a plugin. */
function installPlugin(text: string, { dist, space }: Place): string {
  if (text !== '' && !text.startsWith(mark)) {
    throw new MailboxError('conflict', 'a plugin with that name already exists', { hint: 'rename it' })
  }
  const variable = space === undefined ? [] : [`process.env.MAILBOX_SPACE ??= ${JSON.stringify(space)}`]
  const source = JSON.stringify(pathToFileURL(join(dist, 'opencode-plugin.js')).href)
  return `${[mark, ...variable, `export * from ${source}`].join('\n')}\n`
}

function server(place: Place) {
  const { command, args, env } = stdioServer(place)
  return { type: 'local', command: [command, ...args], ...(env && { environment: env }), enabled: true }
}
