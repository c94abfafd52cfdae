#compdef roofcast
# zsh completion for roofcast: asks the program for what could come next.
_roofcast() {
  local line word
  local -a ends end_notes open open_notes
  for line in "${(@f)$("${(Q)words[1]/#\~/$HOME}" complete -- "${(@Q)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)}"; do
    word=${line%%$'\t'*}
    if [[ $line == :files ]]; then
      _files
    elif [[ $word == *[.=] ]]; then  # more follows
      open+=("$word")
      open_notes+=("${line/$'\t'/  -- }")
    elif [[ -n $word ]]; then
      ends+=("$word")
      end_notes+=("${line/$'\t'/  -- }")
    fi
  done
  (($#ends)) && compadd -l -d end_notes -a ends
  (($#open)) && compadd -S '' -l -d open_notes -a open
  return 0
}
if [[ $funcstack[1] == _roofcast ]]; then
  _roofcast "$@"
else
  compdef _roofcast roofcast
fi
