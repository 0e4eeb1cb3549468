"""Pack site, notebooks and package: `python tools/build_archive.py [--site DIR] [--output FILE]`.

Takes the built site (`make book`), so no notebook runs again, and asks no network for anything.
"""

import sys

from publish.archive import make_archive
from publish.command import publish

if __name__ == "__main__":
    sys.exit(publish(make_archive, "elmo-companion.zip", __doc__))
