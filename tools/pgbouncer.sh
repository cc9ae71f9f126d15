#!/bin/sh
# Puts pgbouncer into .tools, for the tests that go through it. Nothing is installed: packages are fetched and unpacked, so
# no service is started. If it can't be had, that is told, and the tests say so once more when they are skipped.
set -u
cd "$(dirname "$0")/.." || exit 0

PATH=$PATH:/usr/sbin
if command -v pgbouncer > /dev/null || [ -x .tools/usr/sbin/pgbouncer ]; then
    exit 0
fi

fetch() {
    packages=$(apt-get install --simulate --no-install-recommends pgbouncer 2> /dev/null | sed -n 's/^Inst \([^ ]*\).*/\1/p')
    [ -n "$packages" ] || return 1
    mkdir -p .tools/packages && chmod 777 .tools/packages # apt fetches as a user of its own
    # shellcheck disable=SC2086 several names
    (cd .tools/packages && apt-get download $packages) > /dev/null 2>&1 || return 1
    for package in .tools/packages/*.deb; do
        dpkg -x "$package" .tools || return 1
    done
}

if command -v apt-get > /dev/null; then
    fetch && exit 0
    [ "$(id -u)" = 0 ] && apt-get update > /dev/null 2>&1 && fetch && exit 0
fi
echo "pgbouncer can't be fetched: the tests that go through it will be skipped. Install it, or run this with apt-get." >&2
