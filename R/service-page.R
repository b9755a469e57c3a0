# The web page of the HTTP service. Layer: service.

# The web page of bandit_service(): static files without data (inst/service), and the two requests that only their
# script makes. These are the fields of the form, and the predictions of the model.

# The files with their headers. The page loads and requests nothing but these files, whatever text a campaign contains.
# Other sites can neither embed the page nor receive data from it.
page_files <- function() {
  types <- c("page.html" = "text/html", "page.css" = "text/css", "page.js" = "text/javascript")
  lapply(stats::setNames(names(types), c("/", "/page.css", "/page.js")), function(file) {
    path <- system.file("service", file, package = "gpbandits", mustWork = TRUE)
    list(status = 200L, body = readChar(path, file.size(path), useBytes = TRUE),
         headers = c(list("Content-Type" = paste0(types[[file]], "; charset=utf-8")), every_answer, page_policy))
  })
}

page_policy <- list(
  "Content-Security-Policy" = paste(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none';",
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"),
  "Referrer-Policy" = "no-referrer", "X-Frame-Options" = "DENY", "Cross-Origin-Opener-Policy" = "same-origin",
  "Cross-Origin-Resource-Policy" = "same-origin"
)

# ---- fields of the form ----------------------------------------------------------------

serve_model <- function(service) {
  service$bandit$catch_up()
  bandit <- as.environment(service$bandit)
  config <- bandit$config
  domain <- config$domain
  reply(list(
    name = service$store$name, policy = trait(config$policy, "short"), domain = describe_domain(domain),
    measured = of_form(config, "gaussian") && !trait(config$policy, "scripted"),
    reward = if (!of_form(config, "several")) outcome_names(config), direction = direction_of(config),
    inputs = lapply(seq_along(domain$names), input_described, domain = domain),
    arms = or_else(arm_count(domain), NA), contexts = I(as.character(config$context_names)),
    context_inputs = contexts_described(config),
    constraints = I(constraint_names(config, "g")), outcomes = I(unname(outcomes_described(config))),
    goal = if (!is.null(config$goal)) list(name = goal_column, title = goal_text(config$goal)),
    prefer = described_comparison(config), queries = table_size(bandit$queries),
    requests = lapply(service_schema()$paths, accepted_fields)
  ))
}

# The role of each outcome; empty if there is a single reward without a name.
outcomes_described <- function(config) {
  finite <- function(limit) if (is.finite(limit)) limit
  if (!of_form(config, "several")) return(list())
  Map(function(name, role) {
    list(name = name, title = trait(role, "title"), objective = trait(role, "objective"),
         lower = finite(trait(role, "lower")), upper = finite(trait(role, "upper")))
  }, outcome_names(config), outcome_roles(config))
}

# Contexts without types are numbers without a range.
contexts_described <- function(config) {
  lapply(seq_along(config$context_names), function(i) {
    if (is.null(config$context_space)) list(name = config$context_names[i], kind = "number")
    else input_described(config$context_space, i)
  })
}

input_described <- function(domain, i) {
  levels <- input_levels(domain, i)
  axis <- input_axis(domain, i, 2)
  kind <- if (is.logical(axis)) "logical" else if (is.null(levels)) "number" else "levels"
  c(list(name = domain$names[i], kind = kind),
    if (is.null(levels)) list(lower = min(axis), upper = max(axis), log = log_inputs(domain)[i],
                                  unit = sub("^(?=.)", " ", units_of(domain)[[i]], perl = TRUE))
    else list(levels = I(levels)))
}

# If rewards are comparisons: are ties allowed, and may a query that has been compared be compared again?
described_comparison <- function(config) of_form(config, "described_comparison")(config)

# The fields that the body of a request may contain, in this version of the service.
accepted_fields <- function(path) {
  I(as.character(names(path$post$requestBody$content[["application/json"]]$schema$properties)))
}

# ---- predictions of the model ------------------------------------------------------------

serve_slices <- function(service, query) {
  check_fields(query, context_fields(query))
  service$bandit$catch_up()
  bandit <- looked_at(service$bandit)
  context <- page_context(service, query)
  domain <- bandit$config$domain
  if (!is_drawn_along_inputs(bandit$config)) return(reply(list(slices = list(leading_arms(bandit, context)))))
  plot_data <- through_best_plot_data(bandit, "slices", context, width = 2, resolution = 81)
  reply(list(slices = lapply(domain$names, function(name) {
    part <- plot_data$data[plot_data$data$input == name, ]
    slice_columns(part, name, through = plot_data$through[[name]], log = plot_data$log[[name]],
                  levels = plot_data$levels[[name]])
  })))
}

# (Arms with several inputs have no points between them, and comparisons have predictions at the arms only.)
is_drawn_along_inputs <- function(config) {
  arms <- can_count(config$domain)
  !has_matrix(config$kernel) && !(arms && (length(config$domain$names) > 1 || !of_form(config, "between_arms")))
}

slice_columns <- function(part, name, through, log, levels = NULL) {
  list(input = name, log = log, through = if (is.null(levels)) through else as.character(through),
       levels = if (!is.null(levels)) I(part$label),
       value = I(if (is.null(levels)) part$value else seq_along(part$label)),
       piece = I(or_else(part$piece, rep(0, nrow(part)))), mean = I(part$mean), lower = I(part$lower),
       upper = I(part$upper))
}

# What is expected of a query's result: for each outcome `mean` and `sd`, with the noise. Empty if there are too few
# results for a prediction, or if results are not numbers.
serve_prediction <- function(service, query) {
  check_fields(query, "id")
  service$bandit$catch_up()
  bandit <- looked_at(service$bandit)
  config <- current_config(bandit)
  id <- check_ids(bandit, numbers_in_query(query)$id)
  asked <- bandit_history(bandit, id)
  # (A posterior that contains the query's own reward is no prediction of it.)
  if (!of_form(config, "gaussian") || !has_posterior(bandit) || length(known_ids(bandit)) < 5 ||
        !own_columns(asked, given_names(config))$status %in% c("pending", "partial")) {
    return(reply_text("{}"))
  }
  at <- own_columns(bandit_posterior(bandit, asked, NULL), given_names(config))
  names <- outcome_names(config)
  each <- lapply(seq_along(names), function(k) {
    columns <- if (of_form(config, "several")) paste0(names[k], c("_mean", "_sd")) else c("mean", "sd")
    mean <- at[[columns[1]]]
    one <- outcome_config(config, k)
    noise <- if (of_form(one, "gaussian") || !of_form(config, "several")) noise_in_user_units(one, mean) else NA
    list(mean = mean, sd = sqrt(at[[columns[2]]]^2 + noise))
  })
  each <- stats::setNames(each, names)
  reply(Filter(function(one) is.finite(one$mean) && is.finite(one$sd), each))
}

# The arms with the best means, side by side.
leading_arms <- function(bandit, context, count = 12) {
  config <- bandit$config
  at <- with_band(objective_model_state(bandit_posterior(bandit, NULL, context, level = band_level(2)), config), 2)
  best <- utils::head(order(output_sign(config) * at$mean, decreasing = TRUE), count)
  label <- or_else(arm_labels(config$domain), as.character(seq_len(nrow(at))))[best]
  part <- data.frame(value = seq_along(best), label = label, at[best, c("mean", "lower", "upper")])
  slice_columns(part, "arm", through = label[1], log = FALSE, levels = label)
}

# With several outcomes there is no certificate: the answer has no gap, and gives the reason.
serve_certificate <- function(service, query) {
  check_fields(query, context_fields(query))
  service$bandit$catch_up()
  config <- service$bandit$config
  context <- page_context(service, query)
  found <- of_form(config, "certificate")(service$bandit, context)
  inputs <- intersect(config$domain$names, names(found$point))
  reply(list(gap = found$gap, probability = found$probability, assumptions = I(as.character(found$assumptions)),
             point = if (!is.null(found$point)) as.list(found$point[1, inputs, drop = FALSE])))
}

# What the next experiments are expected to add; without numbers, and with the reason, where there are none.
serve_improvement <- function(service, query) {
  check_fields(query, c("n", "at_least", context_fields(query)))
  service$bandit$catch_up()
  config <- service$bandit$config
  asked <- numbers_in_query(query[intersect(c("n", "at_least"), names(query))])
  n <- integer_field(asked, "n", shown_experiments, 1, 1000)
  why <- without_gains(config)
  gain <- if (is.null(why)) {
    service$bandit$expected_improvement(n, or_else(asked$at_least, 0), page_context(service, query))
  } else data.frame(mean = NA_real_, sd = NA_real_, probability = NA_real_)
  if (is.null(why) && is.na(gain$mean)) why <- "too few results"
  reply(c(list(n = n), as.list(gain), if (!is.null(why)) list(reason = why)))
}

serve_check <- function(service) {
  service$bandit$catch_up()
  check <- check_model(service$bandit)
  reply(list(rewards = check$rewards, groups = check$groups, held = check$held, verdict = check$verdict,
             advice = I(as.character(check$advice)), tests = check$tests))
}

context_fields <- function(query) c("context", grep("^context\\[", names(query), value = TRUE))

page_context <- function(service, query) context_field(service, context_in_query(query, service$bandit$config))

register_form("reward", described_comparison = function(config) NULL,
              certificate = function(bandit, context) bandit$certificate(context = context))
register_form("comparison",
              described_comparison = function(config) list(ties = isTRUE(config$rewards$ties), again = TRUE))
register_form("ranking", described_comparison = function(config) list(ties = FALSE, again = FALSE))
register_form("outcomes", certificate = function(bandit, context) {
  list(gap = NA_real_, probability = NA_real_, assumptions = paste(
    "none: a bound on the regret needs a single reward; this campaign has the outcomes",
    paste(outcome_names(bandit$config), collapse = ", ")))
})
