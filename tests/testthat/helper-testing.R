# Functions of the core for tests only (tests/testthat/cpp) are compiled with the package by
# `make test`, not by R CMD INSTALL.
skip_without_testing <- function() {
  skip_if_not(exists("cpp_testing_digits", asNamespace("gpbandits")),
              "the package was installed without tests/testthat/cpp, which `make test` compiles with it")
}

# For longer tests with signals, forks or a shell, which Windows lacks.
skip_without_signals <- function() {
  skip_on_cran()
  skip_on_os("windows")
}

testing_entry <- function(name) {
  skip_without_testing()
  get(name, envir = asNamespace("gpbandits"))
}

# Calls end() at the end of a test.
at_end <- function(test, end) do.call(on.exit, list(as.call(list(end)), add = TRUE), envir = test)

# A device that draws nothing, until the end of the test.
local_device <- function(test = parent.frame()) {
  grDevices::pdf(NULL)
  at_end(test, function() grDevices::dev.off())
}

# Rewards in the model's units, and the other way.
map_outputs <- function(map, reward) gpbandits:::transform_outputs(map, reward)
unmap_outputs <- function(map, value) gpbandits:::cpp_map_outputs(map, as.double(value), TRUE)

# The amounts of all updates that a user's progressr handler receives.
progress_amounts <- function(code) {
  received <- numeric()
  recorder <- progressr::make_progression_handler("record", enable = TRUE, interval = 0, reporter = list(
    update = function(config, state, progression, ...) received <<- c(received, progression$amount)))
  progressr::with_progress(code, handlers = recorder, enable = TRUE)
  received
}

# ---- what tests see of the inside of objects, beside what their methods show ----------------

# A function that is not exported.
internal <- function(name) getFromNamespace(name, "gpbandits")

# The settings in force, with the parameters of the last refit.
config_now <- function(bandit) gpbandits:::current_config(as.environment(bandit))

# Its models, their weights, and its transform of rewards.
models_in_force <- function(bandit) gpbandits:::configs_of_models(config_now(bandit))
weights_in_force <- function(bandit) gpbandits:::model_weights(config_now(bandit))
map_in_force <- function(bandit) gpbandits:::output_map(config_now(bandit))

# The log of a bandit.
log_columns <- function(bandit, table = "events") gpbandits:::table_columns(as.environment(bandit)[[table]])
log_column <- function(bandit, name) gpbandits:::table_column(as.environment(bandit)$events, name)
log_size <- function(bandit, table = "events") gpbandits:::table_size(as.environment(bandit)[[table]])

# The parameters of a kernel that refits estimate.
fitted_values <- function(kernel) gpbandits:::kernel_parameters(kernel)

# Random points of a domain, and those of a design, as the user sees them.
sampled_inputs <- function(domain, count) gpbandits:::user_inputs(domain, gpbandits:::sample_points(domain, count))
designed_inputs <- function(domain, count) gpbandits:::user_inputs(domain, gpbandits:::design_points(domain, count))
