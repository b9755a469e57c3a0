# The registry: declarations of the package's objects, scripts, kinds of bandits, databases. Layer: base.

# The declarations of all objects that the package makes. Each part of a bandit (a policy, a width, a kernel, a rule)
# and each part of a problem has an entry in a table next to its constructor. An entry is a list of
#   `settings`: an alist of the object's settings. Each value is an expression that checks and normalises the setting.
#             It refers by name to this setting and to those before it.
#   `together`: an expression that raises an error if settings contradict each other (optional).
#   `later`:    settings added after the first version. Older objects lack them, which means NULL.
#   `usual`:    the settings of a kind that a string selects and that has no constructor (optional).
#   `traits`:   properties of the part that other files use: values, or functions of the part. Traits that are missing
#             have the default of the family.
# Constructors evaluate these expressions on their own arguments. check_class() evaluates them again on every object
# that a user passes: an object that differs from the result of its constructor is an error. A part without an entry
# cannot be made.

# A family is the set of parts with the same class. Each file registers its own families and entries when the package is
# built; no file lists the entries of another.
families <- new.env(parent = emptyenv())

# `tag`: the field that selects the entry (NULL: there is only one entry). `entries`: a list of entries by kind, or the
# only entry. `traits`: default values of the traits. `optional`: settings that any of the entries may have. `words`:
# additional fields of objects of earlier versions. `open`: TRUE for results, which contain more than is declared.
# `prefix`: the prefix of the constructors' names, if a string can replace a call of a constructor. `plain`: kinds
# without settings and constructor, which are selected by a string. `bare`: constructors whose names lack the prefix; a
# string for one of them is its whole name.
register_family <- function(class, entries = list(), tag = NULL, traits = NULL, optional = NULL, text = NULL,
                            open = FALSE, prefix = NULL, plain = NULL, bare = NULL) {
  assign(class, list(tag = tag, entries = entries, traits = traits, optional = optional, text = text, open = open,
                     prefix = prefix, plain = plain, bare = bare), envir = families)
}

# Adds a kind to a family that another file has registered.
register_part <- function(class, kind, settings = NULL, ...) {
  family <- families[[class]]
  family$entries[[kind]] <- list(settings = settings, ...)
  assign(class, family, envir = families)
}

# ---- making -------------------------------------------------------------------

# An object of a class, with its settings taken from the variables of the constructor's frame.
new_part <- function(class, kind = NULL, frame = parent.frame()) {
  family <- families[[class]]
  entry <- entry_of(family, kind)
  if (is.null(entry)) stop_fault("nothing is declared of ", class, " ", kind)
  values <- checked_settings(entry, frame)
  structure(c(if (!is.null(kind)) stats::setNames(list(kind), family$tag), values), class = class)
}

entry_of <- function(family, kind) {
  if (is.null(family$tag)) return(family$entries)
  if (kind %in% names(family$entries)) family$entries[[kind]]
}

# (A missing argument remains missing for the check, whose message names it.)
checked_settings <- function(entry, frame) {
  settings <- entry$settings
  for (name in names(settings)) assign(name, eval(settings[[name]], frame), envir = frame)
  if (!is.null(entry$together)) eval(entry$together, frame)
  stats::setNames(lapply(names(settings), get, envir = frame, inherits = FALSE), names(settings))
}

# ---- checking -----------------------------------------------------------------

# NULL, or a description of how an object of a registered class differs from the result of its constructor. (It may come
# from a file.) The same parts are checked repeatedly by nested functions, so parts that were found valid are cached.
fault_of_part <- function(x, class) {
  for (known in valid_parts[[class]]) if (identical(known, x, num.eq = FALSE, attrib.as.set = FALSE)) return(NULL)
  fault <- find_fault(x, class)
  if (is.null(fault)) remember_whole(x, class)
  fault
}

# The last few valid objects of each class. Only small objects that contain values are cached. Functions and
# environments are excluded because their contents may change while the object remains identical.
valid_parts <- new.env(parent = emptyenv())
valid_parts_kept <- 12L

remember_whole <- function(x, class) {
  if (utils::object.size(x) > 1e4 || !holds_values_only(x)) return(invisible())
  assign(class, utils::head(c(list(x), valid_parts[[class]]), valid_parts_kept), envir = valid_parts)
}

holds_values_only <- function(x) {
  within <- c(if (is.list(x)) unclass(x), attributes(x))
  (is.null(x) || is.atomic(x) || is.list(x)) && all(vapply(within, holds_values_only, NA))
}

find_fault <- function(x, class) {
  catch_error({
    family <- families[[class]]
    of_class <- if (isTRUE(family$open)) inherits(x, class) else identical(class(x), class)
    if (!is.list(x) || !of_class) stop_fault("it is no plain list of its class")
    fields <- unclass(x)
    if (anyDuplicated(names(fields)) || length(names(fields)) != length(fields)) {
      stop_fault("its settings have no names")
    }
    check_part_fields(fields, family)
    NULL
  }, function(e) sub("[.]$", "", message_of(e)))
}

# (Nothing is quoted: the object may come from a file of anybody.)
unknown_kind <- "it is of a kind that this version does not have. Open it with the version of the package that wrote it"

check_part_fields <- function(fields, family) {
  kind <- NULL
  if (!is.null(family$tag)) {
    kind <- fields[[family$tag]]
    if (is.null(kind)) stop_fault("it lacks ", quoted(family$tag))
    if (!is.character(kind) || length(kind) != 1 || !kind %in% names(family$entries)) {
      stop_fault(unknown_kind)
    }
  }
  entry <- entry_of(family, kind)
  entry$settings <- c(entry$settings, family$optional[intersect(names(family$optional), names(fields))])
  invalid <- setdiff(names(fields), c(names(entry$settings), family$tag, family$text))
  if (length(invalid) && !isTRUE(family$open)) stop_fault("it has ", quoted(invalid))
  check_entry(fields, entry, exact = !isTRUE(family$open))
}

# Do the fields contain all settings of an entry, and (`exact`) are these as the checks return them? Objects from before
# a setting was added may lack it if its absence means NULL (`later`).
check_entry <- function(fields, entry, exact = TRUE) {
  known <- names(entry$settings)
  lacking <- setdiff(known, names(fields))
  fields[intersect(lacking, entry$later)] <- list(NULL)
  lacking <- setdiff(lacking, entry$later)
  if (length(lacking)) stop_fault("it lacks ", quoted(lacking))
  made <- checked_settings(entry, list2env(fields[known], parent = topenv()))
  if (!exact) return(invisible())
  changed <- known[!mapply(same_setting, made, fields[known])]
  if (length(changed)) stop_fault("its ", quoted(changed), " is not as it is made")
}

# (A check may return a new closure each time.)
same_setting <- function(made, found) identical(made, found) || (is.function(made) && is.function(found))

# ---- traits -------------------------------------------------------------------

# A trait of a part.
trait <- function(part, name) {
  family <- families[[class(part)]]
  tag <- family$tag
  value <- (if (is.null(tag)) family$entries else family$entries[[part[[tag]]]])$traits[[name]]
  if (is.null(value)) {
    if (!name %in% names(family$traits)) stop_fault("no trait ", name, " of ", class(part))
    value <- family$traits[[name]]
  }
  if (is.function(value)) value(part) else value
}

# ---- scripts, kinds of bandits, databases -------------------------------------

# Algorithms whose points are chosen by a script in R instead of a policy in the core. bandit-script.R defines scripts.
scripts <- new.env(parent = emptyenv())

script_of <- function(name) scripts[[name]]

# Functions that differ between the two kinds of bandits, by name. The files that define them register them.
bandit_kinds <- new.env(parent = emptyenv())

register_bandit_kind <- function(kind, ...) assign(kind, c(bandit_kinds[[kind]], list(...)), envir = bandit_kinds)

kind_of <- function(bandit) if (is.null(bandit$config$rule)) bandit_kinds$core else bandit_kinds$script

# NULL if a policy of the core chooses.
rule_of <- function(bandit) if (!is.null(bandit$config$rule)) script_of(bandit$config$rule)

# `refuse`: a function of the script's title that raises an error.
check_not_scripted <- function(bandit, refuse) {
  script <- rule_of(bandit)
  if (!is.null(script)) refuse(script$title)
}

# ---- forms of rewards ---------------------------------------------------------

# What is observed of a query: one number (the form "reward"), several ("outcomes"), an observation whose likelihood is
# not the Gaussian one ("response"), or a "comparison" or "ranking" of queries. A form has methods and traits, by name.
# The files that define them register them. What a form does not have, it inherits from the form that it specialises:
# environments whose parents are other forms.
reward_forms <- new.env(parent = emptyenv())

register_form <- function(form, ..., of = NULL) {
  if (is.null(reward_forms[[form]])) {
    assign(form, new.env(parent = if (is.null(of)) emptyenv() else reward_forms[[of]]), envir = reward_forms)
  }
  list2env(list(...), envir = reward_forms[[form]])
}

# The method or trait of this name for a bandit with these settings. (Response types declare their form.)
of_form <- function(config, name) {
  form <- if (length(config$outcomes) > 1 || !is.null(config$goal)) "outcomes"
          else if (is.null(config$rewards)) "reward"
          else trait(config$rewards, "form")
  get(name, envir = reward_forms[[form]])
}

# `several`: is more than one number observed? `gaussian`: is the noise Gaussian? `compares`: are queries
# compared with each other? `between_arms`: are there predictions at points between arms?
register_form("reward", several = FALSE, gaussian = TRUE, compares = FALSE, between_arms = TRUE)
register_form("outcomes", of = "reward", several = TRUE)
register_form("response", of = "reward", gaussian = FALSE)
register_form("comparison", of = "response", compares = TRUE, between_arms = FALSE)
register_form("ranking", of = "comparison")

# ---- databases ----------------------------------------------------------------
# What differs between databases of stores, by kind; store-sql.R says what a database registers.
databases <- new.env(parent = emptyenv())

register_database <- function(kind, ...) assign(kind, list(...), envir = databases)

# ---- objects given by users ---------------------------------------------------

check_class <- function(x, class, arg = deparse(substitute(x)), hint = NULL) {
  allowed <- paste0("an object of class ", class, if (!is.null(hint)) paste0(" (made by ", hint, ")"))
  if (missing(x)) stop_missing(arg, allowed)
  if (!inherits(x, class)) stop_argument(arg, describe(x), allowed, try = name_of_maker(x))
  fault <- if (!is.null(families[[class]])) fault_of_part(x, class)
  if (!is.null(fault)) stop_argument(arg, paste0("changed (", fault, ")"), "as its constructor makes it")
  x
}

# ---- printing -----------------------------------------------------------------

# One line with the title of a part and its settings.
print_part <- function(x, title, settings = unclass(x)) {
  cat("<", paste(c(title, setting_text(settings)), collapse = ", "), ">\n", sep = "")
  invisible(x)
}

# format() and toString() of objects that print in words: the first line of that.
printed_classes <- c(
  "GPBandit", "bandit_changes", "bandit_check", "bandit_comparison", "bandit_constraints", "bandit_delay",
  "bandit_domain", "bandit_gain", "bandit_noise", "bandit_norm_check", "bandit_test_function",
  "bandit_kernel", "bandit_maximum", "bandit_outcome", "bandit_outputs", "bandit_param", "bandit_pending",
  "bandit_plan",
  "bandit_policy", "bandit_prior", "bandit_problem", "bandit_race", "bandit_refit", "bandit_rewards", "bandit_run",
  "bandit_service", "bandit_stop", "bandit_store", "bandit_width", "gp_fit", "gp_model", "gp_regression",
  "search_control"
)

# The first line of the printed text, without its brackets.
first_line <- function(x, ...) sub("^<kernel> ", "", sub("^<(.*)>$", "\\1", utils::capture.output(print(x))[1]))

register_formats <- function() {
  for (class in printed_classes) for (generic in c("format", "toString")) {
    registerS3method(generic, class, first_line, envir = topenv())
  }
}

# "name = value" for each setting that is given.
setting_text <- function(settings) {
  settings <- Filter(length, settings)
  vapply(names(settings), function(name) paste(name, "=", setting_value(settings[[name]])), "")
}

setting_value <- function(value) {
  if (is.function(value)) return("user function")
  if (!is.list(value)) return(paste(format(value, digits = 4, trim = TRUE), collapse = " "))
  if (is.object(value)) trait(value, "title") else paste0("(", paste(setting_text(value), collapse = ", "), ")")
}

# ---- strings ------------------------------------------------------------------

# A part given by a user: an object of a class, or a string for its constructor with default arguments ("ei" for
# `policy_ei()`).
as_part <- function(x, class, arg = deparse(substitute(x)), hint = NULL) {
  force(arg)
  if (!missing(x) && is_text(x) && length(x) == 1) x <- part_of_string(as.vector(x), class, arg, hint)
  check_class(x, class, arg, hint)
}

part_of_string <- function(x, class, arg, hint) {
  family <- families[[class]]
  if (x %in% family$plain) {
    return(new_part(class, x, list2env(as.list(entry_of(family, x)$usual), parent = topenv())))
  }
  name <- if (x %in% family$bare) x else paste0(family$prefix, x)
  constructor <- constructor_named(name)
  if (is.null(constructor)) {
    strings <- strings_for(class)
    choices <- if (length(strings)) paste0("one of ", toString(dQuote(strings, FALSE)), ", or ")
    made_by <- if (!is.null(hint)) paste0(" (made by ", hint, ")")
    stop_argument(arg, describe(x), paste0(choices, "an object of class ", class, made_by),
                  try = likely_choice(x, strings))
  }
  needed <- needed_arguments(constructor)
  if (length(needed)) {
    stop_argument(arg, describe(x),
                  sprintf("given as %s(%s = ), which has no default", name, paste(needed, collapse = " = , ")))
  }
  constructor()
}

# The exported constructor of this name, or NULL.
constructor_named <- function(name) {
  if (!name %in% getNamespaceExports(topenv()) || name %in% never_by_string) return(NULL)
  get(name, envir = topenv(), mode = "function")
}

# These names begin with a prefix, but do not return an object of the class, or (the last) need one of several
# arguments.
never_by_string <- c("kernel_gram", "change_statistic", "change_oracle")

# The valid strings: constructors whose arguments all have defaults.
strings_for <- function(class) {
  prefix <- families[[class]]$prefix
  bare <- families[[class]]$bare
  names <- c(grep(paste0("^", prefix), getNamespaceExports(topenv()), value = TRUE), bare)
  plain <- vapply(names, function(name) {
    constructor <- constructor_named(name)
    !is.null(constructor) && length(needed_arguments(constructor)) == 0
  }, NA)
  names <- names[plain]
  sort(c(names[names %in% bare], substring(names[!names %in% bare], nchar(prefix) + 1), families[[class]]$plain))
}

needed_arguments <- function(f) {
  arguments <- formals(f)
  names(arguments)[vapply(arguments, identical, NA, quote(expr = ))]
}
