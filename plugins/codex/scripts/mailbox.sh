#!/bin/sh
# Finds the agent-mailbox package and starts it:
#
#   mailbox.sh hook CLIENT EVENT    what a client runs at its events
#   mailbox.sh WORDS...             the command line, such as `mcp`
#
# A client copies this folder somewhere else, so the package is not simply beside it. In this order: where
# MAILBOX_DIST says, the checkout or package that this folder is still a part of, what is installed under the
# name `mailbox`. Built-ins of the shell do as far as they can: this runs after every tool call.

dist=
here=${0%/*}
mailbox=$(command -v mailbox 2>/dev/null)
for candidate in "$MAILBOX_DIST" "$here/../../../dist" "${mailbox%/bin/mailbox}/lib/node_modules/agent-mailbox/dist"; do
  [ -f "$candidate/hook.sh" ] && dist=$candidate && break
done
if [ -z "$dist" ] && [ -n "$mailbox" ]; then
  program=$(readlink -f "$mailbox" 2>/dev/null)
  [ -f "${program%/*}/hook.sh" ] && dist=${program%/*}
fi

if [ "$1" != hook ]; then
  [ -n "$dist" ] && exec "${MAILBOX_NODE:-node}" "$dist/cli.cjs" "$@"
  echo 'agent-mailbox is not installed: npm install -g agent-mailbox, or set MAILBOX_DIST to its dist folder' >&2
  exit 1
fi

[ -n "$dist" ] && exec "$dist/hook.sh" "$2" "$3"
# A hook that fails disturbs the agent with every tool; the person is told once a session.
if [ "$3" = SessionStart ]; then
  echo '{"systemMessage":"The mailbox plugin cannot find agent-mailbox: npm install -g agent-mailbox, or set MAILBOX_DIST to its dist folder."}'
fi
exit 0
