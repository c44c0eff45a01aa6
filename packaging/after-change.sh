#!/bin/sh
# systemd reads its units anew. Nothing is started: whoever wants to be watched says so.
set -e
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || true
fi
