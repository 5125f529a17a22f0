import type { Command } from 'commander'
import { toPrintableLine } from '../../model/text.ts'
import { checkup, type Finding } from '../checkup.ts'
import { action, type Cli } from '../cli.ts'
import { examples } from '../help.ts'
import { hubCheckup } from '../hub-checkup.ts'
import { foundPlace } from '../open.ts'

export function doctor(command: Command): void {
  command
    .description('Check the installation and the space, and suggest fixes. Exits with 1 if a check fails.')
    .option('--deep', 'also compare the index with the journal')
    .addHelpText('after', examples('mailbox doctor', 'mailbox doctor --space .mailbox --json'))
  action(command, async (cli, { deep = false }: { deep?: boolean }) => {
    const findings: Finding[] = []
    const place = foundPlace(cli)
    const checks = place.kind === 'hub' ? hubCheckup(cli, place) : checkup(cli, place, deep)
    for await (const finding of checks) findings.push(finding)
    cli.unreadable = () => []
    const ok = findings.every(({ state }) => state !== 'fail')
    cli.answer({ ok, checks: findings }, () => findings.map((finding) => line(cli, finding)).join('\n'))
    if (!ok) process.exitCode = 1
  })
}

function line({ colors }: Cli, { check, state, found, next }: Finding): string {
  const paint = { ok: colors.green, warn: colors.yellow, fail: colors.red }[state]
  const advice = next === undefined ? '' : `\n${' '.repeat(18)}${toPrintableLine(next)}`
  return `${paint(state.padEnd(4))}  ${check.padEnd(10)}  ${toPrintableLine(found)}${advice}`
}
