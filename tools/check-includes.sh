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
    case " ${stages[*]} " in *" $(basename "$folder") "*) ;; *) offence "$folder: not a stage (tools/check-includes.sh lists them)" ;; esac
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

# A function belongs to the stage whose folder defines it, and stages to its left may not name it: neither call it,
# through pess.h or a declaration of their own, nor pass it on. First pass: who defines what, and that a name is one
# function or one type (a file that stands for an absent library has the names of the one that uses it); second pass:
# who names a function (comments and strings left out).
calls=$(find include src -name '*.[ch]' | sort | awk -v stages="${stages[*]}" '
    function stage_of(path, part) { split(path, part, "/"); return part[2] }
    function defines(name, path) {
        if (name in place && place[name] != path) print path ": " name " is something else in " place[name]
        place[name] = path
    }
    function function_in(name, path) { home[name] = stage_of(path); if (path !~ /_absent\.c$/) defines(name, path) }
    function type_in(text, name, part) { # a struct, union or enum with its body, another name of a type, or a pointer to functions
        if (match(text, /^(typedef )?(struct|union|enum) pess_[a-z0-9_]+ \{/)) {
            name = substr(text, 1, RLENGTH - 2); sub(/.* /, "", name)
        } else if (match(text, /^typedef [^;(]*\(\*pess_[a-z0-9_]+\)/)) {
            name = substr(text, 1, RLENGTH - 1); sub(/.*\(\*/, "", name)
        } else if (text ~ /^typedef [^({]* \**pess_[a-z0-9_]+;/) {
            split(text, part, " "); name = text
            sub(/;.*/, "", name); sub(/.*[ *]/, "", name)
            if (part[2] ~ /^(struct|union|enum)$/ && part[3] == name) name = "" # the body follows elsewhere
        }
        return name
    }
    function code(text, at, end) {
        if (inside && !(end = index(text, "*/"))) return ""
        if (inside) text = substr(text, end + 2)
        inside = 0
        gsub(/"([^"\\]|\\.)*"/, "", text); sub(/\/\/.*/, "", text)
        while ((at = index(text, "/*")) && !inside) {
            inside = !(end = index(substr(text, at + 2), "*/"))
            text = substr(text, 1, at - 1) (inside ? "" : substr(text, at + end + 3))
        }
        return text
    }
    BEGIN { n = split(stages, list, " "); for (i = 1; i <= n; i++) rank[list[i]] = i }
    { files[++count] = $0 }
    END {
        for (f = 1; f <= count; f++) {
            inside = 0; head = ""
            while ((getline text < files[f]) > 0) {
                text = code(text)
                if (match(text, /^PESS__SETTINGS_OF\([a-z_]+/)) {
                    name = substr(text, 19, RLENGTH - 18)
                    function_in("pess_" name "_settings", files[f]); function_in("pess_" name "_options_defaults", files[f])
                }
                name = type_in(text)
                if (name != "") defines(name, files[f])
                if (head == "" && text !~ /^[a-z]/) continue
                head = head text # up to its brace if it defines a function, to its semicolon if it declares one
                if (head !~ /[{;=]/) continue
                if (head !~ /^(static|typedef)/ && head ~ /^[^;=]*\{/ && match(head, /[^a-z0-9_]pess_[a-z0-9_]+\(/))
                    function_in(substr(head, RSTART + 1, RLENGTH - 2), files[f])
                head = ""
            }
            close(files[f])
        }
        for (f = 1; f <= count; f++) {
            if (files[f] ~ /^include/) continue
            own = stage_of(files[f]); line = inside = 0
            while ((getline text < files[f]) > 0) {
                line++
                text = " " code(text)
                while (match(text, /[^a-z0-9_]pess_[a-z0-9_]+/)) {
                    name = substr(text, RSTART + 1, RLENGTH - 1)
                    text = substr(text, RSTART + RLENGTH)
                    if (name in home && rank[home[name]] > rank[own])
                        print files[f] ":" line ": " own " names " name ", which is defined in " home[name] ", a stage to its right"
                }
            }
            close(files[f])
        }
    }')
[ -z "$calls" ] || offence "$calls"

# What is ours is included in quotes, where the rules above see it.
angled=$(grep -rnE "^\s*#\s*include\s*<(pess|$(IFS='|'; echo "${stages[*]}"))/" src cli examples include --include='*.[ch]')
[ -z "$angled" ] || offence "$angled: found <…>, expected \"…\""

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
