# completed.zsh DIRECTORY: for each line of standard input what zsh makes of it where TAB is pressed at its end. DIRECTORY has
# the completion, _pess. A shell that believes it has a terminal: zsh completes nowhere else.
zmodload zsh/zpty
zpty shell 'TERM=dumb zsh -f -i'
zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -U compinit; compinit -u -D
show() { print -r -- '<''<'\$BUFFER'>''>'; BUFFER=; }
zle -N show; bindkey '^I' complete-word '^X^X' show"
while read -r line; do
    zpty -w -n shell "$line"$'\t\x18\x18'
    zpty -r -m shell found '*<<*>>*'
    found=${found##*<<}
    print -r -- "${found%%>>*}"
done
zpty -d shell
