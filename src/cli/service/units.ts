import { isIP } from 'node:net'

/** A hub that the service manager of this machine runs. */
export interface Service {
  /** What the service manager calls it. */
  name: string
  /** The space that it serves. */
  dir: string
  host: string
  port: number
  /** The program and its words. */
  command: readonly string[]
  /** Where launchd writes what it prints. */
  log: string
}

export interface UnitFile {
  /** The name of the file, without its directory. */
  file: string
  text: string
}

/**
 * The units of systemd. The socket belongs to systemd where it can, so that nobody is refused while the hub starts
 * again; the service starts with the session all the same, because a hub has more to do than to answer.
 */
export function systemdUnits({ name, dir, host, port, command }: Service): UnitFile[] {
  const socket = isIP(host) === 0 ? undefined : `${name}.socket`
  const address = isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
  const service: UnitFile = {
    file: `${name}.service`,
    text: lines(
      '[Unit]',
      `Description=Mailbox hub of ${asText(dir)}`,
      ...(socket === undefined ? [] : [`Requires=${socket}`, `After=${socket}`]),
      '',
      '[Service]',
      'Type=exec',
      // The link to the console is a secret, and no line for a log; the log is on standard error.
      'StandardOutput=null',
      `ExecStart=${command.map(quoted).join(' ')}`,
      'Restart=on-failure',
      'RestartSec=2',
      'TimeoutStopSec=20',
      'UMask=0077',
      '',
      '[Install]',
      'WantedBy=default.target',
    ),
  }
  if (socket === undefined) return [service]
  const text = lines(
    '[Unit]',
    `Description=Mailbox hub of ${asText(dir)}`,
    '',
    '[Socket]',
    `ListenStream=${address}`,
    '',
    '[Install]',
    'WantedBy=sockets.target',
  )
  return [{ file: socket, text }, service]
}

/** A value of a unit file. `%` would begin a specifier. */
const asText = (value: string): string => value.replaceAll('%', '%%').replace(/[\p{Cc}]/gu, ' ')

/** A word of a command line in a unit file. */
const quoted = (word: string): string =>
  `"${word
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('$', '$$$$')
    .replaceAll('%', '%%')}"`

/** The property list of launchd. */
export const launchdPlist = ({ name, command, log }: Service): UnitFile => ({
  file: `${name}.plist`,
  text: lines(
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    ...keyed('Label', string(name)),
    ...keyed('ProgramArguments', '<array>', ...command.map((word) => `  ${string(word)}`), '</array>'),
    ...keyed('RunAtLoad', '<true/>'),
    ...keyed('KeepAlive', '<dict>', '  <key>SuccessfulExit</key>', '  <false/>', '</dict>'),
    ...keyed('ProcessType', string('Background')),
    // 077
    ...keyed('Umask', '<integer>63</integer>'),
    // The link to the console is a secret, and no line for a log.
    ...keyed('StandardOutPath', string('/dev/null')),
    ...keyed('StandardErrorPath', string(log)),
    '</dict>',
    '</plist>',
  ),
})

const keyed = (key: string, ...value: string[]): string[] => [
  `  <key>${key}</key>`,
  ...value.map((line) => `  ${line}`),
]

const string = (text: string): string =>
  `<string>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</string>`

const lines = (...all: string[]): string => `${all.join('\n')}\n`
