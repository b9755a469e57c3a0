# Search spaces of reals, integers, factors and logicals. Layer: domain.

#' How search spaces are converted, modelled, sampled and searched
#'
#' What the model and the policy use of a [search_space()]: conversion, model inputs, sampling, maximisation.
#'
#' @section Spaces of other packages: `search_space(x)` converts a paradox `ParamSet` (mlr3), dials `parameters`
#'   (tidymodels, finalised), or a named list of parameters, ranges and levels. A search space is returned unchanged.
#'   Points are in the units in which they are used.
#'   * `logscale = TRUE` becomes `log = TRUE`, and so does every transformation whose values grow like an exponential
#'     function (`10^x`, `2^x`, logarithmic ranges of dials).
#'   * A linear transformation moves the bounds.
#'   * A transformation of integers becomes an ordered factor of its values.
#'   * Levels that represent numbers or texts, `p_fct(list(s = 1, l = 10))`, become these.
#'   * `depends` of paradox becomes `when`.
#'   * Other transformations are an error: apply them in the objective.
#' @section Inputs of the kernel: The kernel has a column per input, then `<name>.active` (0 or 1) for each conditional
#' one; `dims` may name all of them.
#' * Reals and integers are unchanged (logarithms if `log`).
#' * Ordered factors are ranks, other factors the number of the level, logicals 0 and 1.
#' * Mixture components are unchanged; with `most` there is an indicator `<name>.active` of each.
#' * An input that does not exist is imputed at a fixed default (the middle of its range, the first level), and the
#'   indicator says so. This is the imputation of mlr3mbo and of Levesque et al. (2017), with the indicator of classical
#'   missing-data regression.
#'
#' The default kernel of [maximize_bandit()] is a Matern 5/2 kernel over the numbers times a [kernel_categorical()] over
#' levels, logicals and indicators, with a correlation for each. If the points can be counted, their main effects are
#' added.
#'
#' With `features` of levels, its columns are scaled to 0 and 1. Columns that do not vary are left out, with a message.
#' So is the later one of two columns whose correlation is beyond 0.95. More than 10 columns are standardised and
#' replaced by their first principal components, at most 5, up to 90% of the variance.
#'
#' @section Maximisation of the acquisition function:
#' 1. Up to 64 combinations of levels are all searched, each with a low-discrepancy set of its numbers; if there are
#'    more, such a set covers everything. If there are only numbers of which at most 20,000 points can be made, all of
#'    them are evaluated.
#' 2. Local optimisation starts from the best point, and from the best of each of up to 12 combinations. Two steps
#'    alternate while they improve the value: L-BFGS-B over the numbers, and changes of one level, or of an integer by
#'    one. Constraints enter by a growing penalty, then by a return to the last point that satisfies them.
#'
#' @section Sampling under linear constraints:
#' If the region is a small part of the box, designs, candidates and uniform points are uniform over the region, on the
#' scale of each input. They are drawn by hit-and-run, integers by steps along their lattice. Other constraints are kept
#' by rejection, of points of the region if there are linear constraints, else of points of the box.
#'
#' @section Mixtures and linear equalities: Designs and draws are uniform over the set of mixtures. One component after
#' the other is drawn by inverting its distribution given the earlier ones. With \eqn{u} the lengths of the ranges and
#' \eqn{T} the remaining total, this is a ratio of volumes
#' \deqn{V(u, T) = \sum_A (-1)^{|A|}(T - \sum_A u)_+^{k-1}.}{V(u, T) = sum_A (-1)^|A| (T - sum_A u)_+^(k-1).}
#'
#' Beyond 12 bounded components, and if too many digits cancel, 60 sweeps of Gibbs sampling are used instead. All sets
#' of `most` components are equally probable. Components still add up to `total` with `step` or `digits`; `total` must
#' be a multiple.
#'
#' Local optimisation is by projected gradients (Birgin, Martinez and Raydan 2000), so that faces, where a component is
#' 0, are reached exactly. With `most`, it alternates with dropping, adding or swapping one component.
#'
#' With `log`, an integer \eqn{k} has the range from \eqn{k} to \eqn{k + 1} in designs; without it integers are equally
#' probable.
#'
#' An equality is solved if it has at least two plain reals: inputs that always exist and have no `log`, `step` or
#' `digits`. Each input may be in one equality, and two linear inequalities that imply an equality are one. Designs,
#' suggestions and the recommended point satisfy it up to rounding, given points up to 1e-8 of its largest term.
#' The terms of a linear equality are treated like components of a mixture; draws are uniform over it.
#' @section Numbers of inputs above their lower bounds: At most \eqn{k} of \eqn{n} reals above their lower bounds are
#'   the
#' \eqn{k}-dimensional faces of a box. Each of the \eqn{n \choose k}{choose(n, k)} faces has the same probability, and
#' points are uniform within it. Local optimisation moves within a face, and alternates with dropping, adding or
#' swapping one input. The model has an indicator `<name>.active` of each input. The inputs always exist, have no `log`,
#' and are in no equality and no other such limit; further limits are kept by rejection.
#' @section Errors: These are errors:
#'   * conditions on unknown inputs, in a circle, or with functions that are not allowed;
#'   * comparisons with a level that an input does not have;
#'   * equalities of reals that are not linear, which no search satisfies: write a margin, `abs(a * b - 1) <= 0.01`;
#'   * constraints that no point satisfies (proved for linear ones, else of 65,536 points that are tried);
#'   * points outside the space, which the error names.
#' @source Hit-and-run: Smith (1984). Directions from other walks: Gilks, Roberts and George (1994).
#'   Categories: Qian, Wu and Wu (2008). Conditional inputs: Levesque, Durand, Gagne and Sabourin (2017),
#'   "Bayesian optimization for conditional hyperparameter spaces", IJCNN. Alternating local optimisation and exchanges:
#'   Wan et al. (2021) <https://arxiv.org/abs/2102.07188>.
#' @seealso [search_space()], [kernels].
#' @concept acquisition function
#' @concept hit-and-run sampling
#' @concept mixture design
#' @concept imputation
#' @examples
#' space <- search_space(rate = param_real(1e-4, 1, log = TRUE), layers = param_integer(1, 3),
#'                       kind = param_factor(c("relu", "tanh")))
#' b <- auto_bandit(space)
#' b$suggest(3)
#' b$config$kernel # a kernel of the numbers and one of the factor
#' @name search-space-details
NULL

#' Search spaces: mixed, conditional and constrained inputs
#'
#' `search_space()` lists the inputs of a search: numbers, integers, categories and yes or no, each with its range.
#'
#' * `param_real(20, 90)`: a number from 20 to 90. `log = TRUE` is for ranges over orders of magnitude, `step = 5` for
#'   settings in steps.
#' * `param_integer(1, 12)`: an integer.
#' * `param_factor(c("water", "ethanol"))`: one of these levels; `ordered = TRUE` if they have an order.
#' * `param_logical()`: `TRUE` or `FALSE`.
#' * `where = ~ depth <= 6 | prune`: only points that satisfy this (known constraints). `when = ~ prune`: the input
#'   exists only then.
#' * `param_shares(c("sand", "clay"))`: proportions of a mixture.
#'
#' A search space is a domain like any other, for [auto_bandit()], [maximize_bandit()], [gp_bandit()] and
#' [bandit_problem()]. For the inputs of the kernel and the search methods see [search-space-details].
#'
#' @order 1
#' @section Points: A set of points is a data.frame, one point may be a named list. Columns have their types:
#'   * integer for `param_integer()`, logical for `param_logical()`;
#'   * the levels as they were given (character, factor or numbers) for `param_factor()`;
#'   * `NA` where an input does not exist.
#'
#'   Objectives of [maximize_bandit()] get a named list, vectorised functions of a [bandit_problem()] a data.frame.
#' @section Short form: A list such as `list(x = c(0, 1), rule = c("a", "b"))` can be given for a search space.
#' @section Conditions and constraints: `when` and `where` are one-sided formulas over the inputs' names. They may use
#'   arithmetic, comparisons, `&`, `|`, `!`, `%in%`, `ifelse()`, `pmin()`, `pmax()`, `abs()`, `sqrt()`, `exp()`,
#'   `log()`, `round()` and similar functions. Variables may hold numbers and levels; their values are taken at once.
#'   Factors are compared with their levels as text (ordered ones also by `<`), factors of numbers as numbers.
#'   In `~ temp <= bp[solvent]`, `bp` is a vector of numbers whose names are the levels of the input `solvent`. It is
#'   kept with the condition as data, so stores and the page need no `trust`. Slices and maps are blank where `where`
#'   does not hold.
#'
#'   An input whose `when` is not true does not exist. It is `NA` in comparisons, which are then not true. A constraint
#'   that is `NA` for this reason does not bind.
#' @section Known constraints, limits, long-term constraints: `where` (Ax: `parameter_constraints`; BoTorch:
#'   `inequality_constraints`) is on inputs. For limits of what must be measured see [outcomes], for averages over
#'   rounds [constraints].
#' @section Linear constraints: Linear constraints on reals, integers, logicals and shares are solved by linear
#'   programming: `a + 2 * b <= 1`, `a <= b`, `abs(a - b) <= 0.01`, or `m + n == 12` over integers. With conditional
#'   inputs they are solved for each set of inputs that exist together. An empty region is an error, and is proved to
#'   be empty (without conditional inputs). All other constraints are kept by rejection.
#'   An equality of at least two plain reals, such as `2 * a + b == 1`, is solved, see [search-space-details]. Other
#'   equalities of reals are an error: leave out an input that the others determine, and compute it in the objective.
#'   A sum of reals from 0 on with equal coefficients that equals a number means the same as `param_shares()`.
#'   `(a > 0) + (b > 0) + (c > 0) <= 2` is solved, too.
#' @param ... named parameters: `param_real()`, `param_integer()`, `param_factor()`, `param_logical()`,
#'   `param_shares()`, or a short form: a pair of numbers, levels, `c(TRUE, FALSE)`. Or one unnamed argument: a
#'   `ParamSet` of paradox (mlr3), `parameters` of dials (tidymodels, finalised), a named list, or a search space.
#' @param where known constraints: a one-sided formula, a list of them, or a function of a data.frame of points that
#'   returns a logical for each row. A function can go into a [bandit_store()] only with `trust`. `NULL` (default):
#'   none.
#' @param transformed a flag, for a `ParamSet`: `TRUE` (default) applies transformations; `FALSE` keeps the set's own
#'   scale and ignores them, as its optimisers do. (Inputs called `where` or `transformed` have to be in a list.)
#' @param lower,upper the range, in the input's units: `lower < upper`. For `param_integer()` integers, which may be
#'   equal. For `param_shares()` one number, or one for each component, from 0 on; 0 and 1 by default.
#' @param log a flag: search on a logarithmic scale (needs `lower > 0`). `FALSE` by default.
#' @param step,digits for settings with limited resolution. Suggested and designed values are multiples of `step`, or
#'   have at most `digits` decimals. `NULL` (default): any number. Give one of them. Given points may have any value.
#' @param unit the unit for labels, prints and the page, such as `"°C"`. `NULL` (default): none.
#' @param levels a character vector, a factor, or numbers: at least one, distinct.
#' @param ordered a flag: are the levels ordered? Then the kernel uses their ranks. `FALSE` by default.
#' @param features a data.frame of numbers that describe the levels: a row for each, in the levels' order, by row names
#'   or by a column of text, as in `read.csv("ligands.csv")`. The default kernel is then [kernel_categorical()] with
#'   them. `NULL` (default): none.
#' @param when the condition under which the input exists: a one-sided formula. `NULL` (default): always.
#' @return `search_space()`: an object of class `bandit_domain`. `param_*()`: of class `bandit_param`.
#' @seealso [search-space-details]; [kernel_categorical()], [box_domain()], [mlr3-integration], [tune_gp_bandit()].
#' @concept known constraint
#' @concept linear constraint
#' @concept learning rate
#' @concept log scale
#' @concept units
#' @concept hyperparameter space
#' @concept mixed-integer
#' @concept categorical inputs
#' @concept conditional parameters
#' @concept hierarchical search space
#' @concept constrained optimization
#' @concept mixture design
#' @examples
#' space <- search_space(lr = param_real(1e-4, 1, log = TRUE), depth = param_integer(1, 12),
#'                       rule = param_factor(c("gini", "information")), prune = param_logical(),
#'                       alpha = param_real(0, 1, when = ~ prune), where = ~ depth <= 6 | prune)
#' set.seed(1)
#' f <- function(p) -(log10(p$lr) + 2)^2 - (p$rule == "gini") + if (p$prune) p$alpha else 0
#' found <- maximize_bandit(f, space, evaluations = 12)
#' found$par
#' blend <- search_space(blend = param_shares(c("sand", "lime", "clay"), most = 2), temp = c(20, 80))
#' gp_bandit(blend, kernel_se(0.4), 0.01, policy_uniform())$suggest(2)
#' search_space(list(rate = param_real(1e-4, 1, log = TRUE), rule = c("gini", "information"),
#'                   prune = c(TRUE, FALSE)))
#' @export
search_space <- function(..., where = NULL, transformed = TRUE) {
  check_formula_code(where, "where")
  if (...length() == 1 && is.null(...names())) return(space_of(..1, where, transformed))
  refuse_transformed(transformed)
  space_of_list(list(...), where)
}

parameters_allowed <- "named parameters: param_real(), param_integer(), param_factor(), param_logical(), param_shares()"

space_of_list <- function(params, where = NULL) {
  if (length(params) == 0) stop_missing("...", parameters_allowed, "`search_space(x = param_real(0, 1))`")
  names <- names(params)
  if (is.null(names) || !all(nzchar(names))) {
    stop_argument("...", "a parameter without a name", parameters_allowed,
                  try = "`search_space(x = param_real(0, 1))`")
  }
  names <- check_input_names(names, length(params), "...")
  search_domain(stats::setNames(lapply(names, function(name) as_param(params[[name]], name)), names), where)
}

# The space from its data: parameters with conditions as text (or formulas), and constraints.
search_domain <- function(params, where = NULL) {
  apart <- with_shares_apart(params)
  check_input_names(names(apart$params), length(apart$params), "...")
  apart <- with_equalities_as_shares(apart, where)
  domain <- parsed_space(apart$params, apart$where, apart$shares)
  check_conditions(domain)
  domain
}

# The same, without a search for points that satisfy its constraints.
#' @export
remade.search_domain <- function(domain) parsed_space(domain$params, domain$where, domain$shares)

parsed_space <- function(params, where, shares = NULL) {
  if (!is.list(params) || length(params) == 0 || !all(vapply(params, inherits, NA, "bandit_param"))) {
    stop_argument("params", describe(params), "a named list of parameters")
  }
  names <- check_input_names(names(params), length(params), "params")
  for (param in params) check_class(param, "bandit_param", "params")
  params <- lapply(stats::setNames(names, names), function(name) with_condition(params[[name]], name, names))
  conditional <- names(Filter(function(param) !is.null(param$when), params))
  check_input_names(c(names, indicator_names(conditional)), length(names) + length(conditional), "...")
  domain <- structure(list(type = "search", names = names, params = params, where = constraint_texts(where, names),
                           box = coded_box(params), conditional = match(conditional, names),
                           categorical = vapply(params, is_categorical, NA, USE.NAMES = FALSE),
                           order = existence_order(params)), class = c("search_domain", "bandit_domain"))
  for (name in conditional) check_condition(params[[name]]$when, params, paste0(name, "$when"))
  if (is.character(domain$where)) for (one in domain$where) check_condition(one, params, "where")
  if (length(shares)) domain$shares <- checked_sets(shares, params)
  mixed_in <- indicator_names(names[share_inputs(domain, limited = TRUE)])
  check_input_names(c(names, indicator_names(conditional), mixed_in),
                    length(names) + length(conditional) + length(mixed_in), "...")
  domain
}

# Sets of shares must be as param_shares() makes them and agree with their inputs; equalities must agree with their
# text.
checked_sets <- function(shares, params) {
  for (set in names(shares)) {
    if (is_scaled(shares[[set]])) {
      is_sum <- is_equality(shares[[set]])
      text <- if (is_sum) shares[[set]]$equality else shares[[set]]$counted
      made <- if (is_text(text)) attempt(if (is_sum) shares_of_equality(str2lang(text), params)
                                         else counted_set(text, params))
      if (!identical(made, shares[[set]])) stop_argument(set, "changed", "as search_space() makes it")
      next
    }
    one <- do.call(param_shares, shares[[set]], quote = TRUE)
    if (!identical(params[one$names], share_params(one))) stop_argument(set, "changed", "as param_shares() makes it")
  }
  shares
}

indicator_names <- function(names) if (length(names)) paste0(names, ".active")

# ---- parameters -----------------------------------------------------------------

# Traits of a type, which register_family() below gives defaults:
#   `continuous`  does it take a continuum of values?
#   `whole`       is it an integer?
#   `named`       does it have levels, whose codes are numbers from `bounds`?
#   `bounds`      the smallest and the largest code.
#   `decoded`     a function from codes to the values that conditions use.
#   `text`        how it is printed.
param_entries <- list(
  real = list(settings = alist(lower = check_number(lower), upper = check_number(upper), log = check_flag(log),
                               when = check_when(when), step = check_step(step, c(lower, upper)),
                               digits = check_digits(digits),
                               unit = if (!is.null(unit)) check_string(unit)),
              together = quote(check_real(lower, upper, log, step, digits)), later = c("step", "digits", "unit"),
              traits = list(continuous = TRUE)),
  integer = list(settings = alist(lower = check_number(lower), upper = check_number(upper), log = check_flag(log),
                                  when = check_when(when), unit = if (!is.null(unit)) check_string(unit)),
                 together = quote(check_integer_sides(lower, upper, log)), later = "unit", traits = list(whole = TRUE)),
  factor = list(settings = alist(levels = check_levels(levels), ordered = check_flag(ordered), when = check_when(when),
                                 features = check_features(features, levels, ordered)), later = "features",
                traits = list(named = TRUE, bounds = function(param) c(1, length(param$levels)),
                              decoded = decoded_levels, text = function(param) {
                                paste(if (param$ordered) "ordered" else "one of",
                                      paste(param$levels, collapse = if (param$ordered) " < " else "/"))
                              })),
  logical = list(settings = alist(when = check_when(when)),
                 traits = list(named = TRUE, bounds = function(param) c(0, 1), text = "TRUE/FALSE",
                               decoded = function(param) function(code) code > 0.5)),
  shares = list(settings = alist(names = check_share_names(names),
                                 total = check_number(total, lower = 0, open_lower = TRUE),
                                 lower = check_share_bounds(lower, names, "lower"),
                                 upper = check_share_bounds(upper, names, "upper"),
                                 most = if (!is.null(most)) as.integer(check_count(most, upper = length(names))),
                                 step = check_step(step, total), digits = check_digits(digits)),
                together = quote(check_stepped_shares(names, total, lower, upper, most, step, digits)),
                later = c("step", "digits"),
                traits = list(text = function(param) {
                  sprintf("shares %s of %g%s", paste(param$names, collapse = ", "), param$total,
                          if (is.null(param$most)) "" else sprintf(", at most %d", param$most))
                })),
  # (Made by param_shares() only.)
  share = list(settings = alist(lower = check_number(lower, lower = 0), upper = check_number(upper, lower = lower)),
               traits = list(continuous = TRUE, text = function(param) {
                 sprintf("a share in [%g, %g]", param$lower, param$upper)
               }))
)

check_when <- function(when) {
  check_formula_code(when, "when")
  if (!is.null(when)) condition_parts(when, "when")
  when
}

#' @rdname search_space
#' @order 2
#' @export
param_real <- function(lower, upper, log = FALSE, when = NULL, step = NULL, digits = NULL, unit = NULL) {
  new_param("real")
}

# (Larger multiples of a step are not exact.)
most_steps <- 2^53

check_step <- function(step, bounds) {
  if (is.null(step)) return(NULL)
  step <- check_number(step, lower = 0, open_lower = TRUE)
  largest <- max(abs(bounds))
  if (largest / step > most_steps) {
    stop_argument("step", format(step), sprintf("at least %.2g, for multiples up to %g", largest / most_steps, largest))
  }
  step
}

check_digits <- function(digits) {
  if (!is.null(digits)) as.integer(check_count(digits, lower = 0, upper = 15))
}

check_real <- function(lower, upper, log, step, digits) {
  check_sides(lower, upper, log)
  unit <- step_of(list(step = step, digits = digits))
  if (!is.null(unit) && diff(step_range(lower, upper, unit)) < 1) {
    stop_argument(if (is.null(step)) "digits" else "step", format(or_else(step, digits)),
                  sprintf("one of which at least two multiples are within [%g, %g]", lower, upper))
  }
}

check_sides <- function(lower, upper, log) {
  if (log && lower <= 0) stop_argument("lower", format(lower), "> 0 if `log` is TRUE")
  if (lower >= upper) stop_argument("lower", format(lower), sprintf("below `upper` (%g)", upper))
  if (is.infinite(upper - lower)) {
    stop_argument("upper", "so far from `lower` that their difference overflows", "less than 1.7e308 above `lower`")
  }
}

#' @rdname search_space
#' @order 3
#' @export
param_integer <- function(lower, upper, log = FALSE, when = NULL, unit = NULL) new_param("integer")

check_integer_sides <- function(lower, upper, log) {
  if (log && lower <= 0) stop_argument("lower", format(lower), "> 0 if `log` is TRUE")
  for (arg in c("lower", "upper")) {
    bound <- get(arg)
    if (bound != round(bound) || abs(bound) > .Machine$integer.max) {
      stop_argument(arg, format(bound), sprintf("an integer of at most %d in size", .Machine$integer.max))
    }
  }
  if (lower > upper) stop_argument("lower", format(lower), sprintf("at most `upper` (%g)", upper))
}

#' @rdname search_space
#' @order 4
#' @export
param_factor <- function(levels, ordered = FALSE, when = NULL, features = NULL) {
  if (!missing(levels) && is.ordered(levels)) ordered <- check_flag(ordered) || TRUE
  new_param("factor")
}

#' @rdname search_space
#' @order 5
#' @export
param_logical <- function(when = NULL) new_param("logical")

# A parameter from any value that a user may give for one.
as_param <- function(x, name) {
  if (inherits(x, "bandit_param")) return(check_class(x, "bandit_param", name))
  if (is.logical(x) && setequal(x, c(TRUE, FALSE))) return(param_logical())
  if (is.factor(x)) return(param_factor(unique(x)))
  if (is.character(x) && is_text(x)) return(param_factor(unique(x)))
  if (is_number(x) && length(x) == 2) {
    return(tryCatch(param_real(x[1], x[2]), gpbandits_error = function(e) {
      stop_argument(name, describe(x), "c(lower, upper), lower < upper")
    }))
  }
  stop_argument(name, describe(x), paste("a parameter: param_real(), param_integer(), param_factor(), param_logical(),",
                                         "c(lower, upper), c(TRUE, FALSE), or levels"))
}

# Does an element of a list represent a parameter?
speaks_of_parameter <- function(x) {
  inherits(x, "bandit_param") || is.character(x) || is.factor(x) || is.logical(x) || (is_number(x) && length(x) == 2)
}

with_condition <- function(param, name, names) {
  if (is.null(param$when)) return(param)
  param["when"] <- list(condition_text(param$when, setdiff(names, name), paste0(name, "$when")))
  param
}

# All inputs as numbers: levels by their codes.
coded_box <- function(params) {
  bound <- function(k) vapply(params, function(param) trait(param, "bounds")[k], 0)
  flags <- function(flag) unname(vapply(params, flag, NA))
  new_box(names(params), bound(1), bound(2),
          integer = flags(function(param) !trait(param, "continuous")),
          log = flags(function(param) isTRUE(param$log)))
}

# ---- methods of the domain's generics -----------------------------------------------

#' @export
model_names.search_domain <- function(domain) {
  c(domain$names, indicator_names(domain$names[c(domain$conditional, share_inputs(domain, limited = TRUE))]))
}

#' @export
is_discrete.search_domain <- function(domain) {
  stepped <- unlist(lapply(unname(domain$shares), function(one) if (is_stepped(one)) one$names))
  all(domain$box$integer | vapply(domain$params, is_stepped, NA) | domain$names %in% stepped)
}

#' @export
input_ranges.search_domain <- function(domain) {
  indicators <- length(domain$conditional) + length(share_inputs(domain, limited = TRUE))
  cbind(input_ranges(domain$box), matrix(rep(0:1, indicators), 2))
}

#' @export
read_inputs.search_domain <- function(domain, x, arg) {
  codes <- read_codes(domain, x, arg)
  check_existence(search_rules(domain), codes, arg)
  cpp_frame(typed_columns(domain, codes))
}

#' @export
inputs_anywhere.search_domain <- function(domain, x, arg) {
  codes <- read_codes(domain, x, arg)
  check_existence(search_rules(domain), codes, arg)
  numbers <- domain$box$log
  bad <- which(rowSums(codes[, numbers, drop = FALSE] <= 0, na.rm = TRUE) > 0)
  if (length(bad)) {
    stop_argument(arg, sprintf("(%s)", typed_text(domain, codes[bad[1], , drop = FALSE])),
                  "numbers > 0, because their logarithms are taken")
  }
  model_of_codes(domain, codes)
}

# Levels must be those of the space, inputs must exist by their conditions, and shares must add up
# (see completed_shares()).
# Points may be beyond the bounds, and violate `where`.
#' @export
points_anywhere.search_domain <- function(domain, x, arm = NULL, arg = "x") {
  check_absent(arm, "arm", "a search space has no arms. If it is a reward, use `reward = `")
  x <- typed_columns(domain, completed_shares(domain, read_codes(domain, x, arg), arg))
  inputs <- inputs_anywhere(domain, cpp_frame(x), arg)
  codes <- read_codes(domain, cpp_frame(x), arg)
  inside <- !is_beyond_box(domain$box, codes, share_slack(domain))
  codes[inside, ] <- within_bounds(domain$box, codes[inside, , drop = FALSE], arg)
  inputs[inside, ] <- model_of_codes(domain, codes[inside, , drop = FALSE])
  unnumbered(inputs)
}

# (Codes and indicators must be the space's.)
#' @export
data_ranges.search_domain <- function(domain) {
  ranges <- unname(input_ranges(domain))
  free <- which(!vapply(domain$params, trait, NA, "named"))
  ranges[, free] <- data_ranges(domain$box)[, free]
  whole <- which(vapply(domain$params, trait, NA, "whole"))
  most <- ifelse(domain$box$log[whole], log(.Machine$integer.max), .Machine$integer.max)
  ranges[2, whole] <- most
  ranges[1, whole] <- ifelse(domain$box$log[whole], 0, -most)
  ranges
}

#' @export
lies_outside.search_domain <- function(domain, points) {
  beyond_ranges(domain, points) | breaks_rules(domain, points$inputs)
}

# By the core's rule: MixedSpace::holds(). (Points may violate a constraint by rounding.)
breaks_rules <- function(domain, inputs) {
  codes <- from_model_inputs(domain, inputs)
  broken <- rep(FALSE, nrow(inputs))
  if (!is.null(domain$where)) {
    broken <- rowSums(constraint_excess(search_rules(domain), codes) > rounding_of_rules) > 0
  }
  for (one in domain$shares) {
    broken <- broken | !within_set(one, parts_of_inputs(one, codes[, share_columns(domain, one), drop = FALSE]))
  }
  broken
}

rounding_of_rules <- 1e-9

#' @export
find_points.search_domain <- function(domain, x, arm = NULL, arg = "x") {
  check_absent(arm, "arm", "a search space has no arms. If it is a reward, use `reward = `")
  codes <- within_bounds(domain$box, check_share_sums(domain, read_codes(domain, x, arg), arg), arg)
  rules <- search_rules(domain)
  check_existence(rules, codes, arg)
  broken <- which(constraint_excess(rules, codes) > 0, arr.ind = TRUE)
  if (nrow(broken)) {
    constraint <- if (is.character(domain$where)) paste0(": ", shown_conditions(domain$where[broken[1, 2]])) else ""
    stop_argument(arg, sprintf("(%s)", typed_text(domain, codes[broken[1, 1], , drop = FALSE])),
                  paste0("points that satisfy `where`", constraint))
  }
  unnumbered(model_of_codes(domain, codes))
}

# The space with these inputs' bounds at their values. Points without one of these inputs are not in the slice.
#' @export
slice_of.search_domain <- function(domain, values) {
  at <- match(names(values), domain$names)
  values <- Map(value_of_text, domain$params[at], values)
  codes <- vapply(names(values), function(name) {
    code <- read_column(domain$params[[name]], values[[name]], name, "fixed")
    if (is.na(code)) stop_argument("fixed", sprintf("%s = NA", name), "a value for each input that it names")
    code
  }, 0)
  x <- matrix(domain$box$lower, 1)
  x[at] <- codes
  codes <- within_bounds(domain$box, x, "fixed")[at]
  # Rounded like values that are converted back from logarithms.
  digits <- domain$box$log[at] & codes != domain$box$lower[at] & codes != domain$box$upper[at]
  codes[digits] <- signif(codes[digits], 15)
  slice <- domain
  slice$box$lower[at] <- slice$box$upper[at] <- codes
  slice$pinned <- replace(rep(NA_real_, length(domain$names)), at, codes)
  reached <- vapply(sets_for_core(slice), reach_total, NA)
  if (!all(reached)) {
    one <- domain$shares[[which(!reached)[1]]]
    stop_argument("fixed", described_value(values),
                  if (is_counted(one)) paste("values with", shown_conditions(one$counted))
                  else "shares with which the others can reach their total")
  }
  check_fixed_steps(domain, values)
  rules <- search_rules(slice)
  rules$required <- length(domain$names) + which(domain$conditional %in% at)
  candidates <- tryCatch(search_candidates(rules), gpbandits_error = function(e) {
    if (!identical(e$argument, "where")) stop(e)
    stop_argument("fixed", described_value(values), paste("values with which some point satisfies `where`, and exists",
                                                      "(none of 65,536 that were tried does)"))
  })
  list(fixed = c(fixed_inputs(at, unname(rules$bounds[1, at])), list(candidates = candidates)))
}

# The value of a fixed input must be a multiple of its step.
check_fixed_steps <- function(domain, values) {
  for (name in names(values)) {
    owner <- Find(function(one) name %in% one$names, domain$shares)
    param <- or_else(owner, domain$params[[name]])
    if (!is_stepped(param)) next
    steps <- values[[name]] / step_of(param)
    if (abs(steps - round(steps)) > 1e-9 * max(1, abs(steps))) {
      stop_argument("fixed", sprintf("%s = %s", name, exact_numbers(values[[name]])),
                    sprintf("a multiple of %g", step_of(param)))
    }
  }
}

# A value must be NA if, and only if, its input does not exist.
check_existence <- function(rules, codes, arg) {
  domain <- rules$domain
  exists <- existence(rules, codes)
  wrong <- which(is.na(codes) == exists, arr.ind = TRUE)
  if (nrow(wrong) == 0) return(invisible())
  name <- domain$names[wrong[1, 2]]
  when <- domain$params[[name]]$when
  if (is.na(codes[wrong[1, , drop = FALSE]])) {
    condition <- if (is.null(when)) "" else paste(" where", shown_conditions(when))
    stop_argument(arg, paste0(name, " = NA", in_row(wrong[1, 1], nrow(codes))),
                  sprintf("a value of %s%s", name, condition))
  }
  value <- typed_columns(domain, codes[wrong[1, 1], , drop = FALSE])[[name]]
  stop_argument(arg, sprintf("%s = %s at a point without this input%s", name, as.character(value),
                             in_row(wrong[1, 1], nrow(codes))), sprintf("NA in %s unless %s", name, when))
}

#' @export
to_model_inputs.search_domain <- function(domain, x) {
  model_of_codes(domain, if (is.data.frame(x)) read_codes(domain, x, "x") else x)
}

#' @export
from_model_inputs.search_domain <- function(domain, u) {
  d <- length(domain$names)
  codes <- from_model_inputs(domain$box, unname(u[, seq_len(d), drop = FALSE]))
  for (k in seq_along(domain$conditional)) codes[u[, d + k] < 0.5, domain$conditional[k]] <- NA
  colnames(codes) <- domain$names
  codes
}

# Levels must exist, and integers must be within R's range.
#' @export
can_be_reported.search_domain <- function(domain, inputs) {
  if (!all(is.finite(inputs))) return(FALSE)
  named <- which(vapply(domain$params, trait, NA, "named"))
  levels <- inputs[, named, drop = FALSE]
  beyond <- function(side) rep(domain$box[[side]][named], each = nrow(inputs))
  if (any(levels != round(levels) | levels < beyond("lower") | levels > beyond("upper"))) return(FALSE)
  codes <- from_model_inputs(domain, inputs)[, domain$box$integer, drop = FALSE]
  all(abs(codes) <= .Machine$integer.max, na.rm = TRUE)
}

#' @export
point_labels.search_domain <- function(domain, arm, inputs) typed_columns(domain, from_model_inputs(domain, inputs))

#' @export
user_inputs.search_domain <- function(domain, points) cpp_frame(point_labels(domain, NULL, points$inputs))

#' @export
one_point.search_domain <- function(domain, row) as.list(row)[domain$names]

#' @export
core_space_kind.search_domain <- function(domain, setting) "mixed"

#' @export
core_space.search_domain <- function(domain, setting) {
  rules <- search_rules(domain)
  bounds <- unname(input_ranges(domain$box))
  indicator <- rep(-1, length(domain$names))
  there <- c(domain$conditional, share_inputs(domain, limited = TRUE))
  indicator[there] <- length(domain$names) + seq_along(there) - 1
  list(kind = "mixed", lower = bounds[1, ], upper = bounds[2, ], integer = domain$box$integer, log = domain$box$log,
       categorical = domain$categorical, indicator = indicator, contexts = length(setting$context_names),
       listed = if (is_listed(domain)) 1,
       shares = if (has_shares(domain)) sets_for_core(domain), candidates = search_candidates(rules),
       settle = if (has_rules(domain) || rules$stepped) function(u) settle_points(rules, u),
       linear = linear_for_core(rules), prior_mean = setting$mean)
}

#' @export
describe_domain.search_domain <- function(domain) {
  paste("a search space with", amount_of(length(domain$names), "input"))
}

#' @export
domain_story.search_domain <- function(domain) {
  inputs <- vapply(domain$names, function(name) paste(name, param_text(domain$params[[name]])), "")
  solved <- setdiff(unlist(lapply(unname(domain$shares), function(one) c(one$equality, one$counted))), domain$where)
  conditions <- c(if (length(solved)) shown_conditions(solved),
                  if (is.function(domain$where)) "a function holds" else shown_conditions(domain$where))
  where <- if (length(conditions)) paste("; where", paste(conditions, collapse = ", "))
  paste0("search space: ", paste(inputs, collapse = ", "), where)
}

param_text <- function(param) {
  text <- trait(param, "text")
  if (is_stepped(param)) text <- sprintf("%s, multiples of %g", text, step_of(param))
  if (is.null(param$when)) text else paste(text, "if", shown_conditions(param$when))
}

#' @export
print.bandit_param <- function(x, ...) {
  check_class(x, "bandit_param")
  x["when"] <- list(if (!is.null(x$when)) paste(deparse(condition_parts(x$when, "when")$expression), collapse = " "))
  cat(sprintf("<parameter %s>\n", param_text(x)))
  invisible(x)
}

# A curve or a map if all inputs are numbers that always exist, and there are no constraints.
#' @export
picture_types.search_domain <- function(domain, smooth) {
  if (any(domain$categorical) || has_rules(domain) || has_shares(domain)) return(list(can = "arms", auto = "arms"))
  picture_types(domain$box, smooth)
}

#' @export
picture_points.search_domain <- function(domain, type, played, resolution) {
  if (type != "arms") return(picture_points(domain$box, type, played, resolution))
  check_something_played(domain, played)
  codes <- read_codes(domain, played[domain$names], "x")
  unnumbered(model_of_codes(domain, codes[!duplicated(codes), , drop = FALSE]))
}

#' @export
input_axis.search_domain <- function(domain, i, count) {
  param <- domain$params[[i]]
  if (trait(param, "named")) return(typed_levels(param))
  values <- box_axis(domain$box, i, count)
  if (trait(param, "whole")) as.integer(values) else values
}

#' @export
input_quantiles.search_domain <- function(domain, i, u) {
  points <- matrix(0.5, length(u), length(domain$names))
  points[, i] <- u
  typed_columns(domain, cube_codes(domain, points))[[i]]
}

#' @export
completed_points.search_domain <- function(domain, frame) {
  codes <- read_codes(domain, frame, "x")
  for (j in domain$conditional) {
    default <- default_input(domain, j)
    codes[is.na(codes[, j]), j] <- if (domain$box$log[j]) exp(default) else default
  }
  if (has_shares(domain)) codes <- shares_of_points(domain, codes)
  cpp_frame(typed_columns(domain, with_existence(search_rules(domain), codes)))
}

#' @export
log_inputs.search_domain <- function(domain) domain$box$log

#' @export
same_points.search_domain <- function(domain, other) {
  identical(other$type, "search") && identical(unname(domain$params), unname(other$params)) &&
    identical(unname(domain$shares), unname(other$shares)) &&
    identical(comparable(domain$where), comparable(other$where))
}

# The result of `search_space(x)`. `transformed` applies to a ParamSet.
space_of <- function(x, where = NULL, transformed = TRUE) UseMethod("space_of")

# (An input of this name can be given in a list.)
refuse_transformed <- function(transformed) {
  if (!identical(transformed, TRUE)) {
    stop_unused("transformed",
                "it is for a ParamSet. Use `search_space(list(transformed = ...))` for an input of this name")
  }
}

# Conditions must be valid and leave at least one point.
check_conditions <- function(domain) {
  if (has_rules(domain)) search_candidates(search_rules(domain))
  invisible(domain)
}

param_traits <- list(continuous = FALSE, whole = FALSE, named = FALSE,
                     bounds = function(param) c(param$lower, param$upper), decoded = function(param) identity,
                     text = function(param) {
                       sprintf("in [%g, %g]%s%s%s", param$lower, param$upper,
                               if (is.null(param$unit)) "" else paste0(" ", param$unit),
                               if (trait(param, "whole")) " whole" else "", if (param$log) " log" else "")
                     })

register_family("bandit_param", param_entries, tag = "type", traits = param_traits)
