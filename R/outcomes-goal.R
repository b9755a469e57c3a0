# Goals that are formulas of outcomes and inputs: their text, and the program that the core runs. Layer: model.

#' Optimise a formula of outcomes and inputs
#'
#' With `goal = ~ price * buys` the search optimises a known function of what is measured and what is chosen (composite
#' Bayesian optimisation).
#'
#' `goal` is an argument of [auto_bandit()], [maximize_bandit()], [minimize_bandit()] and [gp_bandit()]. Each outcome
#' has its own Gaussian process. This uses more of each result than a model of the goal's value. For example, a distance
#' from a target has a corner that a Gaussian process cannot represent.
#'
#' Examples of goals are
#' * `~ price * buys`, where `price` is an input and `buys` is measured;
#' * `~ yield - 2 * catalyst`: a yield less the cost of an input;
#' * `~ -abs(thickness - 5)`: a target in the middle;
#' * `~ pmin(1, yield / 90) * pmin(1, 2 / impurity)`: desirabilities as a product;
#' * `~ -((y1 - 0.3)^2 + (y2 - 0.7)^2 + (y3 - 0.9)^2)`: a curve that is to be matched.
#'
#' @section The formula:
#' * It may use arithmetic, comparisons, `&`, `|`, `!`, `abs()`, `sqrt()`, `exp()`, `log()`, `log2()`, `log10()`,
#'   `sin()`, `cos()`, `round()`, `floor()`, `ceiling()`, `pmin()`, `pmax()`, `xor()` and `ifelse()`. It is data, not
#'   code: journals, stores, JSON and the web page need no `trust`.
#' * Inputs and contexts are in their own units. Levels are compared: `ifelse(solvent == "DMF", 3, 0)`. A named vector
#'   of the calling environment has a value for each level: `cost[solvent]`. Levels that are
#'   numbers can be computed with. Inputs with a condition (`when`) cannot be used.
#' * Without `outcomes`, every other name is an outcome. With `outcomes = list(buys = NULL, tox = at_most(2))` its names
#'   are the outcomes, and further names are taken from the calling environment at once.
#' * An element of `outcomes` is `NULL` (a number), [rewards_binary()], [rewards_counts()], [tracked()] with settings of
#'   its model, or a limit. `limits` adds limits.
#' * `direction` refers to the goal.
#' @section Results:
#' Results are reported by the outcomes' names, as on the page [outcomes]. The goal is in its own units everywhere:
#' `goal` in `$history()` and in `$history` of a search; `goal_mean` and `goal_sd` in `$posterior()`, `$best()` and
#' `predict()`; the first element of `value` and `sd` of [maximize_bandit()]. Plots, `print()` and the page show it, and
#' `$expected_improvement()` is about it.
#' @section Method:
#' Let \eqn{g(y, x)} be the goal, and \eqn{y} the expected outcomes at \eqn{x} (of yes or no: the probability). The
#' policy maximises the logarithm of
#' \deqn{E\,(g(y, x) - g^+)_+,}{E max(g(y, x) - g+, 0),}
#' with \eqn{g^+}{g+} the largest expected goal at the evaluated points (Astudillo and Frazier 2019). The expectation is
#' the mean over 64 draws of all outcomes by a Latin hypercube sample of normals. The same draws at all points make it a
#' smooth function, which is maximised by its gradients. The corner at 0 is smoothed over 2% of the goal's spread (Ament
#' et al. 2023). With limits their log probability is added. Outcomes are scaled without a power transform and without
#' clipping, unless `tracked(transform = )` asks for it.
#'
#' On three problems of Astudillo and Frazier the goal found better points than a model of its value in all paired
#' searches; regrets were smaller by factors of thousands (`bench/results/goals.md` in the sources).
#' @section Errors: Only [policy_ei()] (with `incumbent = "mean"`) and [policy_uniform()] support a goal. An outcome in
#'   a goal cannot be an objective.
#' @section Guarantee: None.
#' @references Astudillo and Frazier (2019), Bayesian optimization of composite functions, ICML
#'   <https://arxiv.org/abs/1906.01537>; Ament, Daulton, Eriksson, Balandat and Bakshy (2023)
#'   <https://arxiv.org/abs/2310.20708>.
#' @seealso [outcomes], [expected-improvement].
#' @concept composite Bayesian optimization
#' @concept desirability
#' @concept target value
#' @concept calibration of simulators
#' @concept curve matching
#' @concept profit
#' @examples
#' set.seed(1)
#' b <- auto_bandit(list(price = c(5, 20)), goal = ~ price * buys,
#'                  outcomes = list(buys = rewards_binary()))
#' for (k in 1:8) {
#'   q <- b$suggest()
#'   b$observe(q$id, c(buys = rbinom(1, 50, plogis(3 - 0.3 * q$price))), size = 50)
#' }
#' b$best()
#' head(b$history()[c("price", "buys", "goal")])
#' @name goals
NULL

# A goal is plain data: the text of an expression with the functions of condition_functions. The core runs it as a
# program for a stack, with the outcomes in their own units as the first variables and the kernel's inputs after them.

# In the order of Formula::Op in src/core/scores/formula.h, with the number of values that each takes.
formula_operations <- c("+" = 2, "-" = 2, "*" = 2, "/" = 2, "^" = 2, "negate" = 1, "abs" = 1, "sqrt" = 1, "exp" = 1,
                        "log" = 1, "log2" = 1, "log10" = 1, "sin" = 1, "cos" = 1, "round" = 1, "floor" = 1,
                        "ceiling" = 1, "pmin" = 2, "pmax" = 2, "ifelse" = 3, "==" = 2, "!=" = 2, "<" = 2, "<=" = 2,
                        ">" = 2, ">=" = 2, "&" = 2, "|" = 2, "!" = 1, "%%" = 2, "%/%" = 2, "xor" = 2)

goal_column <- "goal"

allowed_goal <- paste("a one-sided formula of outcomes and inputs, such as ~ price * buys, with arithmetic,",
                      "comparisons, abs, sqrt, exp, log, sin, cos, round, pmin, pmax and ifelse")

# The goal in the settings and the outcomes of its formula. `inputs`: names that are no outcomes.
goal_from_formula <- function(goal, outcomes, direction, inputs) {
  parts <- if (inherits(goal, "formula") && length(goal) == 2) condition_parts(goal, "goal")
           else stop_argument("goal", describe(goal), allowed_goal)
  if (lacks_argument(parts$expression)) {
    stop_argument("goal", sprintf("%s, with an empty argument", expression_text(parts$expression, NULL)), allowed_goal)
  }
  used <- names_in_goal(parts$expression)
  named <- if (is.null(outcomes)) setdiff(used, inputs) else names(outcomes)
  if (!is.null(outcomes) && (!is.list(outcomes) || is.object(outcomes) || !are_names(named))) {
    stop_argument("outcomes", describe(outcomes), "a named list with an element for each outcome, NULL for a number")
  }
  if (!any(named %in% used)) {
    stop_argument("goal", sprintf("%s, which has no outcome", expression_text(parts$expression, NULL)), allowed_goal)
  }
  check_goal_calls(parts$expression)
  closed <- closed_expression(parts$expression, or_else(parts$home, emptyenv()), c(named, inputs), "goal")
  roles <- lapply(stats::setNames(nm = named), function(name) outcome_of_goal(outcomes[[name]], name))
  list(goal = list(text = expression_text(closed), direction = check_choice(direction, c("maximize", "minimize"),
                                                                            "direction")),
       outcomes = roles)
}

# Has a call an empty argument, as in f(x, )?
lacks_argument <- function(expression) {
  is.call(expression) && any(vapply(seq_along(expression), function(k) {
    identical(expression[[k]], quote(expr = )) || lacks_argument(expression[[k]])
  }, NA))
}

# (In `cost[solvent]`, `cost` is a vector of the calling environment.)
names_in_goal <- function(expression) {
  if (!is.call(expression)) return(all.vars(expression))
  sides <- as.list(expression)[-1]
  if (as.character(expression[[1]])[1] %in% c("[", "[[")) sides <- sides[-1]
  unique(unlist(lapply(sides, names_in_goal)))
}

outcome_of_goal <- function(given, name) {
  if (is.null(given)) return(as_part("tracked", "bandit_outcome"))
  if (inherits(given, "bandit_rewards")) return(tracked(rewards = given))
  role <- as_part(given, "bandit_outcome", sprintf("outcomes$%s", name),
                  hint = "NULL, rewards_binary(), tracked(), ...")
  if (!trait(role, "objective")) return(role)
  stop_argument(sprintf("outcomes$%s", name), "an objective", "NULL or a limit, because `goal` is what is optimised")
}

check_goal_calls <- function(expression) {
  if (!is.call(expression)) return(invisible())
  called <- if (is.symbol(expression[[1]])) as.character(expression[[1]]) else "an anonymous function"
  if (!called %in% c(names(formula_operations), "(", "%in%", "c", "&&", "||", "[", "[[")) {
    stop_argument("goal", sprintf("a formula that calls %s", called), allowed_goal)
  }
  for (part in as.list(expression)[-1]) check_goal_calls(part)
}

# Checks a goal from the settings, possibly from a file.
check_goal <- function(goal, config) {
  if (!is.list(goal) || !setequal(names(goal), c("text", "direction"))) {
    stop_argument("goal", describe(goal), allowed_goal)
  }
  check_choice(goal$direction, c("maximize", "minimize"), "direction")
  expression <- condition_parts(goal$text, "goal")$expression
  check_goal_calls(expression)
  closed_expression(expression, emptyenv(), c(outcome_names(config), config$domain$names, config$context_names), "goal")
  if (goal_column %in% c(outcome_names(config), config$domain$names, config$context_names)) {
    stop_argument("goal", "a formula, with an outcome or input named \"goal\"",
                  "other names: this is the formula's column")
  }
  goal_program(config, goal)
  goal
}

goal_text <- function(goal) sprintf("%s %s", shown_conditions(goal$text),
                                     if (goal$direction == "minimize") "minimised" else "maximised")

goal_sign <- function(goal) if (goal$direction == "minimize") -1 else 1

# ---- the program -----------------------------------------------------------------------------------------------------

# `op`, `value`: the steps; `variables`: the number of variables.
goal_program <- function(config, goal = config$goal) {
  steps <- formula_steps(str2lang(goal$text), config)
  inputs <- length(input_names(config)) + has_numbers(config$domain)
  list(op = steps[, "op"], value = steps[, "value"], variables = outcome_count(config) + inputs)
}

one_step <- function(op, value = 0) {
  code <- match(op, c("constant", "variable", names(formula_operations))) - 1
  cbind(op = code, value = as.double(value))
}

formula_steps <- function(expression, config) {
  if (is.symbol(expression)) return(variable_steps(as.character(expression), config))
  if (!is.call(expression)) {
    if (length(expression) == 1 && (is.numeric(expression) || is.logical(expression)) && !is.na(expression)) {
      return(one_step("constant", expression))
    }
    stop_argument("goal", sprintf("a formula with %s", describe(expression)), "numbers, and levels in comparisons")
  }
  by <- as.character(expression[[1]])
  sides <- as.list(expression)[-1]
  of <- function(side) formula_steps(side, config)
  if (by == "(") return(of(sides[[1]]))
  if (by == "[") return(looked_up_steps(sides, config))
  if (by %in% c("==", "!=", "%in%")) {
    compared <- compared_level_steps(by, sides, config)
    if (!is.null(compared)) return(compared)
  }
  if (by %in% c("-", "+") && length(sides) == 1) {
    return(if (by == "-") rbind(of(sides[[1]]), one_step("negate")) else of(sides[[1]]))
  }
  if (by == "log" && length(sides) == 2) return(of(call("/", call("log", sides[[1]]), call("log", sides[[2]]))))
  if (by %in% c("pmin", "pmax") && length(sides) > 2) {
    return(of(Reduce(function(a, b) call(by, a, b), sides)))
  }
  known <- by %in% names(formula_operations) && length(sides) == formula_operations[[by]]
  if (!known || any(nzchar(or_else(names(sides), "")))) {
    stop_argument("goal", sprintf("a formula with %s", expression_text(expression, NULL)), allowed_goal)
  }
  rbind(do.call(rbind, lapply(sides, of)), one_step(by))
}

# Where an input or context is: the domain that describes it (NULL: a plain number), and its variable; or NULL.
place_of_input <- function(name, config) {
  first <- outcome_count(config) - 1
  j <- match(name, config$context_names)
  if (!is.na(j)) {
    number <- first + length(model_names(config$domain)) + j
    return(list(domain = config$context_space, raw = one_step("variable", number)))
  }
  if (!name %in% config$domain$names) return(NULL)
  list(domain = config$domain, raw = one_step("variable", first + match(name, model_names(config$domain))))
}

levels_of_place <- function(place, name) {
  if (!is.null(place$domain)) input_levels(place$domain, match(name, place$domain$names))
}

# An outcome, or an input in the user's units.
variable_steps <- function(name, config) {
  k <- match(name, outcome_names(config))
  if (!is.na(k)) return(one_step("variable", k - 1))
  place <- place_of_input(name, config)
  domain <- place$domain
  i <- match(name, domain$names)
  if (i %in% domain$conditional) {
    stop_argument("goal", sprintf("a formula with %s, an input that does not always exist", dQuote(name, FALSE)),
                  "inputs without `when`")
  }
  if (!is.null(domain) && is_log_coordinate(domain, i)) return(rbind(place$raw, one_step("exp")))
  levels <- levels_of_place(place, name)
  if (is.null(levels) || is_logical_input(domain, name)) return(place$raw)
  numbers <- suppressWarnings(as.double(levels))
  if (anyNA(numbers)) {
    stop_argument("goal", sprintf("a formula that computes with %s, an input with levels", dQuote(name, FALSE)),
                  sprintf("a comparison, such as ifelse(%s == \"%s\", 1, 0)", name, levels[1]))
  }
  level_steps(place$raw, seq_along(levels), numbers)
}

# The sum of values over the codes of an input.
level_steps <- function(raw, codes, values) {
  each <- Map(function(code, value) {
    rbind(raw, one_step("constant", code), one_step("=="), one_step("constant", value), one_step("*"))
  }, codes, values)
  Reduce(function(a, b) rbind(a, b, one_step("+")), each)
}

# `cost[solvent]`: a value for each level, see closed_lookup().
looked_up_steps <- function(sides, config) {
  name <- as.character(sides[[2]])
  place <- place_of_input(name, config)
  levels <- as.character(levels_of_place(place, name))
  values <- unlist(as.list(sides[[1]])[-1])
  lacking <- setdiff(levels, names(values))
  if (length(levels) == 0 || length(lacking)) {
    stop_argument("goal", sprintf("a formula with values by %s", name),
                  if (length(levels) == 0) "values by an input with levels"
                  else sprintf("a vector with a value for each level: %s is missing", quoted(lacking)))
  }
  level_steps(place$raw, seq_along(levels) - is_logical_input(place$domain, name), values[levels])
}

# A comparison of an input that has levels with some of them; NULL for other comparisons.
compared_level_steps <- function(by, sides, config) {
  levels_of <- function(side) {
    if (is.symbol(side)) levels_of_place(place_of_input(as.character(side), config), as.character(side))
  }
  at <- which(!vapply(lapply(sides, levels_of), is.null, NA))
  if (length(at) != 1 || by == "%in%" && at != 1) {
    if (by != "%in%") return(NULL)
    stop_argument("goal", expression_text(as.call(c(as.name(by), sides)), NULL), "%in% for an input with levels")
  }
  name <- as.character(sides[[at]])
  wanted <- as.character(eval(sides[[3 - at]], baseenv()))
  levels <- as.character(levels_of(sides[[at]]))
  if (!all(wanted %in% levels)) {
    stop_argument("goal", sprintf("a comparison of %s with %s", name, quoted(setdiff(wanted, levels))),
                  paste("one of its levels:", quoted(levels)))
  }
  place <- place_of_input(name, config)
  steps <- level_steps(place$raw, match(wanted, levels) - is_logical_input(place$domain, name), rep(1, length(wanted)))
  if (by == "!=") rbind(steps, one_step("!")) else steps
}

is_logical_input <- function(domain, name) identical(domain$params[[name]]$type, "logical")

# Does the kernel have the logarithm of this input?
is_log_coordinate <- function(domain, i) {
  name <- domain$names[i]
  box <- or_else(domain$box, domain)
  isTRUE(box$log[match(name, box$names)])
}

# ---- values ----------------------------------------------------------------------------------------------------------

# The goal at points: values of the outcomes (a matrix, in their units), the kernel's inputs (a row each).
goal_values <- function(config, values, inputs) {
  program <- goal_program(config)
  found <- cpp_formula(program$op, program$value, unname(cbind(values, inputs)))$value
  found[rowSums(is.na(values)) > 0 | is.nan(found)] <- NA_real_
  found
}

goal_draws <- 256L

# Mean and sd of the goal at points, from means and sds of the outcomes in the model's units (matrices).
goal_moments <- function(config, scaled, inputs) {
  count <- nrow(scaled$mean)
  normal <- fixed_normals(ncol(scaled$mean), goal_draws)
  drawn <- lapply(seq_len(ncol(normal)), function(k) {
    expected_outcomes(outcome_config(config, k), scaled$mean[, k] + outer(scaled$sd[, k], normal[, k]))
  })
  values <- vapply(drawn, as.double, numeric(count * goal_draws))
  at <- rep(seq_len(count), goal_draws)
  goal <- matrix(goal_values(config, matrix(values, length(at)), inputs[at, , drop = FALSE]), count)
  mean <- rowMeans(goal)
  data.frame(mean = mean, sd = sqrt(rowMeans((goal - mean)^2)))
}

# The outcome in its own units for values of its model. `config`: outcome_config().
expected_outcomes <- function(config, f) {
  map <- output_map(config)
  if (has_response(config)) as_rewards(f, config) else if (is.null(map)) f else cpp_map_outputs(map, f, TRUE)
}

# A Latin hypercube sample of standard normal numbers, always the same: a column for each outcome.
fixed_normals <- function(columns, draws) {
  values <- stats::qnorm((seq_len(draws) - 0.5) / draws)
  values <- values / sqrt(mean(values^2))
  preserve_rng({
    set_stream_seed(1)
    vapply(seq_len(columns), function(k) sample(values), numeric(draws))
  })
}
