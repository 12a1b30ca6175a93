#!/usr/bin/env bash
# Who may include whom: a stage sees core and the stages to its left; the command line, the examples and the bindings
# see pess.h only. Prints each offence as file:line and exits 1 if there is one.
set -u
cd "$(dirname "$0")/.." || exit 2
stages=(core data cells model policy uncertainty solve simulate certify env nn deep experiment report)
bad=0
offence() { echo "$1" >&2; bad=1; }

rank() { local i; for i in "${!stages[@]}"; do [ "${stages[$i]}" = "$1" ] && { echo "$i"; return; }; done; echo -1; }

for folder in src/*/; do
    stage=$(basename "$folder")
    own=$(rank "$stage")
    [ "$own" -ge 0 ] || offence "$folder: not a stage of the house (tools/check-includes.sh lists them)"
    while IFS=: read -r file line text; do
        target=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$text")
        case "$target" in pess.h | pess/*) continue ;; esac
        other=$(rank "${target%%/*}")
        [ "$other" -ge 0 ] || { offence "$file:$line: include \"$target\" does not name its stage"; continue; }
        [ "$other" -le "$own" ] || offence "$file:$line: $stage includes \"$target\", a stage to its right"
    done < <(grep -rnE '^\s*#\s*include\s+"' "$folder" --include='*.[ch]')
done
while IFS=: read -r file line text; do
    target=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$text")
    case "$target" in
        pess.h) ;;
        */*) offence "$file:$line: \"$target\": only pess.h and files of the same folder may be included here" ;;
        *) [ -f "$(dirname "$file")/$target" ] || offence "$file:$line: \"$target\" is not in this folder" ;;
    esac
done < <(grep -nE '^\s*#\s*include\s+"' cli/*.[ch] examples/*.c /dev/null)
exit $bad
