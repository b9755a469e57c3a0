# The objective of a search: the form of its argument, and its further arguments. Layer: search.

# A function of a point in the form of a task (a vector, or a list if types differ), and of the fold of a race or the
# fidelity. `names`: the inputs. `extra`: further arguments of the objective. The function must also run on machines
# where this package is not installed.
as_objective <- function(objective, names, extra = list()) {
  if (!is.null(attr(objective, "given"))) return(objective)
  spread <- takes_inputs(objective, names, extra)
  select <- `$.bandit_point`
  environment(select) <- baseenv()
  inside <- list2env(list(objective = objective, extra = extra, spread = spread, select = select), parent = baseenv())
  called <- function(point, ...) {
    if (!"gpbandits" %in% loadedNamespaces()) registerS3method("$", "bandit_point", select, envir = baseenv())
    numbers <- all(vapply(point, is.numeric, NA))
    arguments <- if (spread && !(numbers && length(point) == 1)) as.list(point)
                 else list(if (numbers) structure(unlist(point), class = "bandit_point") else as.list(point))
    do.call("objective", c(arguments, list(...), extra), quote = TRUE)
  }
  environment(called) <- inside
  structure(called, given = c(list(objective), Filter(is.function, extra)))
}

# The objective in the form in which the user gave it.
given_objective <- function(objective) or_else(attr(objective, "given")[[1]], objective)

# All functions of the user that are called.
functions_of_objective <- function(objective) or_else(attr(objective, "given"), list(objective))

argument_names <- function(f) names(formals(args(f)))

# (If a space has a single input, the objective also receives it as a point.)
takes_inputs <- function(objective, names, extra) {
  all(names %in% setdiff(argument_names(objective), c(names(extra), "...")))
}

# Divides the arguments in `...` of a search between `objective` and the `bandit`. `search`: arguments of the search.
split_dots <- function(objective, dots, search) {
  given <- or_else(names(dots), rep("", length(dots)))
  theirs <- argument_names(objective)
  own <- c(setdiff(gp_bandit_arguments(), names(moved_arguments())), "reward")
  of_objective <- given %in% setdiff(theirs, "...") | ("..." %in% theirs & nzchar(given) & !given %in% own)
  unknown <- given[!of_objective & nzchar(given) & !given %in% own]
  if (length(unknown)) stop_unknown_argument(unknown[1], setdiff(c(search, own, theirs), "..."))
  list(objective = dots[of_objective], bandit = dots[!of_objective])
}

# Arguments of the objects that are passed to a search, with the form in which they must be given.
moved_arguments <- function() {
  of <- function(f, form) vapply(names(formals(f)), function(name) sprintf(form, name), "")
  c(of(gp_model, "`model = gp_model(%s = )`"), of(search_control, "`control = search_control(%s = )`"),
    design = "`n_initial` (a number) or `initial_design` (points)",
    initial = "`data` (experiments with results) or `n_initial` (a number)")
}

# `given`: names in `...` that no function has used.
check_not_moved <- function(given) {
  moved <- intersect(given, names(moved_arguments()))
  if (length(moved)) stop_unknown_argument(moved[1], character())
}

stop_unknown_argument <- function(name, allowed) stop_unknown(name, allowed, as.list(moved_arguments())[[name]])
