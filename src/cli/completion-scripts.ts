/**
 * Each script passes the words up to the cursor to `mailbox complete`, which prints candidates as
 * `VALUE<tab>DESCRIPTION`. Names in a roster are untrusted text, so nothing here evaluates or expands the
 * candidates, unlike generated scripts that use `eval` or `compgen -W`.
 */
export const scripts = {
  bash: `# mailbox: completion for bash
_mailbox() {
  # bash splits words at colons and equal signs; addresses contain colons, so join the pieces again.
  local words=() word glue='' i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ -n $glue || $word == [:=]* ]] && ((\${#words[@]})); then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    [[ $word == *[:=] ]] && glue=1 || glue=''
  done
  ((\${#words[@]})) || words=('')
  local current=\${words[\${#words[@]} - 1]} line value
  # The part before the last colon is already on the command line.
  local prefix=''
  [[ $current == *:* ]] && prefix=\${current%:*}:
  COMPREPLY=()
  while IFS= read -r line; do
    value=\${line%%$'\\t'*}
    value=\${value#"$prefix"}
    COMPREPLY+=("$(printf '%q' "$value")")
  done < <(command mailbox complete -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _mailbox mailbox`,

  zsh: `#compdef mailbox
_mailbox() {
  local -a values labels
  local value label
  while IFS=$'\\t' read -r value label; do
    values+=("$value")
    labels+=("$value  -- $label")
  done < <(command mailbox complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#values} )); then
    compadd -l -d labels -a values
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _mailbox ]]; then
  _mailbox "$@"
else
  compdef _mailbox mailbox
fi`,

  fish: `# mailbox: completion for fish
function __mailbox_complete
  set -l words (commandline -opc) (commandline -ct)
  command mailbox complete -- $words[2..-1] 2>/dev/null
end
complete -c mailbox -a '(__mailbox_complete)'`,
} as const
