"""The book away from the web: what the archive, the PDF and the EPUB have in common.

All three are made from the built site, whose pages the tests have looked at, and not by builders
of their own: no notebook runs for them, and what they say is what the site says.
"""
