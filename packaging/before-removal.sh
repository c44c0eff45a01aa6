#!/bin/sh
# Nothing of tailwater outlives its package: neither the unit that watches nor a law that was attached.
set -e

remove() {
    if [ -d /run/systemd/system ]; then
        systemctl --quiet disable --now tailwater-observe.service || true
    fi
    if [ -d /run/tailwater ]; then
        if [ -d /run/tailwater/attached ] && ! tailwater detach --all; then
            echo "tailwater: what is attached stays until its lease is over; after that everything passes" >&2
        fi
        umount /run/tailwater/bpf 2>/dev/null || true
        rm -rf --one-file-system /run/tailwater
    fi
}

case "$1" in
    remove | 0) remove ;;
esac
