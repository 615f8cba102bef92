#!/usr/bin/env bash
# Prints what swift format is to look at: those of our folders that there are.
set -euo pipefail
cd "$(dirname "$0")/.."

for path in Package.swift Sources Plugins Tests Fuzz Examples Benchmarks Web packaging; do
    if [[ -e $path ]]; then echo "$path"; fi
done
