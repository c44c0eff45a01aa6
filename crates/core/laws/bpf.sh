#!/usr/bin/env bash
# Shows that every law compiles for the kernel's virtual machine, every function as code and each
# header on its own. Says aloud if there is no clang to show it with.
set -euo pipefail
cd "$(dirname "$0")/c"

if ! command -v clang >/dev/null; then
  echo "skipped: clang is not installed, so nothing shows that the laws compile for BPF" >&2
  exit 0
fi

object="$(mktemp)"
trap 'rm -f "$object"' EXIT
# This file has a symbol for every function of the headers, so all of them become code.
clang -target bpf -ffreestanding -std=c11 -O2 -Wall -Wextra -Werror -c laws.c -o "$object"
for header in *.h; do
  echo "#include \"$header\"" |
    clang -target bpf -ffreestanding -std=c11 -O2 -Wall -Wextra -Werror -I . -x c -c - -o "$object"
  echo "$header compiles for BPF"
done
