# A bandit's settings that come from outside are checked: what has a constructor must be what that makes.

# What is declared must be what its constructor makes: text in a database may be anybody's.
check_made_here <- function(x) {
  if (!is.list(x)) return(x)
  class <- class(x)[1]
  fault <- if (inherits(x, "bandit_domain")) fault_of_domain(x)
  else if (!is.null(family_of(class))) fault_of_part(x, class)
  else for (i in seq_along(x)) check_made_here(.subset2(x, i))
  if (!is.null(fault)) stop(sprintf("it holds a %s that is none of ours: %s", class, fault))
  x
}

# The settings of a bandit as gp_bandit() takes and checks them.
check_stored_settings <- function(config) {
  known <- c("domain", "kernel", "noise_var", "policy", "mean", "pending", "engine", "accuracy", "constraints",
             "changes", "refit", "outputs", "rewards", "failures", "outcomes")
  if (!is.list(config) || !all(c("domain", "kernel", "noise_var", "policy") %in% names(config))) {
    stop_gpbandits("The settings in this store are not a bandit's.", argument = "store")
  }
  strange <- setdiff(names(config), c(known, "contexts", "context_names", "design", "search", "format", "output_map",
                                      "models", "related", "fresh"))
  if (length(strange)) {
    stop_gpbandits("The settings in this store are not a bandit's: nothing is known of ",
                   dQuote(strange[1], FALSE), ".", argument = "store")
  }
  arguments <- config[intersect(known, names(config))]
  if (inherits(config$rewards, "bandit_rewards") && !trait(config$rewards, "noise")) arguments$noise_var <- NULL
  arguments["contexts"] <- list(if (!is.null(config$contexts)) config$contexts
                                else if (length(config$context_names)) config$context_names)
  if (!is.null(config$outcomes)) {
    check_outcomes_again(config)
    arguments$outcomes <- lapply(config$outcomes, `[[`, "role")
    arguments["outputs"] <- list(NULL)
  }
  catch_error({
    do.call(gp_bandit, arguments, quote = TRUE)
    check_related_again(config)
    if (!is.null(config$fresh)) check_flag(config$fresh, "fresh")
  }, function(e) {
    stop_gpbandits("The settings in this store are not a bandit's: ", message_of(e), argument = "store", parent = e)
  })
  config
}

need_package <- function(package, arg) {
  if (!requireNamespace(package, quietly = TRUE)) {
    stop_argument(arg, sprintf("given where package %s is not installed", package),
                  sprintf("left out, or used with package %s installed", package),
                  try = sprintf("install.packages(\"%s\")", package))
  }
}
