#!/bin/bash
# First process of the guest: file systems in memory only, the measurements, then the end. The root is the host's,
# read-only. LAB_PROGRAM and LAB_PLAN come from the kernel's command line.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run PYTHONDONTWRITEBYTECODE=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
mkdir -p /run/netns
/usr/bin/python3 "$LAB_PROGRAM" "$LAB_PLAN" </dev/null 2>&1
echo LAB-END
echo o > /proc/sysrq-trigger
sleep 5
