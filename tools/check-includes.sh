#!/usr/bin/env bash
# Who may include and call whom: a stage sees core and the stages to its left; the command line, the examples and the
# bindings see pess.h only; cli/mpi sees the files of cli and scale/scale.h, which itself needs nothing but pess.h.
# Prints each offence as file:line and exits 1 if there is one.
set -u
cd "$(dirname "$0")/.." || exit 2
stages=(core data cells model policy uncertainty solve simulate certify choose env nn deep score experiment compare report scale)
bad=0
offence() { echo "$1" >&2; bad=1; }

for folder in src/*/; do
    case " ${stages[*]} " in *" $(basename "$folder") "*) ;; *) offence "$folder: not a stage of the house (tools/check-includes.sh lists them)" ;; esac
done
includes=$(grep -rnE '^\s*#\s*include\s+"' src --include='*.[ch]' | sort | awk -v stages="${stages[*]}" '
    BEGIN { n = split(stages, list, " "); for (i = 1; i <= n; i++) rank[list[i]] = i }
    {
        split($0, place, ":"); split(place[1], folder, "/"); split($0, quoted, "\""); split(quoted[2], part, "/")
        own = folder[2]; target = quoted[2]; other = part[1]
        if (target == "pess.h" || other == "pess") next
        if (!(other in rank)) print place[1] ":" place[2] ": include \"" target "\" does not name its stage"
        else if (rank[other] > rank[own]) print place[1] ":" place[2] ": " own " includes \"" target "\", a stage to its right"
    }')
[ -z "$includes" ] || offence "$includes"

# Calls through pess.h: a public function belongs to the stage whose folder defines it, and stages to its left may not
# call it. First pass: who defines what; second pass: who calls it (comments left out).
calls=$(find src -name '*.[ch]' | sort | awk -v stages="${stages[*]}" '
    function stage_of(path, part) { split(path, part, "/"); return part[2] }
    function defines(name, path) { if (!(name in home)) home[name] = stage_of(path) }
    BEGIN { n = split(stages, list, " "); for (i = 1; i <= n; i++) rank[list[i]] = i }
    { files[++count] = $0 }
    END {
        for (f = 1; f <= count; f++) {
            while ((getline text < files[f]) > 0)
                if (match(text, /^PESS__SETTINGS_OF\([a-z_]+/)) {
                    name = substr(text, 19, RLENGTH - 18)
                    defines("pess_" name "_settings", files[f]); defines("pess_" name "_options_defaults", files[f])
                } else if (text ~ /^[a-z]/ && text !~ /^(static|typedef)/ && sub(/\{.*/, "", text) >= 0 && \
                           match(text, /[^a-z0-9_]pess_[a-z0-9][a-z0-9_]*\(/) && RSTART++ && RLENGTH--)
                    defines(substr(text, RSTART, RLENGTH - 1), files[f])
            close(files[f])
        }
        for (f = 1; f <= count; f++) {
            own = stage_of(files[f]); line = 0
            while ((getline text < files[f]) > 0) {
                line++
                if (text ~ /^ *\/?\*/) continue
                if (text ~ /^[a-z]/) sub(/^[^{]*/, "", text) # a function in one line is its body
                sub(/\/\*.*/, "", text); gsub(/"[^"]*"/, "", text)
                while (match(text, /(^|[^a-z0-9_])pess_[a-z0-9][a-z0-9_]*\(/)) {
                    name = substr(text, RSTART, RLENGTH - 1); sub(/^[^p]/, "", name)
                    text = substr(text, RSTART + RLENGTH)
                    if (name in home && rank[home[name]] > rank[own])
                        print files[f] ":" line ": " own " calls " name ", which is defined in " home[name] ", a stage to its right"
                }
            }
            close(files[f])
        }
    }')
[ -z "$calls" ] || offence "$calls"

# MPI and PETSc are src/scale's alone.
foreign=$(grep -rnE '\b(MPI_[A-Z]|Petsc[A-Z])|#\s*include\s*<(mpi|petsc)' src cli include python --include='*.[ch]' | grep -v '^src/scale/')
[ -z "$foreign" ] || offence "$foreign: only src/scale may use MPI and PETSc"

sees() { # FOLDER HEADERS FILE…: the files include what is in the folder, and these headers
    local folder=$1 headers=$2 file line text target
    shift 2
    while IFS=: read -r file line text; do
        target=$(sed -E 's/.*"([^"]+)".*/\1/' <<<"$text")
        case " $headers " in *" $target "*) continue ;; esac
        case "$target" in
            */*) offence "$file:$line: \"$target\": only $headers and files of $folder may be included here" ;;
            *) [ -f "$folder/$target" ] || offence "$file:$line: \"$target\" is not in $folder" ;;
        esac
    done < <(grep -nE '^\s*#\s*include\s+"' "$@" /dev/null)
}
sees cli pess.h cli/*.[ch]
sees examples pess.h examples/*.c
sees cli "pess.h scale/scale.h" cli/mpi/*.[ch]
sees include pess.h src/scale/scale.h
exit $bad
