#!/bin/sh
# Finds the agent-mailbox package and starts it:
#
#   mailbox.sh hook CLIENT EVENT    the hook of a client for an event
#   mailbox.sh ARGS...              the command line, for example `mcp`
#
# A client may copy this folder elsewhere, away from the package. We look, in this order, at MAILBOX_DIST, in the
# checkout or package that this folder is part of, and where `mailbox` is installed; or we run `mailbox`. This runs after every tool call,
# so it uses shell built-ins where it can.

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
  [ -n "$mailbox" ] && exec "$mailbox" "$@"
  echo 'agent-mailbox is not installed: npm install -g agent-mailbox, or set MAILBOX_DIST to its dist folder' >&2
  exit 1
fi

[ -n "$dist" ] && exec "$dist/hook.sh" "$2" "$3"
# A script around the program, as version managers install it, does not say where the package is.
# Through it every hook starts Node, in the directory and for the process that hook.sh would choose.
if [ -n "$mailbox" ]; then
  case $2 in
    claude) pid=${CLAUDE_PID:-$PPID} dir=$CLAUDE_PROJECT_DIR ;;
    gemini) pid=$PPID dir=$GEMINI_PROJECT_DIR ;;
    *) pid=$PPID dir='' ;;
  esac
  [ -n "$dir" ] && cd "$dir" 2>/dev/null
  exec "$mailbox" hook "$2" "$3" --pid "$pid"
fi
# A failing hook would disturb the agent after every tool call; the person is told once per session.
if [ "$3" = SessionStart ]; then
  echo '{"systemMessage":"The mailbox plugin cannot find agent-mailbox: npm install -g agent-mailbox, or set MAILBOX_DIST to its dist folder."}'
fi
exit 0
