# Functions of the core for tests only (tests/testthat/cpp) are compiled with the package by
# `make test`, not by R CMD INSTALL.
skip_without_testing <- function() {
  skip_if_not(exists("cpp_testing_digits", asNamespace("gpbandits")),
              "the package was installed without tests/testthat/cpp, which `make test` compiles with it")
}

testing_entry <- function(name) {
  skip_without_testing()
  get(name, envir = asNamespace("gpbandits"))
}
