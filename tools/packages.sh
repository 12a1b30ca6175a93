#!/usr/bin/env bash
# packages.sh PURPOSE…: installs the Debian packages that packages.txt lists for these purposes, where any is missing.
# Without root or sudo it prints the command that somebody with them can run.
set -eu
list=$(dirname "$0")/../packages.txt
missing=()
for purpose in "$@"; do
    while read -r kind package; do
        [ "$kind" = "$purpose" ] || continue
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done <"$list"
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" -eq 0 ]; then
    sudo=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
    sudo=(sudo)
else
    echo "These packages are missing. Please run, then try again:" >&2
    echo "    sudo apt-get install ${missing[*]}" >&2
    exit 1
fi
echo "Installing: ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
install=(apt-get install -y -qq -o DPkg::Lock::Timeout=600) # another apt-get may be at work
"${sudo[@]}" "${install[@]}" "${missing[@]}" >/dev/null 2>&1 ||
    { "${sudo[@]}" apt-get update -qq && "${sudo[@]}" "${install[@]}" "${missing[@]}" >/dev/null; }
