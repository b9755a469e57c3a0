# A table of the contexts that can occur, their number of values, or their names.
check_contexts <- function(contexts, domain) {
  if (is.null(contexts)) return(list(table = NULL, names = character()))
  table <- NULL
  if (is.character(contexts)) {
    names <- contexts
  } else if (is.numeric(contexts) && is.null(dim(contexts)) && length(contexts) == 1) {
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

# Inputs stand beside these columns in histories and ledgers.
check_free_names <- function(names, arg) {
  columns <- c("id", "arm", "reward", "mean", "sd", "width", "action", "segment", "status", "f", "regret",
               "cumulative_regret", "simple_regret", "period", "optimum", "cumulative_violation")
  taken <- names[names %in% columns | grepl("^(g|kappa|violation)[0-9]+$", names)]
  if (length(taken)) {
    stop_argument(arg, paste("an input named", dQuote(taken[1], FALSE)),
                  "inputs with names other than the columns of a bandit's history and ledger")
  }
}

check_prior_mean <- function(mean, domain) {
  n <- if (is_finite_domain(domain)) nrow(domain$x) else 1L
  as.double(check_numbers(mean, "mean", lengths = unique(c(1L, n))))
}

input_names <- function(config) c(config$domain$names, config$context_names)

# How the core sees the decision set: "table" (all arms, in all known contexts), "open" (arms in
# contexts that are not known beforehand, or too many to tabulate), "box".
kLargestTable <- 50000

space_of <- function(config) {
  if (!is_finite_domain(config$domain)) return("box")
  if (length(config$context_names) == 0) return("table")
  rows <- nrow(config$domain$x) * NROW(config$contexts)
  if (is.null(config$contexts) || rows > kLargestTable) "open" else "table"
}

# The settings as the core takes them.
core_config <- function(config) {
  finite <- is_finite_domain(config$domain)
  arms <- if (finite) nrow(config$domain$x)
  kernel <- resolve_kernel(config$kernel, input_names(config), arms = arms)
  common <- list(
    space = core_space(config), kernel = kernel, noise_var = config$noise_var,
    policy = resolve_policy(config$policy, config),
    pending = unclass(config$pending), engine = config$engine
  )
  common["changes"] <- list(resolve_changes(config$changes, config))
  common["constraints"] <- list(if (!is.null(config$constraints)) unclass(config$constraints))
  common
}

core_space <- function(config) {
  kind <- space_of(config)
  c(list(kind = kind, contexts = length(config$context_names)),
    switch(kind, table = core_table(config), open = core_open(config), box = core_box(config)))
}

# A row per arm, a block of all arms per context; the arm's number in the last column.
core_table <- function(config) {
  arms <- config$domain$x
  n <- nrow(arms)
  blocks <- if (is.null(config$contexts)) 1L else nrow(config$contexts)
  table <- arms[rep(seq_len(n), blocks), , drop = FALSE]
  if (!is.null(config$contexts)) {
    table <- cbind(table, config$contexts[rep(seq_len(blocks), each = n), , drop = FALSE])
  }
  list(points = unname(cbind(table, rep(seq_len(n) - 1, blocks))),
       prior_mean = rep(rep_len(config$mean, n), blocks), arms = n)
}

core_open <- function(config) {
  list(points = unname(config$domain$x), prior_mean = rep_len(config$mean, nrow(config$domain$x)))
}

core_box <- function(config) {
  domain <- config$domain
  bounds <- to_model_inputs(domain, rbind(domain$lower, domain$upper))
  list(rows = matrix(0, 1, 0), numbered = FALSE, lower = unname(bounds[1, ]), upper = unname(bounds[2, ]),
       integer = domain$integer, log = domain$log, prior_mean = config$mean)
}

uses_matrix_kernel <- function(kernel) {
  kernel$type == "matrix" || any(vapply(kernel$parts, uses_matrix_kernel, logical(1)))
}
