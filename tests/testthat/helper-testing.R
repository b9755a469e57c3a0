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

# Values in the model's units as rewards.
unmap_outputs <- function(map, value) gpbandits:::cpp_map_outputs(map, as.double(value), TRUE)

# The amounts of all updates that a user's progressr handler receives.
progress_amounts <- function(code) {
  received <- numeric()
  recorder <- progressr::make_progression_handler("record", enable = TRUE, interval = 0, reporter = list(
    update = function(config, state, progression, ...) received <<- c(received, progression$amount)))
  progressr::with_progress(code, handlers = recorder, enable = TRUE)
  received
}
