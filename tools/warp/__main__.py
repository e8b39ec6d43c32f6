"""Start of the runner. This file alone is read by Pythons older than 3.9: keep its syntax plain."""

import os
import sys

OLDEST = (3, 9)


def find_newer_python():
    """Path of a Python that is new enough, or None."""
    import shutil
    import subprocess

    test = "import sys; sys.exit(sys.version_info < (%d, %d))" % OLDEST
    for name in ["python3"] + ["python3.%d" % minor for minor in range(20, OLDEST[1] - 1, -1)]:
        path = shutil.which(name)
        if path and subprocess.call([path, "-c", test], stderr=subprocess.DEVNULL) == 0:
            return path
    return None


def start():
    if sys.version_info < OLDEST:
        newer = find_newer_python()
        if newer is None:
            sys.stderr.write(
                "learn: needs Python %d.%d or later; %s is %d.%d. Install python3 or set WARP_PYTHON=/path/to/python3\n"
                % (OLDEST + (sys.executable,) + tuple(sys.version_info[:2]))
            )
            return 1
        os.execv(newer, [newer] + sys.argv)
    here = os.path.dirname(os.path.abspath(__file__))
    # The package's own folder must not be searched: its modules are warp.NAME, never NAME.
    sys.path[0] = os.path.dirname(here)
    from warp.cli.main import main

    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(start())
