"""Make an EPUB of the whole book: `python tools/build_epub.py [--site DIR] [--output FILE]`.

Takes the built site (`make book`), so no notebook runs again, and needs nothing else.
"""

import sys

from publish.command import publish
from publish.epub import make_epub

if __name__ == "__main__":
    sys.exit(publish(make_epub, "elmo-companion.epub", __doc__))
