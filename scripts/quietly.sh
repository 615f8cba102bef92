#!/usr/bin/env bash
# quietly.sh COMMAND…: runs a command of the Swift package manager and shows only the relevant output.
#
# Progress is shown on one line of a terminal, and not in other output. The linker's warnings about objects of other
# projects, and those about flags of pkg-config that it does not pass on, are left out. The exit status is the
# command's.
set -uo pipefail

filter() {
    local line progress=false
    while IFS= read -r line || [[ -n $line ]]; do
        if [[ $line =~ ^\[[0-9]+/[0-9]+\]\  ]]; then
            if [[ -t 1 ]]; then
                printf '\r\e[K%s' "${line:0:${COLUMNS:-80}}"
                progress=true
            fi
        elif [[ ! $line =~ ^(([^ ]*/)?ld(\.[a-z]+)?:\ warning:|warning:\ prohibited\ flag\(s\):)\  ]]; then
            if $progress; then
                printf '\r\e[K'
                progress=false
            fi
            printf '%s\n' "$line"
        fi
    done
    if $progress; then printf '\r\e[K'; fi
}

"$@" 2>&1 | filter
