# A mailbox behind a hub with curl, for any POSIX shell. Source it:
#
#   MAILBOX_URL=http://127.0.0.1:7337 MAILBOX_AGENT=ada MAILBOX_TOKEN=mbx_...
#   . ./mailbox.sh
#   mailbox_call join '{"roles":["architect"]}'
#   mailbox_call send '{"to":"bob","body":"Which port?","awaitingResponse":true}'
#   mailbox_call wait '{"timeoutMs":50000}'
#   mailbox_get agents
#
# The token and the mail go through files that only this shell has open: nobody sees them in a list of processes.
# For a hub with `--tls`, leave out the part of the token from ~ on, and set MAILBOX_CURL='--cacert FILE' or put a proxy
# with a public certificate in front of it. For the socket of a hub on this machine: MAILBOX_URL=http://localhost and
# MAILBOX_CURL='--unix-socket SPACE/hub/socket'.

# mailbox_call OPERATION [JSON]: an operation of the agent's mailbox. Prints the answer; fails if the hub refuses.
mailbox_call() {
  printf '%s' "${2:-{\}}" | mailbox_curl "/api/mailboxes/$MAILBOX_AGENT/$1" --data-binary @- \
    --header 'Content-Type: application/json'
}

# mailbox_get READING: a reading of the space, such as agents, owed or messages/ID.
mailbox_get() {
  mailbox_curl "/api/$1" </dev/null
}

mailbox_curl() {
  mailbox_path=$1
  shift
  # shellcheck disable=SC2086 # MAILBOX_CURL is a list of options
  curl --silent --show-error --fail-with-body --max-time 90 --config /dev/fd/3 ${MAILBOX_CURL:-} "$@" \
    "$MAILBOX_URL$mailbox_path" 3<<CONFIG
header = "Authorization: Bearer $MAILBOX_TOKEN"
CONFIG
}
