# make book   build the book                make test    check everything
# make serve  read it on this machine       make clean   remove what was built
# make pdf, make epub, make archive         the book away from the web, in _build
# Each target installs what it needs into .venv first.

PORT ?= 8000
BIN := .venv/bin

# numpy's sums depend on the number of threads in their last digit
export OPENBLAS_NUM_THREADS := 1

.PHONY: help book test serve pdf epub archive seminar bench clean environment-book environment-test

help:
	@echo 'make book    build the book into _build/html'
	@echo 'make serve   build it and serve it on this machine (PORT=$(PORT))'
	@echo 'make pdf     print the whole book into _build/elmo-companion.pdf'
	@echo 'make epub    make an EPUB of it, _build/elmo-companion.epub'
	@echo 'make archive pack site, notebooks and package, _build/elmo-companion.zip'
	@echo 'make seminar print what a session needs on paper into _build/seminar'
	@echo 'make test    check style, types, package, notebooks and the built book'
	@echo 'make bench   measure speed, beside other libraries and what the machine allows'
	@echo 'make clean   remove what was built; "make clean ALL=1" also .venv and the caches'

book: environment-book
	@$(BIN)/python tools/build_book.py
	@echo 'Open _build/html/index.html in a browser, or run "make serve".'

serve: book
	@$(BIN)/python tools/serve.py $(PORT) --bind 127.0.0.1

# the book in one file each, in _build; a PDF takes a browser, which the tests' environment drives
pdf: environment-test
	@$(BIN)/python tools/build_book.py
	@browser=$$($(BIN)/python tools/browser.py --install) && \
	    ELMO_BROWSER=$$browser $(BIN)/python tools/build_pdf.py

epub: environment-book
	@$(BIN)/python tools/build_book.py
	@$(BIN)/python tools/build_epub.py

archive: environment-book
	@$(BIN)/python tools/build_book.py
	@$(BIN)/python tools/build_archive.py

# the tests' environment has what drives the browser
seminar: environment-test
	@$(BIN)/python tools/build_book.py
	@browser=$$($(BIN)/python tools/browser.py --install) && \
	    ELMO_BROWSER=$$browser $(BIN)/python tools/print_seminar.py

test: environment-test
	@sh tools/check.sh

bench: environment-test book
	@$(BIN)/python benchmarks/everything.py

clean:
	rm -rf _build build book/_generated .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find elmo_toy tests tools benchmarks -name __pycache__ -type d -exec rm -rf {} +
	$(if $(ALL),rm -rf .venv .cache *.egg-info)

environment-book:
	@sh tools/environment.sh book

environment-test:
	@sh tools/environment.sh test
