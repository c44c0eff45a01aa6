"""``python -m tailwater`` is the command ``tailwater``."""

import os
import signal
import sys


def main() -> int:
    """The command with the arguments of this process: its exit status."""
    from tailwater._tailwater import command

    # The command listens to signals itself, as it does in its own program.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return command(["tailwater", *map(os.fsdecode, sys.argv[1:])])


if __name__ == "__main__":
    sys.exit(main())
