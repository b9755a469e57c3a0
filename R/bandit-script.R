# Bandits whose points are chosen by a script in R. Layer: bandit.

# Baselines under long-term constraints, and algorithms with several posteriors. Everything but the choice of a point is
# inherited from GPBandit: queries and observations, the log, the journal, files, copies, runs and plots.
# Such a bandit has these fields:
#   `config$rule`  the name of a registered script.
#   `memory`       the state that the script keeps between two queries, a list of plain R data.
#   `handle`       a cache of the log. `models`: posteriors of f and of each g_j (GPBandits that make no queries).
#                  `fed`: the number of events given to them. `process`: identifies the process that made the cache.
#                  `restored`: TRUE if the bandit comes from outside.
#
# A script is a list (register_script()). It needs three functions, which must not change the bandit:
#   `state(config)`       the memory before the first query.
#   `suggest(bandit, context)`  a list: `point`, the new `memory` and `phase`. Optional elements are `kappa` (the
#                         multipliers at the choice), `width`, `action` and `model` (the number of the model whose mean
#                         and sd are in the history, by default 1).
#   `recommend(bandit, context)`  the point that it would recommend now.
# The update by new observations is common to all scripts: the models condition on them (feed_models()). A script may
# change it:
#   `takes(config, phase, j)`  which queries model j conditions on (1: f, 1 + j: g_j), by default all.
#   `teaches(j, config)`  the column of the log with the data of model j, by default reward, g1, g2, ...
#   `learns(j, values)`   the data of model j computed from these values.
#   `models(bandit)`      the models made from the log, if they do not simply condition on the observations.
# And it has properties:
#   `title`               for users.
#   `settings`            its settings in addition to the models, declared like a part's settings (registry.R).
#   `phases(count)`       names of the phases of its queries for `count` constraints.
#   `checks(values)`      an error for invalid constraint values.
#   `shown(bandit)`       the number of the model for `$posterior()`, if it is not 1.
#   `random`              FALSE if a choice draws no random numbers.
#   `amends`              if an observed reward cannot be corrected, the reason.
# Points have the format of domain.R. `context` is one row, or NULL. Acquisition values that are sums of the models'
# bounds are computed by the core (point_of_sum()); others are functions of points, for maximise_over().

# The largest mean of f where all means of the g_j are at most 0; if there is no such point, the least excess.
recommend_by_means <- function(bandit, context) {
  models <- models_of(bandit)
  point_of_sum(bandit, models, context, weight = c(1, rep(-Inf, length(models) - 1)))
}

recommend_by_shown <- function(bandit, context) point_of_sum(bandit, list(shown_model(bandit)), context)

# Misspelt arguments, and two that rules do not support: refits, and `contexts` if `no_contexts` gives a reason.
check_script_dots <- function(..., allowed, no_contexts = NULL) {
  given <- ...names()
  if ("contexts" %in% given && !is.null(no_contexts)) {
    stop_unused("contexts", no_contexts)
  }
  if ("refit" %in% given && !"refit" %in% allowed) {
    stop_unused("refit", "this rule needs fixed kernels. Fit one in advance by gp_fit()")
  }
  check_dots_empty(..., allowed = allowed)
}

# `models`: the settings of 1 + count models, empty if the rule needs none. `frame`: the environment that holds the
# rule's other settings under their names. `least`: the smallest number of constraints.
new_script_bandit <- function(rule, domain, count, contexts = NULL, models = list(), frame = parent.frame(),
                              journal = NULL, least = 1, trust = FALSE) {
  settings <- checked_settings(script_of(rule), frame)
  check_flag(trust)
  check_free_names(names_in_domain(domain), "domain")
  contexts <- check_contexts(contexts, domain)
  domain <- distinct_labels(domain, contexts$names)
  width <- if (length(models)) models[[1]]$width
  config <- c(list(rule = rule, domain = domain, contexts = contexts$table, context_names = contexts$names,
                   context_space = contexts$space,
                   constraints = list(count = check_count(count, "count", lower = least,
                                                          upper = most_constraints)), pending = pending_ignore(),
                   policy = new_policy(rule),
                   model_settings = models),
              if (length(models)) models[[1]][c("kernel", "noise_var", "mean")], settings)
  bandit <- new_bandit(config)
  frame <- as.environment(bandit)
  make_ready(frame)
  # The tolerance for ties is in units of f's prior.
  if (length(models)) frame$config$scale <- bandit_facts(models_of(frame)[[1]])$prior_scale
  if (!is.null(journal)) start_journal(bandit, journal, trust)
  bandit
}

# ---- posteriors ---------------------------------------------------------------

models_of <- function(bandit) bandit$handle$models

shown_model <- function(bandit) {
  shown <- rule_of(bandit)$shown
  models_of(bandit)[[if (is.null(shown)) 1 else shown(bandit)]]
}

check_has_posterior <- function(bandit) {
  if (!has_posterior(bandit)) {
    stop_state(rule_of(bandit)$title, " has no posterior. Use a bandit of gp_bandit() for one.", argument = "x")
  }
}

script_models <- function(config) {
  lapply(config$model_settings, function(one) {
    bandit_kinds$core$make(config$domain, one$kernel, one$noise_var,
                           if (is.null(one$width)) policy_mean() else policy_ucb(one$width), mean = one$mean,
                           refit = one$refit,
                           contexts = contexts_argument(config))
  })
}

# Identifies the process: a copy that was saved and read has another environment.
this_process <- new.env(parent = emptyenv())

# A cache that is missing or comes from another process is built again from the log, after a check of the whole bandit.
rebuild_script <- function(bandit) {
  if (is.list(bandit$handle) && identical(bandit$handle$process, this_process)) return(feed_models(bandit))
  check_whole(bandit)
  bandit$handle <- NULL
  as_damaged({
    feed_models(bandit)
    if (has_posterior(bandit)) shown_model(bandit)
  })
  bandit$handle$restored <- TRUE
  invisible(bandit)
}

# A rule's results from settings and memory that only the rule can check: if they come from outside, they may be
# damaged.
by_rule <- function(bandit, code) if (isTRUE(bandit$handle$restored)) as_damaged(code) else code

# The models condition on the values reported since the last call, in the order of arrival. If this stops half-way, the
# models are built again.
feed_models <- function(bandit) {
  cache <- bandit$handle
  bandit$handle <- NULL
  make <- rule_of(bandit)$models
  if (is.null(cache)) {
    cache <- list(models = if (is.null(make)) script_models(bandit$config), fed = 0L, process = this_process)
  }
  size <- table_size(bandit$events)
  if (!is.null(make)) {
    if (is.null(cache$made) || cache$fed < size) {
      cache$models <- make(bandit)
      cache$made <- TRUE
    }
  } else if (cache$fed < size) {
    events <- seq(cache$fed + 1L, size)
    for (j in seq_along(cache$models)) feed_model(cache$models[[j]], bandit, j, events)
  }
  cache$fed <- size
  bandit$handle <- cache
  invisible(bandit)
}

# One by one if hyperparameters are refitted, so that a model built again has the same refits.
feed_model <- function(model, bandit, j, events) {
  events <- teaching(bandit, j, events)
  for (some in if (is.null(model$config$refit)) list(events) else as.list(events)) {
    if (length(some)) record_model(model, bandit, j, some)
    refit_if_due(model)
  }
}

# The events among some on which model j conditions.
teaching <- function(bandit, j, events = seq_len(table_size(bandit$events))) {
  log <- bandit$events
  reported <- log$kind[events] %in% event_kind[c("reward", "given")] & !is.na(log$reward[events])
  events <- events[reported]
  takes <- rule_of(bandit)$takes
  if (is.null(takes)) events else events[takes(bandit$config, phases_of(bandit, log$id[events]), j)]
}

record_model <- function(model, bandit, j, events) {
  ids <- bandit$events$id[events]
  rule <- rule_of(bandit)
  column <- if (!is.null(rule$teaches)) rule$teaches(j, bandit$config) else if (j == 1) "reward" else paste0("g", j - 1)
  values <- get(column, envir = bandit$queries)[ids]
  if (!is.null(rule$learns)) values <- rule$learns(j, values)
  teach_model(model, bandit, ids, values, if (column == "reward") bandit$events$noise_var[events] else NA_real_)
}

# Adds values observed at the points of some queries.
teach_model <- function(model, bandit, ids, values, noise_var) {
  inputs <- cpp_logged_inputs(bandit$queries, ids)
  contexts <- logged_contexts(bandit, list(inputs = inputs, context = bandit$queries$context[ids]))
  points <- list(arm = bandit$queries$arm[ids], inputs = inputs, context = contexts$row)
  transact(as.environment(model), function(handle) {
    cpp_bandit_give(handle, points, contexts, values, matrix(0, length(ids), 0), NA_real_,
                    observation_extras(length(ids), noise_var), NULL)
  })
}

# Mean and sd of one model at some points.
model_posterior <- function(model, points, context) {
  rebuild(model)
  posterior_at(model, points, context)
}

model_width <- function(model) {
  rebuild(model)
  width <- cpp_bandit_width(model$handle)
  if (!is.finite(width)) {
    stop_gpbandits("evaluation", "The width is not a finite number in this round. Check its function.",
                   argument = "width")
  }
  width
}

# A data.frame of mean and sd of f and of each g_j.
script_posteriors <- function(bandit, points, context) {
  check_has_posterior(bandit)
  rebuild(bandit)
  out <- model_posterior(shown_model(bandit), points, context)
  for (j in seq_len(constraint_count(bandit$config))) {
    one <- model_posterior(models_of(bandit)[[1 + j]], points, context)
    out[[sprintf("g%d_mean", j)]] <- one$mean
    out[[sprintf("g%d_sd", j)]] <- one$sd
  }
  out
}

# The facts of f's posterior, as bandit_facts().
script_facts <- function(bandit) {
  facts <- if (has_posterior(bandit)) bandit_facts(shown_model(bandit))
           else list(engine = "none", rank = 0L, error_bound = 0, log_det = NA_real_, segment = 1L)
  times <- table_column(bandit$events, "time")
  facts$rounds <- table_size(bandit$queries)
  facts$clock <- if (all(is.na(times))) NA_real_ else max(times, na.rm = TRUE)
  facts
}

# ---- choosing a point ---------------------------------------------------------

# The point where the sum over some models of weight * (mean + width * sd) is largest, by the core's search (BoundTerm
# in src/core/scores/outcomes.h). `weight`: -Inf excludes points whose bound is above 0; `floored`: a bound below 0
# counts as 0; `target`: the first model's term is the logarithm of its expected improvement over it. Each is one value
# for all models, or one value per model.
point_of_sum <- function(bandit, models, context, weight = 1, width = 0, floored = FALSE, target = NaN) {
  size <- length(models)
  for (model in models) rebuild(model)
  found <- cpp_bandits_largest_sum(lapply(models, function(model) model$handle),
                                   contexts_for(models[[1]], context, 1L), rep_len(as.double(weight), size),
                                   rep_len(as.double(width), size), rep_len(floored, size), target)
  if (is_tabulated_space(bandit$config)) return(arm_points(bandit$config$domain, found$arm))
  points_found(bandit$config, found)
}

# The point where `score(points)` is largest, see maximise_over(): among all arms; on a box also from the last points
# played. Ties (within 1e-9 of `scale`) go to the first.
best_candidate <- function(bandit, score, limits = NULL, scale = bandit$config$scale) {
  size <- table_size(bandit$queries)
  recent <- logged_points(bandit, seq_len(size)[seq_len(size) > size - 50])
  maximise_over(bandit$config$domain, score, limits, effort_of_round, from = recent, tie = 1e-9 * scale)
}

# ---- queries and observations -------------------------------------------------

# Returns the row numbers of the queries in the log.
script_ask <- function(bandit, contexts, time) {
  count <- length(contexts$row)
  rows <- table_size(bandit$queries) + seq_len(count)
  if (count == 1) {
    script_query(bandit, contexts, time)
  } else {
    script_change(bandit, function(draft) {
      for (k in seq_len(count)) script_query(draft, subset_contexts(contexts, k), time)
    })
  }
  rows
}

script_change <- function(bandit, make) {
  rebuild(bandit)
  as_one_change(bandit, "memory", list(handle = NULL), make,
                durable = if (!is.null(bandit$journal)) function(draft) keep_difference(bandit, draft))
}

# One query: chosen, then logged together with the rule's memory.
script_query <- function(bandit, contexts, time) {
  rebuild(bandit)
  choice <- by_rule(bandit, rule_of(bandit)$suggest(bandit, context_row(bandit$config, contexts)))
  script_commit(bandit, by_rule(bandit, script_row(bandit, choice, contexts)),
               script_events(bandit, "query", table_size(bandit$queries) + 1L, time = time), choice$memory)
}

# Adds `queries` (rows of the log, or NULL) and `events` to the log. `stale`: the models must be built again.
script_commit <- function(bandit, queries, events, memory = bandit$memory, stale = FALSE, fields = list()) {
  commit(bandit,
         list(table_change(bandit$queries, queries, cpp_reported_cells(events)),
              table_change(bandit$events, events)),
         fields = c(list(memory = memory), fields, if (stale) list(handle = NULL)),
         durable = if (!is.null(bandit$journal)) function() {
           keep_change(bandit$journal, bandit, queries, events, NULL, if (!identical(memory, bandit$memory)) memory)
         })
}

# Rows of the log's events, with the new statuses of their queries.
script_events <- function(bandit, kind, id, reward = NA_real_, constraints = NULL, time = NA_real_,
                         beside = observation_extras(length(id))) {
  count <- length(id)
  if (is.null(constraints)) constraints <- matrix(NA_real_, count, constraint_count(bandit$config))
  events <- c(list(kind = rep(event_kind[[kind]], count), id = as.integer(id),
                   reward = rep_len(as.double(reward), count),
                   time = rep_len(time, count)), beside, list(arms = rep(NA_character_, count), g = constraints))
  events$status <- status_after(events)
  events
}

# The status of its query after an event, as a number among status_names.
status_after <- function(events) {
  status <- ifelse(is.na(events$reward), "pending", "observed")
  status[events$kind == event_kind[["withdraw"]]] <- "withdrawn"
  status[events$kind == event_kind[["fail"]]] <- "failed"
  match(status, status_names)
}

# The status of all queries after some events.
script_status <- function(count, events) {
  status <- rep(1L, count)
  reported <- events$kind %in% recording
  status[events$id[reported]] <- status_after(events)[reported]
  status
}

script_row <- function(bandit, choice, contexts) {
  config <- bandit$config
  seen <- if (has_posterior(bandit)) model_posterior(models_of(bandit)[[or_else(choice$model, 1)]], choice$point,
                                                    context_row(config, contexts))
          else list(mean = NA_real_, sd = NA_real_)
  kappa <- or_else(choice$kappa, rep(NA_real_, constraint_count(config)))
  new_rows(config, c(points_in_log(config, choice$point, contexts),
                     list(action = match(or_else(choice$action, "policy"), action_names), segment = 1L,
                          mean = seen$mean, sd = seen$sd, width = or_else(choice$width, NA_real_), status = 1L,
                          kappa = matrix(as.double(kappa), 1), phase = match(choice$phase, phase_names(config)))))
}

script_record <- function(bandit, kind, id, reward, constraints, time, beside, reason = NULL) {
  amends <- rule_of(bandit)$amends
  if (kind == "amend" && !is.null(amends)) stop_state("Cannot correct a reward: ", amends, ".", argument = "id")
  events <- with_text(bandit, script_events(bandit, kind, id, reward, constraints, time, beside), reason)
  script_commit(bandit, NULL, events, stale = kind == "amend",
               fields = c(noted_fields(bandit), if (!is.null(reason)) list(reasons = reasons_with(bandit, id, reason))))
}

# `points`: in the format of find_points().
script_give <- function(bandit, points, contexts, reward, constraints, time, beside) {
  script_change(bandit, function(draft) for (k in seq_along(reward)) {
    rebuild(draft)
    choice <- list(point = subset_points(points, k), action = "given", phase = "given")
    script_commit(draft, script_row(draft, choice, subset_contexts(contexts, k)),
                 script_events(draft, "given", table_size(draft$queries) + 1L, reward[k],
                               constraints[k, , drop = FALSE], time, lapply(beside, `[`, k)))
  })
  if (!is.null(bandit$.noted)) bandit$notes <- noted_fields(bandit)$notes
}

# The recommended point in the log's format.
script_best <- function(bandit, contexts) {
  point <- by_rule(bandit, rule_of(bandit)$recommend(bandit, context_row(bandit$config, contexts)))
  points_in_log(bandit$config, point, contexts)
}

# Further lines for print().
script_story <- function(bandit) {
  phase <- phases_of(bandit, seq_len(table_size(bandit$queries)))
  count <- as.integer(constraint_count(bandit$config))
  c(if (count > 0) sprintf("  constraints %d", count),
    if (any(phase == "infeasible")) sprintf("  declared   infeasible in round %d", which(phase == "infeasible")[1]),
    if (any(phase == "answer")) sprintf("  stopped    before round %d", which(phase == "answer")[1]))
}

# ---- runs ---------------------------------------------------------------------

# A script's log, which the core does not replay.
check_script_log <- function(bandit) {
  config <- bandit$config
  queries <- table_columns(bandit$queries)
  events <- table_columns(bandit$events)
  n <- length(queries$arm)
  asks <- events$kind %in% event_kind[c("query", "given")]
  if (!all(events$kind %in% event_kind[c("query", "given", names(recording))])) {
    damaged("it has an event of an unknown kind")
  }
  if (!identical(events$id[asks], seq_len(n))) damaged("its queries are not in the order of their ids")
  if (anyNA(events$id) || any(events$id < 1 | events$id > cumsum(asks))) {
    damaged("it has an event about a query that is not there")
  }
  check_log_points(config, queries)
  if (any(!queries$action %in% seq_along(action_names)) || any(!queries$phase %in% seq_along(phase_names(config)))) {
    damaged("it has a query of an unknown kind")
  }
  status <- script_status(n, events)
  if (all(is.na(queries$status))) queries$status <- note_status(bandit, status)
  if (!identical(queries$status, status)) damaged("the status of its queries does not follow from its events")
  rewards <- events$reward[events$kind %in% event_kind[c("reward", "amend")]]
  if (!all(abs(rewards) <= largest_number) || anyNA(rewards)) damaged("it has a reward that is no finite number")
}

# Domain, count, and the settings of 1 + count models, checked. `width` (checked) is NULL if the rule uses none.
gp_script_parts <- function(domain, kernel, noise_var, width, count, mean, constraint_kernels, constraint_noise_var,
                           constraint_width, constraint_mean, least = 1) {
  domain <- as_domain(domain)
  kernel <- as_kernel(kernel)
  noise_var <- check_positive(noise_var, "noise_var")
  count <- check_count(count, "count", lower = least, upper = most_constraints)
  kernels <- each_constraint(constraint_kernels, kernel, count, "bandit_kernel", "constraint_kernels",
                             "kernel_se(), kernel_matern(), ...")
  widths <- if (!is.null(width)) {
    lapply(each_constraint(constraint_width, width, count, "bandit_width", "constraint_width",
                           "width_constant(), ..."), check_script_width, "constraint_width")
  }
  lambda <- if (is.null(constraint_noise_var)) noise_var else constraint_noise_var
  lambda <- check_each(lambda, count, "constraint_noise_var", lower = 0, open_lower = TRUE)
  constraint_mean <- check_each(constraint_mean, count)
  of_g <- lapply(seq_len(count), function(j) {
    list(kernel = kernels[[j]], noise_var = lambda[j], width = widths[[j]], mean = constraint_mean[j])
  })
  of_f <- list(kernel = kernel, noise_var = noise_var, width = width, mean = check_prior_mean(mean, domain))
  list(domain = domain, count = count, models = c(list(of_f), of_g))
}

# The outcomes of models from gp_script_parts(): the objective `reward`, and the constraint columns g1, g2, ... with
# their `roles`, functions such as at_most() with their limits.
outcomes_of_columns <- function(models, roles) {
  columns <- Map(function(role, one) role(kernel = one$kernel, noise_var = one$noise_var, mean = one$mean), roles,
                 models[-1])
  c(list(reward = to_maximize()), stats::setNames(columns, paste0("g", seq_along(columns))))
}

# One object of a class for each of `count` constraints, from NULL (`default`), one object, or a list.
each_constraint <- function(given, default, count, class, arg, hint) {
  if (is.null(given)) given <- default
  if (is.character(given)) given <- as_part(given, class, arg, hint)
  if (inherits(given, class)) return(rep(list(given), count))
  if (!is.list(given) || length(given) != count || !all(vapply(given, inherits, logical(1), class))) {
    stop_argument(arg, describe(given), sprintf("NULL, an object of class %s (made by %s), or a list of %d", class,
                                                hint, as.integer(count)))
  }
  unname(given)
}

# Each script has an entry among the policies, which only its bandits use.
register_script <- function(name, script) {
  assign(name, script, envir = scripts)
  register_part("bandit_policy", name,
                settings = list(width = quote(if (!is.null(width)) check_one_multiplier(width))),
                traits = list(title = script$title, short = script$title, random = !isFALSE(script$random),
                              scripted = TRUE))
}

register_bandit_kind(
  "script",
  rebuild = function(bandit) rebuild_script(bandit),
  begin = function(bandit, useless) as_package_errors(feed_models(bandit), useless),
  facts = function(bandit) script_facts(bandit),
  ask = function(bandit, contexts, time) script_ask(bandit, contexts, time),
  record = function(bandit, ...) script_record(bandit, ...),
  give = function(bandit, ...) script_give(bandit, ...),
  posterior = function(bandit, points, context) script_posteriors(bandit, points, context),
  best = function(bandit, contexts) script_best(bandit, contexts),
  check_log = function(bandit) check_script_log(bandit), story = function(bandit) script_story(bandit)
)
