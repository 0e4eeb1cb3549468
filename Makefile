# make book   build the book                make test    check everything
# make serve  read it on this machine       make clean   remove what was built
# Each target installs what it needs into .venv first.

PORT ?= 8000
BIN := .venv/bin

# numpy's sums depend on the number of threads in their last digit
export OPENBLAS_NUM_THREADS := 1

.PHONY: help book seminar test serve clean environment-book environment-test

help:
	@echo 'make book    build the book into _build/html'
	@echo 'make serve   build it and serve it on this machine (PORT=$(PORT))'
	@echo 'make seminar print the slides, the worksheet and the handout into _build/seminar'
	@echo 'make test    check style, types, package, notebooks and the built book'
	@echo 'make clean   remove what was built; "make clean ALL=1" also .venv and the caches'

book: environment-book
	@$(BIN)/python tools/build_book.py
	@echo 'Open _build/html/index.html in a browser, or run "make serve".'

serve: book
	@echo 'Serving the book on http://localhost:$(PORT)/ (stop with Ctrl-C)'
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory _build/html

# the tests' environment has what drives the browser
seminar: environment-test
	@$(BIN)/python tools/build_book.py
	@ELMO_BROWSER=$$($(BIN)/python tools/browser.py --install) $(BIN)/python tools/print_seminar.py

test: environment-test
	@sh tools/check.sh

clean:
	rm -rf _build book/_generated .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find elmo_toy tests tools -name __pycache__ -type d -exec rm -rf {} +
	$(if $(ALL),rm -rf .venv .cache *.egg-info)

environment-book:
	@sh tools/environment.sh book

environment-test:
	@sh tools/environment.sh test
