# `$` of a reference class takes microseconds where that of an environment takes none: what is
# called in every round works on the object's environment, which holds the same fields.

#' @rdname gp_bandit
#' @export GPBandit
#' @exportClass GPBandit
GPBandit <- setRefClass("GPBandit",
  fields = list(config = "list", queries = "environment", events = "environment",
                refits = "list", handle = "ANY", journal = "ANY"),
  methods = list(
    suggest = function(n = 1, context = NULL, time = NULL, ...) {
      bandit_suggest(as.environment(.self), n, context, time, ...)
    },
    observe = function(id, reward, constraints = NULL, time = NULL, noise_var = NULL, ...) {
      bandit_observe(as.environment(.self), id, reward, constraints, time, noise_var, ...)
      invisible(.self)
    },
    add = function(x = NULL, arm = NULL, reward, constraints = NULL, context = NULL, time = NULL,
                   noise_var = NULL, ...) {
      bandit_add(as.environment(.self), x, arm, reward, constraints, context, time, noise_var, ...)
      invisible(.self)
    },
    amend = function(id, reward, ...) {
      bandit_amend(as.environment(.self), id, reward, ...)
      invisible(.self)
    },
    withdraw = function(id, ...) {
      bandit_withdraw(as.environment(.self), id, FALSE, ...)
      invisible(.self)
    },
    fail = function(id, ...) {
      bandit_withdraw(as.environment(.self), id, TRUE, ...)
      invisible(.self)
    },
    posterior = function(x = NULL, context = NULL, arm = NULL, ...) bandit_posterior(.self, x, context, arm, ...),
    draw = function(n = 1, context = NULL, ...) bandit_draw(.self, n, context, ...),
    best = function(context = NULL, ...) bandit_best(.self, context, ...),
    history = function() bandit_history(.self),
    information_gain = function() bandit_facts(.self)$log_det / 2,
    reset = function() bandit_reset(.self),
    copy = function(shallow = FALSE) bandit_copy(.self),
    show = function() print_bandit(.self)
  )
)
