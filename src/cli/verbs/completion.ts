import type { Command } from 'commander'
import { MailboxError } from '../../base/errors.ts'
import { action } from '../cli.ts'
import { scripts } from '../completion-scripts.ts'
import { examples } from '../help.ts'

export function completion(command: Command): void {
  const shells = Object.keys(scripts)
  command
    .description('Print a shell completion script for verbs, options, agents, addresses and message ids.')
    .argument('<shell>', shells.join(', '))
    .addHelpText(
      'after',
      examples(
        "echo 'source <(mailbox completion bash)' >> ~/.bashrc",
        "echo 'source <(mailbox completion zsh)' >> ~/.zshrc",
        'mailbox completion fish > ~/.config/fish/completions/mailbox.fish',
      ),
    )
  action(command, (cli, shell: string) => {
    const script = Object.hasOwn(scripts, shell) ? scripts[shell as keyof typeof scripts] : undefined
    if (script === undefined) {
      throw new MailboxError('invalid', `no completion for shell ${JSON.stringify(shell)}`, {
        hint: `use ${shells.join(', ')}`,
      })
    }
    cli.answer({ shell, script }, () => script)
  })
}
