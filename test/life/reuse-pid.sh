# In a process namespace of its own, where the next pid can be chosen: a process joins, is killed, and another
# one gets its pid.
mailbox() { "$NODE" "$CLI" "$@"; }
state() { mailbox agents --json | "$NODE" -pe 'JSON.parse(require("fs").readFileSync(0)).agents[1].state'; }

sleep 60 &
first=$!
mailbox join ada --pid $first --quiet
state
kill -9 $first
wait $first 2>/dev/null
echo $((first - 1)) >/proc/sys/kernel/ns_last_pid
sleep 60 &
[ $! = $first ] && echo 'the same pid'
state
mailbox join ada --pid $! --quiet
mailbox agents --json | "$NODE" -pe 'const a = JSON.parse(require("fs").readFileSync(0)).agents[1]; a.state + " " + a.session.generation'
kill -9 $!
