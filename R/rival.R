# Rivals under long-term constraints: objects that are played, saved and copied like a GPBandit,
# made of
#   config   the settings, plain R data; config$rule names an entry of rival_rules;
#   queries, events   the log, in the tables of a GPBandit;
#   memory   what the rule remembers between two queries, a list of plain R data;
#   models   posteriors of f and of each g_j (GPBandits that are only told): a cache of the log.
#
# A rule is a list of functions:
#   title             for people;
#   begin(config)     the first memory;
#   propose(rival)    a list: `place`, the new `memory`, `phase` and, where there are such, `kappa` (the
#                     multipliers at the choice) and `action`. It must change nothing itself;
#   recommend(rival)  the place that it would recommend now, changing nothing;
#   takes(config, phase, j)  which queries teach model j (1: f, 1 + j: g_j)?
# Places are those of domain.R; scores are functions of places.

rival_rules <- list(
  ckb = list(
    title = "CKB (truncated primal-dual UCB)",
    begin = function(config) list(phi = numeric(config$constraints$count)),
    propose = function(rival) propose_ckb(rival),
    recommend = function(rival) recommend_by_means(rival)
  ),
  config_ucb = list(
    title = "CONFIG (optimistic feasible set)",
    begin = function(config) list(),
    propose = function(rival) propose_config(rival),
    recommend = function(rival) recommend_by_means(rival)
  ),
  epbo = list(
    title = "EPBO (exact penalty)",
    begin = function(config) list(),
    propose = function(rival) propose_epbo(rival),
    recommend = function(rival) recommend_by_means(rival)
  ),
  bandit_oco = list(
    title = "bandit OCO with constraints",
    begin = function(config) list(x = NULL, lambda = numeric(config$constraints$count), u = NULL, pairs = list()),
    propose = function(rival) propose_oco(rival),
    recommend = function(rival) recommend_oco(rival)
  ),
  admmbo = list(
    title = "ADMMBO",
    begin = function(config) begin_admmbo(config),
    propose = function(rival) propose_admmbo(rival),
    recommend = function(rival) recommend_by_means(rival),
    takes = function(config, phase, j) takes_admmbo(config, phase, j)
  )
)

rule_of <- function(rival) rival_rules[[rival$config$rule]]

is_rival <- function(x) inherits(x, "BanditRival")

#' @exportClass BanditRival
BanditRival <- setRefClass("BanditRival",
  fields = list(config = "ANY", queries = "ANY", events = "ANY", memory = "ANY", models = "ANY"),
  methods = list(
    suggest = function(n = 1, context = NULL, ...) rival_suggest(as.environment(.self), n, context, ...),
    observe = function(id, reward, constraints = NULL, ...) {
      rival_observe(as.environment(.self), id, reward, constraints, ...)
      invisible(.self)
    },
    add = function(x = NULL, arm = NULL, reward, constraints = NULL, context = NULL, ...) {
      rival_add(as.environment(.self), x, arm, reward, constraints, context, ...)
      invisible(.self)
    },
    posterior = function(x = NULL, context = NULL, arm = NULL, ...) {
      rival_posterior(as.environment(.self), x, context, arm, ...)
    },
    best = function(context = NULL, ...) rival_best(as.environment(.self), context, ...),
    history = function() bandit_history(as.environment(.self)),
    reset = function() {
      rival_reset(as.environment(.self))
      invisible(.self)
    },
    copy = function(shallow = FALSE) rival_copy(.self),
    show = function() print_rival(.self)
  )
)

# `settings`: what the rule needs besides.
new_rival <- function(rule, domain, count, model_settings = list(), settings = list()) {
  check_free_names(domain$names, "domain")
  config <- c(list(rule = rule, domain = domain, context_names = character(),
                   constraints = list(count = check_count(count, "count")),
                   policy = new_policy(rule, rival_rules[[rule]]$title, short = rival_rules[[rule]]$title, random = TRUE),
                   model_settings = model_settings),
              settings)
  rival_object(config, new_table(query_columns(config)), new_table(event_columns()),
               rival_rules[[rule]]$begin(config), rival_models(config))
}

rival_object <- function(config, queries, events, memory, models) {
  rival <- BanditRival$new(config = config, queries = queries, events = events, memory = memory, models = models)
  without_definition(rival, BanditRival)
}

# ---- posteriors ---------------------------------------------------------------

rival_models <- function(config) {
  lapply(config$model_settings, function(one) {
    gp_bandit(config$domain, one$kernel, one$noise_var,
              if (is.null(one$width)) policy_mean() else policy_ucb(one$width), mean = one$mean, refit = config$refit)
  })
}

# The models learn what has arrived since they were asked last, in the order of arrival.
feed_models <- function(rival) {
  if (length(rival$models) == 0) rival$models <- rival_models(rival$config)
  ids <- table_column(rival$events, "id")
  for (j in seq_along(rival$models)) {
    of_j <- ids[taken_ids(rival, ids, j)]
    new <- of_j[seq_along(of_j) > table_size(rival$models[[j]]$queries)]
    column <- if (j == 1) "reward" else paste0("g", j - 1)
    # One by one where hyperparameters are refitted: a model made anew then has the same refits.
    for (some in if (is.null(rival$config$refit)) list(new) else as.list(new)) {
      if (length(some)) tell_model(rival$models[[j]], rival, some, column)
      refit_if_due(rival$models[[j]])
    }
  }
  invisible(rival)
}

taken_ids <- function(rival, ids, j) {
  takes <- rule_of(rival)$takes
  if (is.null(takes)) rep(TRUE, length(ids)) else takes(rival$config, rival$queries$phase[ids], j)
}

tell_model <- function(model, rival, ids, column) {
  places <- list(arm = rival$queries$arm[ids], inputs = logged_matrix(rival, ids), context = integer(length(ids)))
  nowhere <- list(row = integer(length(ids)), values = matrix(0, length(ids), 0))
  values <- get(column, envir = rival$queries)[ids]
  transact(as.environment(model), function(handle) {
    cpp_bandit_give(handle, places, nowhere, values, matrix(0, length(ids), 0), NA_real_,
                    rep(NA_real_, length(ids)))
  })
}

# Mean and sd of one model at some places.
model_posterior <- function(model, places) {
  heal(model)
  posterior_at(model, places, NULL)
}

model_width <- function(model) {
  heal(model)
  width <- core(cpp_bandit_width(model$handle))
  if (!is.finite(width)) stop_gpbandits("the width is not a finite number", argument = "width")
  width
}

# A column per constraint.
constraint_posteriors <- function(rival, places, what) {
  do.call(cbind, lapply(rival$models[-1], function(model) model_posterior(model, places)[[what]]))
}

# ---- choosing a place ---------------------------------------------------------

# Where `score(places)` is largest, see maximise_over(): all arms; of a box the last points played too. Ties
# (within 1e-9 of `scale`) go to the first.
best_place <- function(rival, score, limits = NULL, scale = rival$config$scale) {
  size <- table_size(rival$queries)
  recent <- logged_places(rival, seq_len(size)[seq_len(size) > size - 50])
  maximise_over(rival$config$domain, score, limits, effort_of_round, from = recent, tie = 1e-9 * scale)
}

# The largest posterior mean of f where the posterior means of all g_j are at most 0.
recommend_by_means <- function(rival) {
  best_place(rival, function(places) model_posterior(rival$models[[1]], places)$mean,
             function(places) constraint_posteriors(rival, places, "mean"))$places
}

# ---- what is asked and told ---------------------------------------------------

rival_suggest <- function(rival, n, context, ...) {
  check_dots_empty(..., allowed = c("n", "context"))
  n <- check_count(n, upper = 1e6)
  contexts_for(rival, context, n)
  first <- table_size(rival$queries)
  if (n == 1) rival_query(rival) else rival_change(rival, function(draft) for (k in seq_len(n)) rival_query(draft))
  query_frame(rival, first + seq_len(n))
}

rival_change <- function(rival, make) as_one_change(rival, "memory", list(models = list()), make)

# One query: chosen, then noted together with what the rule remembers. Returns its id.
rival_query <- function(rival) {
  feed_models(rival)
  choice <- rule_of(rival)$propose(rival)
  commit(rival, list(table_change(rival$queries, rival_row(rival, choice))), fields = list(memory = choice$memory))
  table_size(rival$queries)
}

rival_row <- function(rival, choice) {
  config <- rival$config
  seen <- if (length(rival$models)) model_posterior(rival$models[[1]], choice$place)
          else list(mean = NA_real_, sd = NA_real_)
  width <- if (!is.null(choice$width)) choice$width else NA_real_
  action <- match(if (is.null(choice$action)) "policy" else choice$action, action_names)
  c(logged_place(config, choice$place),
    list(context = 0L, action = action, segment = 1L, mean = seen$mean, sd = seen$sd, width = width,
         reward = NA_real_, status = 1L, phase = choice$phase),
    constraint_columns(config, "g", NULL), constraint_columns(config, "kappa", choice$kappa))
}

# One place as columns of the log.
logged_place <- function(config, place) {
  names <- logged_inputs(config)
  c(list(arm = place$arm), stats::setNames(as.list(place$inputs[seq_along(names)]), names))
}

# One row of `letter`1.. as columns of the log.
constraint_columns <- function(config, letter, values) {
  names <- constraint_names(config, letter)
  if (is.null(values)) values <- rep(NA_real_, length(names))
  stats::setNames(as.list(as.double(values)), names)
}

rival_observe <- function(rival, id, reward, constraints, ...) {
  check_dots_empty(..., allowed = c("id", "reward", "constraints"))
  id <- check_ids(rival, id)
  check_status(rival, id, "pending", "a pending query")
  reward <- check_numbers(reward, "reward", lengths = length(id))
  constraints <- check_constraint_values(constraints, rival, length(id))
  rival_learn(rival, id, reward, constraints, "reward")
}

# Rewards and constraint values of queries, or of the points in `rows` that come with them.
rival_learn <- function(rival, id, reward, constraints, kind, rows = NULL) {
  if (length(id) == 0) return(invisible(rival))
  reward <- as.double(reward)
  none <- rep(NA_real_, length(id))
  events <- list(kind = rep(event_kind[[kind]], length(id)), id = as.integer(id), reward = reward, time = none,
                 noise_var = none)
  values <- c(list(status = rep(2L, length(id)), reward = reward), g_columns(rival$config, constraints))
  cells <- lapply(values, function(column) list(as.integer(id), column))
  commit(rival, list(table_change(rival$queries, rows, cells), table_change(rival$events, events)))
  invisible(rival)
}

rival_add <- function(rival, x, arm, reward, constraints, context, ...) {
  check_dots_empty(..., allowed = c("x", "arm", "reward", "constraints", "context"))
  contexts_for(rival, context, 1L)
  given <- find_places(rival$config$domain, x, arm)
  reward <- check_numbers(reward, "reward", lengths = place_total(given))
  constraints <- check_constraint_values(constraints, rival, length(reward))
  rival_change(rival, function(draft) {
    for (k in seq_along(reward)) {
      feed_models(draft)
      row <- rival_row(draft, list(place = subset_places(given, k), action = "given", phase = "given"))
      rival_learn(draft, table_size(draft$queries) + 1L, reward[k], constraints[k, , drop = FALSE], "given", row)
    }
  })
  invisible(rival)
}

rival_posterior <- function(rival, x, context, arm = NULL, ...) {
  check_dots_empty(..., allowed = c("x", "context", "arm"))
  contexts_for(rival, context, 1L)
  check_has_models(rival)
  feed_models(rival)
  posteriors_at(rival, asked_places(rival$config$domain, x, arm))
}

check_has_models <- function(rival) {
  if (length(rival$config$model_settings) == 0) {
    stop_gpbandits(rule_of(rival)$title, " has no posterior.", argument = "x")
  }
}

# A data.frame of mean and sd of f and of each g_j.
posteriors_at <- function(rival, places) {
  out <- as.data.frame(model_posterior(rival$models[[1]], places))
  for (j in seq_len(constraint_count(rival$config))) {
    one <- model_posterior(rival$models[[1 + j]], places)
    out[[sprintf("g%d_mean", j)]] <- one$mean
    out[[sprintf("g%d_sd", j)]] <- one$sd
  }
  out
}

rival_best <- function(rival, context, ...) {
  check_dots_empty(..., allowed = "context")
  contexts_for(rival, context, 1L)
  feed_models(rival)
  place <- rule_of(rival)$recommend(rival)
  frame <- frame_of(place_labels(rival$config$domain, place$arm, place$inputs))
  if (length(rival$models) == 0) frame else cbind(frame, posteriors_at(rival, place))
}

rival_reset <- function(rival) {
  commit(rival, list(), fields = list(queries = new_table(query_columns(rival$config)),
                                      events = new_table(event_columns()),
                                      memory = rule_of(rival)$begin(rival$config), models = list()))
}

rival_copy <- function(rival) {
  rival_object(rival$config, table_copy(rival$queries), table_copy(rival$events), rival$memory, list())
}

# ---- for people ---------------------------------------------------------------

rival_story <- function(rival) {
  size <- table_size(rival$queries)
  phase <- rival$queries$phase[seq_len(size)]
  pending <- sum(is.na(rival$queries$reward[seq_len(size)]))
  lines <- c(sprintf("%s over %s", rule_of(rival)$title, describe_domain(rival$config$domain)),
             sprintf("  constraints %d", as.integer(constraint_count(rival$config))),
             sprintf("  rounds      %d (%d pending)", size, pending))
  if (any(phase == "infeasible")) {
    lines <- c(lines, sprintf("  declared    infeasible in round %d", which(phase == "infeasible")[1]))
  }
  if (any(phase == "answer")) lines <- c(lines, sprintf("  stopped     before round %d", which(phase == "answer")[1]))
  lines
}

print_rival <- function(rival) {
  cat(rival_story(rival), sep = "\n")
  if (length(table_column(rival$events, "id"))) {
    best <- rival_best(rival, NULL)
    cat(sprintf("  best        %s\n", describe_place(best, rival)))
  }
  invisible(rival)
}

#' @rdname bandit-methods
#' @method print BanditRival
#' @export
print.BanditRival <- function(x, ...) print_rival(x)

#' @rdname bandit-methods
#' @method summary BanditRival
#' @export
summary.BanditRival <- function(object, ...) {
  check_dots_empty(...)
  reward <- table_column(object$queries, "reward")
  structure(list(story = rival_story(object), rounds = table_size(object$queries), pending = sum(is.na(reward)),
                 reward = if (any(!is.na(reward))) summary(reward),
                 best = if (any(!is.na(reward))) rival_best(object, NULL)),
            class = "summary_bandit_rival")
}

#' @export
print.summary_bandit_rival <- function(x, ...) {
  cat(x$story, sep = "\n")
  if (!is.null(x$best)) print(x$best, row.names = FALSE, digits = 4)
  invisible(x)
}

#' @rdname bandit-methods
#' @method predict BanditRival
#' @export
predict.BanditRival <- function(object, newdata = NULL, arm = NULL, ...) {
  check_dots_empty(..., allowed = c("newdata", "arm"))
  rival_posterior(object, newdata, NULL, arm)
}

#' @rdname bandit-methods
#' @method as.data.frame BanditRival
#' @export
as.data.frame.BanditRival <- function(x, row.names = NULL, optional = FALSE, ...) bandit_history(x)

# ---- runs ---------------------------------------------------------------------

# As play(), round by round in R.
play_rival <- function(object, problem, rounds, draws, progress) {
  rival <- as.environment(object)
  first <- table_size(rival$queries)
  m <- constraint_count(rival$config)
  arrival <- seq_len(rounds) + if (depends_on_input(problem$delay)) NA_real_ else draws$delay
  f <- numeric(rounds)
  g <- matrix(0, rounds, m)
  tell <- function(which) {
    rival_learn(rival, first + which, f[which] + draws$noise[which],
                g[which, , drop = FALSE] + draws$constraint_noise[which, , drop = FALSE], "reward")
  }
  with_progress_steps(rounds, progress, function(report) for (t in seq_len(rounds)) {
    late <- which(arrival == t & seq_len(rounds) < t)
    if (length(late)) tell(late)
    id <- rival_query(rival)
    place <- logged_places(rival, id)
    if (is.na(arrival[t])) {
      arrival[t] <<- t + delay_of_query(problem$delay, problem_inputs(problem, place), draws$delay_seeds[t])
    }
    f[t] <<- problem_truth(problem, place, t)
    g[t, ] <<- problem_constraints(problem, place)
    if (arrival[t] == t) tell(t)
    if (!is.null(report)) report(t)
  })
  optimum <- problem_optimum(problem, rounds)
  new_run(object, problem, first, rival_ledger(f, g, arrival, optimum), optimum)
}

rival_ledger <- function(f, g, arrival, optimum) {
  regret <- optimum - f
  simple <- vapply(seq_along(f), function(t) {
    arrived <- regret[arrival <= t]
    if (length(arrived)) min(arrived) else NaN
  }, 0)
  summed <- apply(g, 2, cumsum)
  dim(summed) <- dim(g)
  list(f = f, regret = regret, cumulative_regret = cumsum(regret), simple_regret = simple, violation = g,
       cumulative_violation = sqrt(rowSums(pmax(summed, 0)^2)))
}
