# bash completion for roofcast: asks the program for what could come next.
_roofcast() {
  local word glue= line
  local -a words=()
  # Bash splits words at "="; roofcast wants them whole.
  for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ ${#words[@]} -gt 0 && ($glue || $word == =*) ]]; then
      words[${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
    glue=
    [[ $word == *= ]] && glue=1
  done
  local typed=${words[${#words[@]} - 1]} kept=
  [[ $typed == *=* && $COMP_WORDBREAKS == *=* ]] && kept=${typed%=*}=
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${typed#"$kept"}")
    else
      line=${line%%$'\t'*}
      COMPREPLY+=("${line#"$kept"}")
    fi
  done < <("${COMP_WORDS[0]/#\~/$HOME}" complete -- "${words[@]}" 2>/dev/null)
  # More follows a group of knobs or a "=".
  [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *[.=] ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -F _roofcast roofcast
