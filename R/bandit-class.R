# The reference classes of bandits and their methods. Layer: bandit.

# `$` takes microseconds for a reference class and almost no time for an environment. Methods therefore work
# on the object's environment, which holds the same fields and encloses the methods.
own_fields <- function() parent.env(parent.frame())

#' @concept batch of suggestions
#' @concept batch evaluation
#' @rdname GPBandit
#' @exportClass GPBandit
GPBandit <- setRefClass("GPBandit",
  # Fields of a declared class would be functions, called at each access.
  fields = list(config = "ANY", queries = "ANY", events = "ANY", refits = "ANY", reasons = "ANY", handle = "ANY",
                journal = "ANY", notes = "ANY"),
  methods = list(
    suggest = function(n = 1, context = NULL, time = NULL, arms = NULL, fixed = NULL, shared = NULL, ...) {
      "Chooses the next `n` points; returns one row per query."
      bandit_suggest(bandit = own_fields(), n, context, time, arms, fixed, shared, ...)
    },
    observe = function(id, reward, constraints = NULL, time = NULL, noise_var = NULL, ...) {
      "Records rewards of queries by their ids."
      bandit_observe(bandit = own_fields(), id, reward, constraints, time, noise_var, ...)
      invisible(.self)
    },
    add = function(x = NULL, arm = NULL, reward, constraints = NULL, context = NULL, time = NULL,
                   noise_var = NULL, ...) {
      "Adds data that the bandit did not suggest. Without `reward`: pending."
      bandit_add(bandit = own_fields(), x, arm, reward, constraints, context, time, noise_var, ...)
      invisible(.self)
    },
    add_arms = function(x, mean = NULL, ...) {
      "Adds arms to a finite domain."
      bandit_add_arms(bandit = own_fields(), x, mean, ...)
      invisible(.self)
    },
    amend = function(id, reward, ...) {
      "Replaces the reward of a query; further arguments are those of observe()."
      bandit_amend(bandit = own_fields(), id, reward, ...)
      invisible(.self)
    },
    rank = function(ids, ...) {
      "Records an order of queries, the best first."
      bandit_rank(bandit = own_fields(), ids, ...)
      invisible(.self)
    },
    withdraw = function(id, outcome = NULL, reason = NULL, ...) {
      "Ends pending queries without a reward; `outcome`: only these outcomes."
      bandit_withdraw(bandit = own_fields(), id, FALSE, outcome, reason, ...)
      invisible(.self)
    },
    fail = function(id, reason = NULL, ...) {
      "Ends pending queries whose evaluation failed."
      bandit_withdraw(bandit = own_fields(), id, TRUE, reason = reason, ...)
      invisible(.self)
    },
    posterior = function(x = NULL, context = NULL, arm = NULL, ...) {
      "Returns posterior mean and sd."
      bandit_posterior(bandit = looked_at(own_fields()), x, context, arm, ...)
    },
    draw = function(n = 1, context = NULL, ...) {
      "Returns joint draws over all arms."
      bandit_draw(bandit = looked_at(own_fields()), n, context, ...)
    },
    certificate = function(rule = NULL, context = NULL, ...) {
      "Returns a bound on the regret, with its assumptions."
      bandit_certificate(bandit = looked_at(own_fields()), rule, context, ...)
    },
    expected_improvement = function(n = 1, at_least = 0, context = NULL, ...) {
      "Returns what the next `n` experiments are expected to add."
      bandit_expected_improvement(bandit = looked_at(own_fields()), n, at_least, context, ...)
    },
    domain = function() {
      "Returns the domain, such as a search space."
      looked_at(own_fields())$config$domain
    },
    levels = function(context = NULL, ...) {
      "Returns the labels of level-set estimation."
      bandit_levels(bandit = own_fields(), context, ...)
    },
    safe = function(context = NULL, ...) {
      "Returns the safe points."
      bandit_safe(bandit = own_fields(), context, ...)
    },
    best = function(context = NULL, feasible = 0.95, weights = NULL, fixed = NULL, ...) {
      "Returns the recommended point; limits must hold with probability `feasible`."
      bandit_best(bandit = looked_at(own_fields()), context, feasible, weights, fixed, ...)
    },
    front = function(context = NULL, feasible = 0.5, ...) {
      "Returns the Pareto front."
      asked_front(bandit = looked_at(own_fields()), context, feasible, ...)
    },
    history = function(draws = NULL) {
      "Returns one row per query."
      with_propensity(bandit_history(own_fields()), own_fields(), draws)
    },
    propensity = function(context = NULL, draws = 1000, arms = NULL, ...) {
      "Returns the probability of each arm at the next choice."
      bandit_propensity(bandit = looked_at(own_fields()), context, draws, arms, ...)
    },
    information_gain = function() {
      "Returns the information gain in nats."
      bandit_facts(looked_at(own_fields()))$log_det / 2
    },
    catch_up = function() {
      "Adds the events of other processes (in a store)."
      bandit_catch_up(own_fields())
      invisible(.self)
    },
    renew = function(token) {
      "Renews leases of queries (in a store); returns their number."
      bandit_renew(bandit = own_fields(), token)
    },
    compact = function(keep = Inf) {
      "Replaces old events by a checkpoint."
      invisible(bandit_compact(bandit = own_fields(), keep))
    },
    reset = function() {
      "Deletes every event."
      bandit_reset(own_fields())
      invisible(.self)
    },
    copy = function(shallow = FALSE) {
      "Returns an independent copy."
      bandit_copy(.self)
    },
    show = function() {
      "Prints."
      print_bandit(looked_at(own_fields()))
    }
  )
)

# Ten times as fast as the method of all reference classes, which finds fields and methods in R code.
#' @rdname GPBandit
#' @usage NULL
#' @aliases $,GPBandit-method [[,GPBandit-method
#' @exportMethod $
setMethod("$", "GPBandit", function(x, name) {
  found <- cpp_member(x, name)
  if (is.null(found)) member_of(x, name) else found
})

# (The `[[` of environments would return unchecked values from a file.)
setMethod("[[", "GPBandit", function(x, i, j, ...) {
  if (!is_text(i) || length(i) != 1) stop_argument("i", describe(i), "the name of a method")
  member_of(x, i)
})

member_of <- function(x, name) {
  frame <- attr(x, ".xData")
  if (!cpp_is_trusted(frame)) sanitise(x)
  found <- frame[[name]]
  # The inherited method reads the unevaluated name; it also fetches methods on their first use.
  if (!is.null(found)) return(found)
  if (!exists(name, envir = frame, inherits = FALSE) &&
      !exists(name, envir = methods::getClass(class(x))@refMethods, inherits = FALSE)) {
    # Other tools read names with a dot from any environment: R6's deep clone reads `.__enclos_env__`.
    if (startsWith(name, ".")) return(NULL)
    stop_no_method(name)
  }
  do.call(methods::selectMethod("$", "envRefClass"), list(x, as.name(name)))
}

# R's own method that makes objects of reference classes has no byte code. Compiling it takes 0.1 s of a session's
# second bandit, and R's compiler drops a time limit that is reached meanwhile. So the class has a copy, which is
# compiled when the package is installed.
methods::setMethod("initialize", "GPBandit", local({
  inherited <- methods::getMethod("initialize", "envRefClass")@.Data
  eval(call("function", as.pairlist(formals(inherited)), body(inherited)), envir = asNamespace("methods"))
}))

# The methods for users: those that this class itself defines.
bandit_methods <- function() {
  own <- as.list(GPBandit$def@refMethods)
  sort(names(Filter(function(f) inherits(f, "refMethodDef") && identical(f@refClassName, "GPBandit"), own)))
}

# Methods of other tools' objects, and functions that are no methods here: what to use instead.
methods_of_others <- c(
  ask = "`$suggest()`", get_next_trial = "`$suggest()`", propose = "`$suggest()`", recommend = "`$suggest()`",
  tell = "`$observe()`", update = "`$observe()`", complete_trial = "`$observe()`", register = "`$observe()`",
  predict = "`$posterior()`", get_best = "`$best()`", archive = "`$history()`", data = "`$history()`",
  plot = "`plot()` of the bandit", summary = "`summary()` of the bandit", print = "`print()` of the bandit",
  save = "`saveRDS()` of the bandit"
)

method_remedy <- function(name, known) {
  if (name %in% names(methods_of_others)) return(paste0(" Use ", methods_of_others[[name]], "."))
  near <- known[utils::adist(name, known, ignore.case = TRUE) <= 2]
  if (length(near)) return(sprintf(" Did you mean `$%s()`?", near[1]))
  paste0(" Its methods are ", paste0("`$", known, "()`", collapse = ", "), ".")
}

stop_no_method <- function(name) {
  stop_gpbandits("argument", "A bandit has no method `", name, "`.", method_remedy(name, bandit_methods()),
                 argument = name)
}

#' @rawNamespace S3method(utils::.DollarNames, GPBandit)
#' @noRd
.DollarNames.GPBandit <- function(x, pattern = "") grep(pattern, bandit_methods(), value = TRUE)

# An object of the class from its settings and its log. `memory`: see R/bandit-script.R; `reasons` and `notes`:
# see R/bandit-log.R.
new_bandit <- function(config, queries = new_table(query_columns(config)), events = new_table(event_columns()),
                       refits = list(), memory = first_memory(config), reasons = NULL, notes = NULL) {
  fields <- list(config = config, queries = queries, events = events, refits = refits, reasons = reasons, notes = notes,
                 handle = NULL, journal = NULL)
  generator <- if (is.null(config$rule)) GPBandit else ScriptedBandit
  if (!is.null(config$rule)) fields$memory <- memory
  without_definition(do.call(generator$new, fields), generator)
}

first_memory <- function(config) if (!is.null(config$rule)) script_of(config$rule)$state(config)

# Every object of a reference class holds the class's definition, 0.9 MB in a file. Here an active binding finds it.
without_definition <- function(object, generator) {
  frame <- as.environment(object)
  rm(".refClassDef", envir = frame)
  define(frame, generator$className)
  cpp_mark_own(frame)
  object
}

define <- function(frame, class) makeActiveBinding(".refClassDef", definition_finders[[class]], frame)

definition_finders <- list(
  GPBandit = function() methods::getClass("GPBandit"),
  ScriptedBandit = function() methods::getClass("ScriptedBandit")
)

# ---- objects from outside -----------------------------------------------------------

# A file or another process supplies an object's whole environment: fields, but also methods, which anybody may have
# replaced. Only fields with plain values are kept; everything else comes from the class. (The contents of the fields
# are checked when the log is replayed, see rebuild().)
sanitise <- function(bandit) {
  frame <- attr(bandit, ".xData")
  if (!isS4(bandit) || !is.environment(frame)) damaged("it has no environment")
  if (environmentIsLocked(frame)) damaged("its environment is locked")
  class <- as.character(class(bandit))
  if (!class %in% names(definition_finders)) return(invisible(bandit))   # a user's class
  # (Objects of earlier formats have no such fields.)
  for (later in c("reasons", "notes")) if (!exists(later, envir = frame, inherits = FALSE)) assign(later, NULL, frame)
  kept <- c(names(methods::getClass(class)@fieldClasses), intersect(".said", ls(frame, all.names = TRUE)))
  check_plain(frame, kept)
  for (table in mget(c("queries", "events"), envir = frame)) if (is.environment(table)) check_plain(table)
  rm(list = setdiff(ls(frame, all.names = TRUE), kept), envir = frame)
  parent.env(frame) <- topenv()
  frame$.self <- bandit
  lockBinding(".self", frame)
  define(frame, class)
  frame$handle <- NULL
  leave_journal(frame)
  cpp_mark_own(frame)
  invisible(bandit)
}

check_plain <- function(frame, names = ls(frame, all.names = TRUE)) {
  invalid <- cpp_invalid_in_frame(frame, names)
  if (nzchar(invalid)) damaged(invalid)
}

# The environment of a bandit that a user supplies.
frame_of <- function(bandit) {
  if (is.environment(bandit) && !isS4(bandit)) return(bandit)
  if (!cpp_is_trusted(attr(bandit, ".xData"))) sanitise(bandit)
  as.environment(bandit)
}

is_bandit <- function(x) isS4(x) && inherits(x, "GPBandit") && is.environment(attr(x, ".xData"))

made_as_bandit <- "a bandit (made by gp_bandit(), gp_ucb(), ..., or baseline_constrained(), ...)"

check_bandit <- function(x, arg = deparse(substitute(x)), allowed = made_as_bandit) {
  if (missing(x)) stop_missing(arg, allowed)
  if (!is_bandit(x)) {
    stop_argument(arg, if (inherits(x, "GPBandit")) "an invalid object of this class" else describe(x), allowed)
  }
  x
}

#' @exportClass ScriptedBandit
ScriptedBandit <- setRefClass("ScriptedBandit", contains = "GPBandit", fields = list(memory = "ANY"))
