#!/bin/sh
# What agent clients run: hook.sh CLIENT EVENT, with the client's JSON on standard input.
#
# After every tool this is started once, so it must cost next to nothing when there is no mail. As long as a
# stamp says that nothing has come, it ends here: by built-ins of the shell alone (dash, bash, busybox), with
# no process started and nothing read from standard input. In any doubt it goes on to Node. It never fails:
# a client must not be disturbed by its mailbox. How a stamp comes about stands in stamp.ts.

client=$1
event=$2

# Where the client works, and which process it is. Both must be the same at every door of the client (hooks,
# MCP server): they decide which space it is and which agent. An agent may have changed its directory, so the
# project's is taken where the client tells it.
case $client in
  claude) pid=$CLAUDE_PID dir=$CLAUDE_PROJECT_DIR ;;
  gemini) pid='' dir=$GEMINI_PROJECT_DIR ;;
  codex) pid='' dir='' ;;
  *) exit 0 ;;
esac
[ -n "$dir" ] && cd "$dir" 2>/dev/null

# As findSpace in config.ts has it. A hook never makes a space.
space=$MAILBOX_SPACE
if [ -z "$space" ]; then
  at=$PWD
  while [ ! -e "$at/.mailbox" ] && [ -n "$at" ]; do at=${at%/*}; done
  if [ -e "$at/.mailbox" ]; then space=$at/.mailbox; else space=$HOME/.mailbox; fi
fi
[ -d "$space/journal" ] || exit 0

# Sets name, parent and started of a process. Its name stands in brackets and may hold anything.
look() {
  { IFS= read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
  name=${line#*\(}
  name=${name%\)*}
  # shellcheck disable=SC2086 # these are numbers, and are to be split
  set -- ${line##*\) }
  parent=$2
  shift 19 2>/dev/null || return 1
  started=$1
}

# Claude Code says which process it is. The others start us by way of a shell, which may or may not be there
# any more: whoever is above the shells is the client. Its start tells it from others with its number.
started=0
if [ -n "$pid" ]; then
  look "$pid"
else
  pid=$PPID
  while look "$pid"; do
    case $name in
      sh | dash | bash | ash | zsh | ksh | mksh | fish | busybox | hook.sh) pid=$parent ;;
      *) break ;;
    esac
  done
fi

case $event in
  PreCompress)
    # Gemini CLI asks this before every call of its model, and mostly does not compress. The line is short.
    IFS= read -r MAILBOX_HOOK_INPUT
    case $MAILBOX_HOOK_INPUT in
      *'"trigger":"manual"'*) export MAILBOX_HOOK_INPUT ;;
      *) exit 0 ;;
    esac
    ;;
  PostToolUse | AfterTool)
    stamp=$space/hooks/stamps/$client-$pid-$started
    journal=$space/journal
    # Every test must succeed: one that this shell does not know, or a file that is gone, means Node.
    if { read -r segment next due <"$stamp"; } 2>/dev/null &&
      [ ! -e "$journal/$next" ] &&
      [ "$stamp" -nt "$journal/$segment" ] 2>/dev/null &&
      [ "$journal/$segment" -nt "$stamp.low" ] 2>/dev/null; then
      # Some things become due without anybody writing: now and then one looks all the same.
      { read -r uptime _ </proc/uptime; } 2>/dev/null || exit 0
      [ "${uptime%%.*}" -lt "$due" ] 2>/dev/null && exit 0
    fi
    ;;
esac

node=${MAILBOX_NODE:-node}
if ! command -v "$node" >/dev/null 2>&1; then
  { echo "hook.sh: there is no $node on the PATH of $client; set MAILBOX_NODE to the path of Node" >"$space/hooks/problem"; } 2>/dev/null
  exit 0
fi
exec "$node" "${0%/*}/hook.cjs" "$client" "$event" "$space" "$pid"
