# Validation of settings that come from a store. Layer: storage.

# Checks of a bandit's settings from outside: an object with a constructor must be identical to the constructor's
# result.

# The settings of a bandit in the form that gp_bandit() accepts, after its checks.
check_stored_settings <- function(config) {
  if (!is.list(config) || !all(c("domain", "kernel", "noise_var", "policy") %in% names(config))) {
    stop_data("The settings in this store are not a bandit's.", argument = "store")
  }
  invalid <- setdiff(names(config), c(plain_settings, "contexts", "context_names", "context_space", "design",
                                      "design_grows", "search", "format", "output_map", "models", "transfer", "fresh",
                                      "noiseless", "noise_field",
                                      "forgetting", "reward_name", "goal", "mean_function"))
  if (length(invalid)) {
    stop_data("The settings in this store are not a bandit's: ", dQuote(invalid[1], FALSE), " is unknown.",
              argument = "store")
  }
  if (!is.null(config$outcomes)) check_outcomes_again(config)
  arguments <- settings_as_arguments(config)
  catch_error({
    do.call(gp_bandit, arguments, quote = TRUE)
    check_reward_name(config$reward_name, config$domain, config$context_names, config$outcomes)
    check_transfer_again(config)
    for (name in c("fresh", "noiseless")) if (!is.null(config[[name]])) check_flag(config[[name]], name)
  }, function(e) {
    stop_data("The settings in this store are not a bandit's: ", message_of(e), argument = "store", parent = e)
  })
  config
}
