import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { MailboxError } from '../../base/errors.ts'
import { launchdPlist, type Service, systemdUnits, type UnitFile } from './units.ts'

/** What runs services for a user on this system: where its files go, and the commands that begin and end one. */
interface Manager {
  label: string
  dir: string
  units: (service: Service) => UnitFile[]
  begin: (files: readonly string[]) => string[][]
  end: (files: readonly string[]) => string[][]
  /** What else somebody may want to know. */
  tip: string
}

export function managerOf(env: NodeJS.ProcessEnv): Manager {
  const home = env['HOME'] || homedir()
  if (process.platform === 'darwin') {
    const domain = `gui/${process.getuid!()}`
    return {
      ...{ label: 'launchd', dir: join(home, 'Library', 'LaunchAgents') },
      units: (service) => [launchdPlist(service)],
      begin: (files) => files.map((path) => ['launchctl', 'bootstrap', domain, path]),
      end: (files) => files.map((path) => ['launchctl', 'bootout', domain, path]),
      tip: 'it starts when you log in, and again when it fails',
    }
  }
  if (process.platform !== 'linux')
    throw new MailboxError('invalid', `services are not known on ${process.platform}`, {
      hint: 'have mailbox serve started when you log in',
    })
  const unitNames = (files: readonly string[]) => files.map((path) => basename(path))
  const systemctl = (...words: string[]) => ['systemctl', '--user', ...words]
  return {
    ...{ label: 'systemd', dir: join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'systemd', 'user') },
    units: systemdUnits,
    begin: (files) => [systemctl('daemon-reload'), systemctl('enable', '--now', ...unitNames(files))],
    end: (files) => [systemctl('disable', '--now', ...unitNames(files)), systemctl('daemon-reload')],
    tip: 'it starts when you log in; to run it before that: loginctl enable-linger',
  }
}
