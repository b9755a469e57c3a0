# `make help` lists the targets. Everything is installed into ./build/lib (this
# package) and never over a copy that you use; what is missing besides (see
# tools/setup.R) goes where R's packages usually go.

.DEFAULT_GOAL := help
SHELL := /bin/bash
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
LIB := $(CURDIR)/build/lib
STAMP := build/installed
SOURCES := $(shell find DESCRIPTION NAMESPACE R src inst tests/testthat/cpp -type f ! -name '*.o' ! -name '*.so' 2>/dev/null)

export R_LIBS := $(LIB)$(if $(R_LIBS),:$(R_LIBS))
export R_MAKEVARS_USER ?= $(CURDIR)/tools/Makevars
# Compiling in parallel: R's own make reads this, not ours.
PARALLEL := MAKEFLAGS=-j$(JOBS)

# The real data of the papers' experiments, where they lie beside this folder.
ifndef GPBANDITS_DATA
ifneq ($(wildcard ../shared/data/README.md),)
export GPBANDITS_DATA := $(abspath ../shared/data)
endif
endif

.PHONY: help demo test test-all bare fuzz check bench cells build-time vignettes site pictures coverage lint document sanitize clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: ## install what is missing, then find the summit of volcano (picture: build/volcano.png)
	@Rscript tools/setup.R demo
	@$(MAKE) -s $(STAMP)
	@GPBANDITS_DEMO_PICTURE=build/volcano.png Rscript inst/examples/volcano.R

test: export GPBANDITS_TEST_LEVEL ?= 0
test: ## install what is missing, then run the tests with few repetitions (FILTER=name for one file)
	@Rscript tools/setup.R test
	@$(MAKE) -s $(STAMP)
	@NOT_CRAN=true Rscript tools/run_tests.R $(if $(FILTER),'$(FILTER)')

test-all: ## run the tests with all repetitions, as CI does
	@GPBANDITS_TEST_LEVEL=1 $(MAKE) -s test

bare: ## run the code of README, introduction, FAQ and ?recipes with the packages of Imports only
	@Rscript tools/setup.R test
	@$(MAKE) -s $(STAMP)
	@Rscript tools/bare.R

check: ## build the tarball and run R CMD check --as-cran on it (CHECK_ARGS=...)
	@Rscript tools/setup.R check
	@$(PARALLEL) tools/check.sh $(CHECK_ARGS)

SEED = 1
MINUTES = 10
fuzz: ## random lives, mutations, strange arguments, interrupts and kills (SEED=1 MINUTES=10)
	@Rscript tools/setup.R test
	@$(MAKE) -s $(STAMP)
	@NOT_CRAN=true Rscript tools/fuzz.R $(SEED) $(MINUTES)

bench: ## run the benchmarks in bench/
	@Rscript tools/setup.R bench
	@$(MAKE) -s $(STAMP)
	@set -e; for script in bench/*.R; do echo "== $$script"; Rscript "$$script"; done

cells: ## one cell of each stored table of the articles again, compared with it
	@Rscript tools/setup.R bench
	@$(MAKE) -s $(STAMP)
	@Rscript tools/cells.R

build-time: ## seconds of processor that R CMD INSTALL takes without a compiler cache (bench/results/build.md)
	@Rscript tools/setup.R demo
	@Rscript tools/build_time.R

vignettes: ## build the vignettes into build/vignettes
	@Rscript tools/setup.R vignettes
	@$(MAKE) -s $(STAMP)
	@mkdir -p build/vignettes
	@set -e; for source in vignettes/*.Rmd; do echo "== $$source"; \
	  Rscript -e 'rmarkdown::render("'$$source'", output_dir = "build/vignettes", quiet = TRUE)'; done

site: ## build the site into build/site, and look at it with headless Chromium
	@Rscript tools/setup.R site
	@$(MAKE) -s $(STAMP)
	@Rscript tools/site.R

pictures: ## the front page's: logo, decision tree, cheat sheet, volcano, into man/figures
	@Rscript tools/setup.R demo
	@$(MAKE) -s $(STAMP)
	@GPBANDITS_DEMO_PICTURE=build/volcano.png Rscript inst/examples/volcano.R
	@Rscript tools/pictures.R volcano

coverage: ## share of the lines that the tests run, R and C++ (hours; QUICK=1: by CRAN's tests; build/coverage.txt)
	@Rscript tools/setup.R coverage
	@NOT_CRAN=$(if $(QUICK),false,true) Rscript tools/coverage.R $(if $(FILTER),'$(FILTER)')

document: ## regenerate NAMESPACE, man/, RcppExports and Makevars' list from the sources
	@Rscript tools/setup.R document
	@tools/units.sh
	@Rscript -e 'Rcpp::compileAttributes(".")'
	@$(MAKE) -s $(STAMP)
	@Rscript -e 'roxygen2::roxygenise(".", load_code = roxygen2::load_installed)'

lint: ## lintr on R, compiler warnings (gcc and clang) and cppcheck on C++
	@Rscript tools/setup.R lint
	@Rscript tools/lint.R

sanitize: ## build and test with ASAN and UBSAN (COMPILER=gcc or clang)
	@Rscript tools/setup.R test
	@$(PARALLEL) tools/sanitize.sh $(or $(COMPILER),gcc)

clean: ## remove everything that was built
	@rm -rf build Rplots.pdf
	@find src \( -name '*.o' -o -name '*.so' -o -name '*.dll' \) -delete

# Compiled from scratch (R's make does not know which object needs which header)
# in a copy, so that the sources stay as they are.
$(STAMP): $(SOURCES)
	@mkdir -p build
	@echo "installing gpbandits into build/lib (compiling: a minute or two) ..."
	@$(PARALLEL) tools/install.sh build/source $(LIB) $(INSTALL_OPTIONS) >build/install.log 2>&1 || \
	  { grep -E 'error|ERROR|undefined' build/install.log || tail -n 40 build/install.log; exit 1; }
	@touch $@
