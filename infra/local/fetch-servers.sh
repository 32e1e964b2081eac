#!/usr/bin/env bash
# Puts nats-server and redis-server into .servers/bin of this repository, for the tests that want real ones. Needs apt-get and
# dpkg-deb (Debian, Ubuntu), but neither root nor an installation: the packages are unpacked, nothing of the system changes.
# Does nothing when the machine has both. Ends with one sentence on stderr and exit code 1 when a server can't be had.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
target=$root/.servers
work=

main() {
  local failed=0
  has_nats || get_nats || failed=1
  has_redis || get_redis || failed=1
  return $failed
}

# Consumers with several filter subjects came with 2.10.
has_nats() {
  local program
  for program in "$target/bin/nats-server" "$(command -v nats-server || true)"; do
    [ -x "$program" ] && "$program" --version 2>/dev/null | grep -Eq 'v(2\.[1-9][0-9]|[3-9])' && return 0
  done
  return 1
}

has_redis() { [ -x "$target/bin/redis-server" ] || command -v redis-server >/dev/null; }

get_nats() {
  local version
  prepare nats-server || return 1
  version=$(apt-cache "${apt[@]}" policy nats-server 2>/dev/null | sed -n 's/^ *Candidate: //p')
  # A Debian older than 13 has a NATS that is too old, but 13's is a static program that runs there too.
  dpkg --compare-versions "${version:-0}" ge 2.10 2>/dev/null || use_trixie
  download nats-server || return 1
  install -D -m 755 "$work/unpacked/usr/bin/nats-server" "$work/ready/nats-server" 2>/dev/null ||
    install -D -m 755 "$work/unpacked/usr/sbin/nats-server" "$work/ready/nats-server"
  finish nats-server
}

# The libraries that a small system lacks come along, next to the program.
get_redis() {
  local libraries
  prepare redis-server || return 1
  libraries=$(apt-cache "${apt[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances redis-tools |
    grep -E '^lib(lua|hiredis|jemalloc|atomic|lzf)' | sort -u)
  # shellcheck disable=SC2086
  download redis-tools $libraries || return 1
  mkdir -p "$target/redis"
  cp -R "$work/unpacked/usr" "$target/redis/"
  # redis-server is one program with several names, and acts by the name that it is called by.
  ln -sf redis-check-rdb "$target/redis/usr/bin/redis-server"
  mkdir -p "$work/ready"
  cat >"$work/ready/redis-server" <<'WRAPPER'
#!/bin/sh
here=$(cd "$(dirname "$0")/../redis/usr" && pwd)
for directory in "$here"/lib/*-linux-gnu*; do LD_LIBRARY_PATH=$directory${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}; done
export LD_LIBRARY_PATH
exec "$here/bin/redis-server" "$@"
WRAPPER
  chmod 755 "$work/ready/redis-server"
  finish redis-server
}

# Package lists of our own, so that no root is needed and the system's are not touched.
prepare() {
  local tool
  for tool in apt-get apt-cache dpkg-deb; do
    command -v $tool >/dev/null || { give_up "$1" "this system has no $tool"; return 1; }
  done
  mkdir -p "$target/bin"
  [ -n "$work" ] && rm -rf "$work"
  work=$(mktemp -d "$target/fetch-XXXXXX")
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/unpacked" "$work/debs"
  apt=(-o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=root -o Acquire::Retries=3)
  apt-get "${apt[@]}" -qq update 2>"$work/errors" || { give_up "$1" "its package lists can't be read"; return 1; }
}

use_trixie() {
  local mirror
  mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -Eo 'https?://[^ ]+/debian/?( |$)' | head -n 1)
  [ -n "$mirror" ] || return 0
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror trixie main" >"$work/sources.list"
  apt+=(-o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=/dev/null)
  apt-get "${apt[@]}" -qq update 2>"$work/errors" || true
}

download() {
  (cd "$work/debs" && apt-get "${apt[@]}" -qq download "$@") >"$work/errors" 2>&1 || { give_up "$1" "it could not be downloaded"; return 1; }
  local package
  for package in "$work"/debs/*.deb; do dpkg-deb -x "$package" "$work/unpacked"; done
  rm -rf "$work/unpacked/usr/share"
}

# A rename is atomic, so two of these scripts at once do each other no harm.
finish() {
  mv -f "$work/ready/$1" "$target/bin/$1"
  "$target/bin/$1" --version >/dev/null 2>&1 || { rm -f "$target/bin/$1"; give_up "$1" "the one that was fetched does not run here"; return 1; }
  echo "fetched $("$target/bin/$1" --version | head -n 1) into .servers/"
}

give_up() { echo "No $1 could be fetched: $2${work:+ ($(tail -n 1 "$work/errors" 2>/dev/null))}; install it, or do without the tests that need it." >&2; }

main
