#!/usr/bin/env bash
# Prints the folders that swift format checks, if they exist.
set -euo pipefail
cd "$(dirname "$0")/.."

for path in Package.swift Sources Plugins Tests Fuzz Examples Benchmarks Web packaging; do
    if [[ -e $path ]]; then echo "$path"; fi
done
