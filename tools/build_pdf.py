"""Print the whole book as one PDF: `python tools/build_pdf.py [--site DIR] [--output FILE]`.

Takes the built site (`make book`), so no notebook runs again. Needs Chromium and the tests'
environment; `make pdf` installs both.
"""

import sys

from publish.command import publish

try:
    from publish.pdf import make_pdf
except ModuleNotFoundError as error:
    sys.exit(f"{error.name} is missing: `make pdf` installs what printing needs.")

if __name__ == "__main__":
    sys.exit(publish(make_pdf, "elmo-companion.pdf", __doc__))
