# In a mount and process namespace of its own, with a systemd that runs the services of a user and nothing else.
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/system /run/user/0
mount -t cgroup2 none /sys/fs/cgroup
export XDG_RUNTIME_DIR=/run/user/0
/usr/lib/systemd/systemd --user --log-target=null >/dev/null 2>&1 &
until systemctl --user list-units >/dev/null 2>&1; do sleep 0.1; done

mailbox() { "$NODE" "$CLI" "$@"; }
# The socket is there before the hub is, and holds whoever connects until it answers.
health() { "$NODE" -e "fetch('http://127.0.0.1:$PORT/health').then(async (r) => console.log(r.status, (await r.json()).ok))"; }
pid() { systemctl --user show -P MainPID "$1"; }

name=$(mailbox serve --install --yes --port "$PORT" --json | "$NODE" -pe 'const a = JSON.parse(require("fs").readFileSync(0)); a.isRunning + " " + a.service')
echo "${name% *}"
name=${name#* }
health
first=$(pid "$name.service")
kill -9 "$first"
health
until [ "$(pid "$name.service")" != "$first" ] && [ "$(pid "$name.service")" != 0 ]; do sleep 0.1; done
echo "another process"
mailbox token user --link | grep -c '#token='
journal=$(systemctl --user status "$name.service" 2>&1)
case $journal in *'#token='*) echo 'a token in the log' ;; esac
mailbox serve --uninstall --json | "$NODE" -pe 'JSON.parse(require("fs").readFileSync(0)).files.map(({ how }) => how).join(" ")'
systemctl --user is-active "$name.service" "$name.socket" | sort -u
