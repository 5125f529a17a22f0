#!/bin/sh
# Agent clients run this: hook.sh CLIENT EVENT, with the client's JSON on standard input.
#
# It runs after every tool call, so it must cost next to nothing while there is no mail. As long as a stamp says that
# nothing has been written, it ends here: with shell built-ins only (dash, bash, busybox), without starting a process
# or reading standard input. If in doubt, it continues with Node. It never fails: the mailbox must not disturb its
# client. stamp.ts explains the stamps.

client=$1
event=$2

# The client's directory and process. Hooks and MCP server must agree on both: they determine the space and the agent.
# An agent may have changed its directory, so we use the project's where the client tells us.
case $client in
  claude) pid=$CLAUDE_PID dir=$CLAUDE_PROJECT_DIR ;;
  gemini) pid='' dir=$GEMINI_PROJECT_DIR ;;
  *) pid='' dir='' ;;
esac
[ -n "$dir" ] && cd "$dir" 2>/dev/null
cd -P . 2>/dev/null

# Whether the person has agreed to a space that was found (space/trust.ts).
agreed() {
  [ "$1" = "$HOME/.mailbox" ] && return 0
  while IFS= read -r line; do
    [ "$line" = "$1" ] && return 0
  done <"${XDG_CONFIG_HOME:-$HOME/.config}/agent-mailbox/spaces"
  return 1
} 2>/dev/null

# The same rules as findSpace in space/settings.ts. Only the start of a session may create a space (run.ts).
space=$MAILBOX_SPACE
if [ -z "$space" ]; then
  at=${PWD%/}
  until [ -e "$at/.mailbox" ] && agreed "$at/.mailbox"; do
    [ -n "$at" ] || break
    at=${at%/*}
  done
  if [ -e "$at/.mailbox" ] && agreed "$at/.mailbox"; then space=$at/.mailbox; else space=$HOME/.mailbox; fi
fi
case $space in
  http://* | https://* | unix:*) ;;
  # One in a database is asked every time. Its address stays in the environment: arguments can be seen by everyone.
  postgres://* | postgresql://*) space='' ;;
  # A word may be the name of a login (space/place.ts).
  *[!A-Za-z0-9_-]*) [ -d "$space/journal" ] || [ "$event" = SessionStart ] || exit 0 ;;
esac

# Sets name, parent and started of a process. The name is in parentheses and may contain anything.
look() {
  { IFS= read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
  name=${line#*\(}
  name=${name%\)*}
  # shellcheck disable=SC2086 # these are numbers, to be split
  set -- ${line##*\) }
  parent=$2
  shift 19 2>/dev/null || return 1
  started=$1
}

# Claude Code tells us its pid. Others start us through a shell, which may or may not have replaced itself with us:
# the client is the first process above the shells. Its start time tells it from others that reuse its pid.
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
    # Gemini CLI fires this before every model call, and usually does not compress. The line is short.
    IFS= read -r MAILBOX_HOOK_INPUT
    case $MAILBOX_HOOK_INPUT in
      *'"trigger":"manual"'*) export MAILBOX_HOOK_INPUT ;;
      *) exit 0 ;;
    esac
    ;;
  PreToolUse)
    # Only the calls of a subagent concern us. The line is short: it is about a tool that takes mail.
    IFS= read -r MAILBOX_HOOK_INPUT
    case $MAILBOX_HOOK_INPUT in
      *'"agent_id"'*) export MAILBOX_HOOK_INPUT ;;
      *) exit 0 ;;
    esac
    ;;
  PostToolUse | AfterTool)
    stamp=$space/hooks/stamps/$client-$pid-$started
    journal=$space/journal
    # Every test must succeed. One that this shell does not support, or a missing file, leads to Node.
    # While a subagent runs in a client that does not mark its calls, Node has to know of every one (delegations.ts).
    if { read -r segment next due token bell line <"$stamp"; } 2>/dev/null &&
      [ ! -e "$space/hooks/subagents/$client-$pid-$started" ] &&
      if [ "$segment" = - ]; then
        # A process writes for the others of the space, and rings this agent's bell when something comes for it.
        { read -r current <"$space/desk/current"; } 2>/dev/null &&
          [ "$current" = "$token" ] &&
          { read -r rung <"$space/desk/bells/$bell"; } 2>/dev/null &&
          [ "$rung" = "$line" ]
      else
        [ ! -e "$journal/$next" ] &&
          [ "$stamp" -nt "$journal/$segment" ] 2>/dev/null &&
          [ "$journal/$segment" -nt "$stamp.low" ] 2>/dev/null
      fi; then
      # Some things become due although nothing is written, so Node checks now and then all the same.
      { read -r uptime _ </proc/uptime; } 2>/dev/null || exit 0
      [ "${uptime%%.*}" -lt "$due" ] 2>/dev/null && exit 0
    fi
    ;;
esac

node=${MAILBOX_NODE:-node}
if ! command -v "$node" >/dev/null 2>&1; then
  # Not through a link: run.ts refuses such a space.
  [ -L "$space" ] || [ -L "$space/hooks" ] || [ -L "$space/hooks/problem" ] ||
    { echo "hook.sh: $node is not on the PATH of $client; set MAILBOX_NODE to the path of Node" >"$space/hooks/problem"; } 2>/dev/null
  exit 0
fi
exec "$node" "${0%/*}/hook.cjs" "$client" "$event" "$space" "$pid"
