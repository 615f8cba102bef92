#!/usr/bin/env bash
# setup.sh [COMMAND:PACKAGE | PACKAGE]…: makes sure that the requirements of the build and its tests are installed:
# Swift, some Debian packages, and the given ones. Quick and silent if nothing is missing; safe to run at any time.
set -euo pipefail

readonly swift_major=6 swift_minor=3
readonly libraries=(
    libuv1-dev libsqlite3-dev libsodium-dev libsystemd-dev libtomlplusplus-dev libre2-dev libpsl-dev libidn2-dev
    libcurl4-openssl-dev libbrotli-dev libzstd-dev zlib1g-dev
)
# A command and the package that contains it; any other package with the command is accepted. A package without a
# command is listed alone.
readonly tools=(
    pkg-config:pkg-config socat:socat python3:python3 systemd-analyze:systemd patchelf:patchelf strip:binutils "$@"
)

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

check_swift() {
    local get='https://www.swift.org/install/linux/ describes the installation.'
    command -v swift >/dev/null ||
        fail "Swift $swift_major.$swift_minor or later is needed, and there is no swift on the PATH. $get"
    local output major minor
    output=$(swift --version 2>/dev/null)
    [[ $output =~ Swift\ version\ ([0-9]+)\.([0-9]+) ]] || fail "swift --version prints no version: $output"
    major=${BASH_REMATCH[1]} minor=${BASH_REMATCH[2]}
    ((major > swift_major || (major == swift_major && minor >= swift_minor))) ||
        fail "Swift $swift_major.$swift_minor or later is needed, and this is $major.$minor ($(command -v swift)). $get"
}

# Prints the names of the missing packages, one per line.
missing_packages() {
    local wanted
    for wanted in "${libraries[@]}" "${tools[@]}"; do
        if [[ $wanted == *:* ]]; then
            command -v "${wanted%:*}" >/dev/null || echo "${wanted#*:}"
        elif [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$wanted" 2>/dev/null) != installed ]]; then
            echo "$wanted"
        fi
    done
}

# Installs packages as root, with the prefix command if there is one.
install_packages() {
    local -a apt=("${become_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet -o DPkg::Lock::Timeout=120)
    echo "setup: installing $*"
    # Old lists may suffice; if they do not, the installation reports it.
    "${apt[@]}" update >/dev/null || echo 'setup: apt-get update failed; continuing with the existing lists' >&2
    "${apt[@]}" install --yes --no-install-recommends "$@" >/dev/null
}

check_swift
command -v dpkg-query >/dev/null ||
    fail "This system is not Debian: install the content of these Debian packages, and build with swift build: ${libraries[*]} ${tools[*]#*:}"

mapfile -t missing < <(missing_packages)
if ((${#missing[@]} > 0)); then
    become_root=()
    if ((EUID != 0)); then
        become_root=(sudo -n)
        sudo -n true 2>/dev/null ||
            fail 'Some packages are missing. Install them with this line, and start again:' \
                "    sudo apt-get update && sudo apt-get install --yes --no-install-recommends ${missing[*]}"
    fi
    install_packages "${missing[@]}" </dev/null
fi
