#!/bin/bash
# First process of the guest: file systems in memory only, the measurements, then the end. The root is the host's,
# read-only. LAB_PROGRAM and LAB_PLAN come from the kernel's command line, LAB_CAPTURE and LAB_STREAMS, too, if what
# senders receive and send is to be written into a folder of the host.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run PYTHONDONTWRITEBYTECODE=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmpfs /run
mkdir -p /run/netns
if [ -n "${LAB_STREAMS:-}" ]; then
  mount -t hostfs none /mnt -o "$LAB_STREAMS"
  /usr/bin/python3 "$LAB_CAPTURE" "$LAB_PLAN" /mnt </dev/null 2>&1 &
fi
/usr/bin/python3 "$LAB_PROGRAM" "$LAB_PLAN" </dev/null 2>&1
if [ -n "${LAB_STREAMS:-}" ]; then
  kill %1
  wait
fi
echo LAB-END
echo o > /proc/sysrq-trigger
sleep 5
