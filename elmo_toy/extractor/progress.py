"""A progress bar on a stream, for what takes long enough to wonder about.

Book: chapter 5, "Three caches".
"""

from types import TracebackType
from typing import TextIO

WIDTH = 30


class Progress:
    """Counts sentences (or whatever) on one line of a stream; without a stream it is silent.

    >>> import io
    >>> stream = io.StringIO()
    >>> with Progress(stream, 4) as progress:
    ...     progress.advance(3)
    >>> print(stream.getvalue().split(chr(13))[-1].rstrip())  # each count overwrites the last
    [######################........] 3/4 sentences

    Book: chapter 5, "Three caches".
    """

    def __init__(self, stream: TextIO | None, total: int, what: str = "sentences") -> None:
        self._stream, self._total, self._what, self._done = stream, total, what, 0

    def __enter__(self) -> "Progress":
        self.advance(0)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Also after an error: its message starts on a line of its own.
        if self._stream is not None:
            self._stream.write("\n")
            self._stream.flush()

    def advance(self, done: int) -> None:
        """So many more are done."""
        self._done += done
        if self._stream is not None:
            filled = WIDTH * self._done // max(self._total, 1)
            bar = "#" * filled + "." * (WIDTH - filled)
            self._stream.write(f"\r[{bar}] {self._done}/{self._total} {self._what}")
            self._stream.flush()
