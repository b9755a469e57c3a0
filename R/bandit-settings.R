# A table of the contexts that can occur, their number of values, or their names.
check_contexts <- function(contexts, domain) {
  if (is.null(contexts)) return(list(table = NULL, names = character()))
  table <- NULL
  if (is.character(contexts)) {
    names <- check_names(contexts, "contexts")
  } else if (is_number(contexts) && is.null(dim(contexts)) && length(contexts) == 1) {
    names <- paste0("z", seq_len(check_count(contexts)))
  } else {
    table <- check_matrix(contexts, "contexts")
    if (nrow(table) == 0 || ncol(table) == 0) {
      stop_argument("contexts", describe(contexts), "at least one context of at least one value")
    }
    names <- if (is.null(colnames(table))) paste0("z", seq_len(ncol(table))) else colnames(table)
    colnames(table) <- names
  }
  if (length(names) == 0) stop_argument("contexts", describe(contexts), "at least one name")
  both <- check_input_names(c(domain$names, names), length(domain$names) + length(names), "contexts")
  check_free_names(names, "contexts")
  list(table = table, names = utils::tail(both, length(names)))
}

check_prior_mean <- function(mean, domain) {
  as.double(check_numbers(by_arm(mean, domain, "mean"), "mean", lengths = unique(c(1L, arm_count(domain))),
                          lower = -largest_number, upper = largest_number))
}

# What the kernel calls its inputs.
input_names <- function(config) c(model_names(config$domain), config$context_names)

# Does the core keep a table of every place in every context? Then a number says it all.
is_tabulated_space <- function(config) core_space_kind(config$domain, config) == "table"

# The settings as the core takes them.
core_config <- function(config) {
  if (is_reflected(config)) config$mean <- -config$mean
  kernel <- resolve_kernel(config$kernel, input_names(config), arms = arm_count(config$domain))
  common <- list(
    space = core_space(config$domain, config), kernel = kernel, noise_var = config$noise_var,
    policy = resolve_policy(config$policy, config),
    pending = c(resolve_pending(config$pending, config), list(actions = length(config$domain$names))),
    engine = config$engine,
    accuracy = if (is.null(config$accuracy)) 1e-3 else config$accuracy
  )
  first <- trait(config$policy, "first")
  if (!is.null(first) && common$space$kind == "box") common$space$first <- unname(first$inputs)
  if (!is.null(config$rewards)) common$clip <- config$rewards$b
  common$likelihood <- core_likelihood(config)
  common$noise_field <- core_noise_field(config)
  if (isTRUE(config$fresh)) common$fresh <- TRUE
  if (isTRUE(config$fresh) && is_noise_negligible(config)) common$exact <- TRUE
  if (!is.null(config$failures)) common$failures <- output_sign(config)
  if (identical(config$failures, "doubt")) common$doubted <- TRUE
  common["changes"] <- list(resolve_changes(config$changes, config))
  common["outputs"] <- list(output_map(config))
  common["constraints"] <- list(if (!is.null(config$constraints)) unclass(config$constraints))
  core_outcomes(config, with_models(config, common))
}

# Is the noise's variance, under the models in force, next to nothing where rewards have variance 1? (In contexts a
# known place is none to go by in others.)
negligible_noise <- 1e-3

is_noise_negligible <- function(config) {
  if (length(config$context_names) || !is.null(config$noise_field)) return(FALSE)
  each <- if (!has_outcomes(config)) list(config)
          else lapply(seq_along(config$outcomes), outcome_config, config = config)
  all(vapply(each, expected_noise, 0) <= negligible_noise)
}

# Settings that a space and a posterior are made from, with those of each of several models.
with_models <- function(config, common) {
  # Rows of earlier campaigns that no model goes by are none: the bandit is as without them, bit by bit.
  if (is_related(config) && share_told(config) == 0) config$related <- NULL
  if (!is.null(config$models)) common$models <- lapply(configs_of_models(config), core_model, common)
  common
}

# One of several models: settings like the others.
core_model <- function(config, common) {
  common$kernel <- resolve_kernel(config$kernel, input_names(config), arms = arm_count(config$domain))
  common$noise_var <- config$noise_var
  common$weight <- config$weight
  means <- common$space$prior_mean
  if (length(config$mean) == 1) common$space$prior_mean <- rep(config$mean, length(means))
  common$related <- core_related(config)
  common
}

# Rows of earlier campaigns as the core takes them: the inputs that the kernel sees, the arm's number where the space
# has them numbered (it means nothing here), the campaign's.
core_related <- function(config) {
  related <- config$related
  if (is.null(related)) return(NULL)
  list(inputs = unname(cbind(related$inputs, if (has_numbers(config$domain)) 0, related$campaign)),
       values = related$values, noise_var = related$noise_var, mean = config$campaigns$mean,
       covariance = campaigns_covariance(related, config$campaigns))
}
