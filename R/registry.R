# The registry: what constructors declare of their objects, scripts, and kinds of bandits. Layer: base.

# What is declared of every object that the package makes: each part of a bandit (a policy, a width, a kernel, a rule)
# and each part of a problem has an entry in a table beside its constructor. An entry is a list of
#   settings: an alist of what the object holds; of each setting the expression that checks and normalises it, in
#             which it and the settings before it stand by their names;
#   together: an expression that stops where settings contradict each other (if there is such a thing);
#   later:    settings that came after the first version: objects of before have none, which is NULL;
#   traits:   what others need to know of the part, each a value or a function of the part; what is not stated is as
#             the family says.
# Constructors run the expressions on their own arguments, and the doors (check_class()) run them again on every object
# that comes in: an object is as its constructor makes it, or refused. What has no entry cannot be made.

# A family is all that shares a class. Each file registers its own families and entries when the package is built; no
# file lists another's.
families <- new.env(parent = emptyenv())

# `tag`: the field that says which entry (NULL: there is one entry only); `entries`: a list of entries by their kinds,
# or the only entry; `traits`: defaults of the entries' traits; `optional`: settings that any of them may have; `words`:
# fields that objects of earlier versions have, too; `open`: results, which hold more than is declared; `prefix`: how
# the names of its constructors begin, if a string may stand for one of them.
register_family <- function(class, entries = list(), tag = NULL, traits = NULL, optional = NULL, words = NULL,
                            open = FALSE, prefix = NULL) {
  assign(class, list(tag = tag, entries = entries, traits = traits, optional = optional, words = words, open = open,
                     prefix = prefix), envir = families)
}

# One more kind of a family that another file has registered.
register_part <- function(class, kind, settings = NULL, ...) {
  family <- families[[class]]
  family$entries[[kind]] <- list(settings = settings, ...)
  assign(class, family, envir = families)
}

# NULL where nothing is declared of a class.
family_of <- function(class) families[[class]]

# ---- making -------------------------------------------------------------------

# An object of a class, of the settings that stand in the constructor's frame under their names.
new_part <- function(class, kind = NULL, frame = parent.frame()) {
  family <- family_of(class)
  entry <- entry_of(family, kind)
  if (is.null(entry)) stop_fault("nothing is declared of ", class, " ", kind)
  values <- checked_settings(entry, frame)
  structure(c(if (!is.null(kind)) stats::setNames(list(kind), family$tag), values), class = class)
}

entry_of <- function(family, kind) {
  if (is.null(family$tag)) return(family$entries)
  if (kind %in% names(family$entries)) family$entries[[kind]]
}

# (An argument that is missing stays so for the check, which names it.)
checked_settings <- function(entry, frame) {
  settings <- entry$settings
  for (name in names(settings)) assign(name, eval(settings[[name]], frame), envir = frame)
  if (!is.null(entry$together)) eval(entry$together, frame)
  stats::setNames(lapply(names(settings), get, envir = frame, inherits = FALSE), names(settings))
}

# ---- checking -----------------------------------------------------------------

# Is an object of a declared class what its constructor makes? (It may be forged, or come from a file.)
check_declared <- function(x, class, arg) {
  fault <- fault_of_part(x, class)
  if (!is.null(fault)) stop_argument(arg, paste0("changed (", fault, ")"), "as its constructor makes it")
  invisible(x)
}

# NULL, or what is wrong with it. One bandit meets its parts at many doors, and again at each that it goes through: what
# was found whole is not looked into again.
fault_of_part <- function(x, class) {
  if (found_whole(x, class)) return(NULL)
  fault <- look_for_fault(x, class)
  if (is.null(fault)) remember_whole(x, class)
  fault
}

# The last few objects of each class that were whole: small ones that hold values only, for what else a check sees (a
# function's surroundings, an environment's content) may change behind an object's back.
whole_parts <- new.env(parent = emptyenv())
whole_parts_kept <- 12L

found_whole <- function(x, class) {
  for (known in whole_parts[[class]]) if (identical(known, x, num.eq = FALSE, attrib.as.set = FALSE)) return(TRUE)
  FALSE
}

remember_whole <- function(x, class) {
  if (utils::object.size(x) > 1e4 || !holds_values_only(x)) return(invisible())
  assign(class, utils::head(c(list(x), whole_parts[[class]]), whole_parts_kept), envir = whole_parts)
}

holds_values_only <- function(x) {
  within <- c(if (is.list(x)) unclass(x), attributes(x))
  (is.null(x) || is.atomic(x) || is.list(x)) && all(vapply(within, holds_values_only, NA))
}

look_for_fault <- function(x, class) {
  catch_error({
    family <- family_of(class)
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

# Reads an object of a class: a result, a summary, which may be forged or changed by anybody. What its entry does not
# say
# of it, or where it has none, shows in the reading.
read_part <- function(x, class, code, arg = deparse(substitute(x))) {
  check_class(x, class, arg)
  as_ours(code, function(words) {
    stop_argument(arg, paste0("changed (", readable(words), ")"), "as its constructor makes it")
  })
}

check_part_fields <- function(fields, family) {
  kind <- NULL
  if (!is.null(family$tag)) {
    kind <- fields[[family$tag]]
    if (!is.character(kind) || length(kind) != 1 || !kind %in% names(family$entries)) {
      stop_fault("it is of no known kind")
    }
  }
  entry <- entry_of(family, kind)
  entry$settings <- c(entry$settings, family$optional[intersect(names(family$optional), names(fields))])
  invalid <- setdiff(names(fields), c(names(entry$settings), family$tag, family$words))
  if (length(invalid) && !isTRUE(family$open)) stop_fault("it has ", quoted(invalid))
  check_entry(fields, entry, exact = !isTRUE(family$open))
}

# Are the settings of an entry among some fields, and (`exact`) as its checks would leave them? An object that was made
# before a setting came may lack it where NULL is what its absence means (`later`).
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

# (A check may wrap a function anew each time.)
same_setting <- function(made, found) identical(made, found) || (is.function(made) && is.function(found))

# ---- traits -------------------------------------------------------------------

# What a part states of itself.
trait <- function(part, name) {
  family <- family_of(class(part))
  value <- entry_of(family, part[[family$tag]])$traits[[name]]
  if (is.null(value)) {
    if (!name %in% names(family$traits)) stop_fault("no trait ", name, " of ", class(part))
    value <- family$traits[[name]]
  }
  if (is.function(value)) value(part) else value
}

# ---- scripts and kinds of bandits ---------------------------------------------

# Algorithms whose points are chosen by a script in R instead of by a policy in the core (bandit-script.R says what a
# script is).
scripts <- new.env(parent = emptyenv())

script_of <- function(name) scripts[[name]]

# What the two kinds of bandits do each in their own way: functions by name, registered by the files that hold them.
bandit_kinds <- new.env(parent = emptyenv())

register_bandit_kind <- function(kind, ...) assign(kind, c(bandit_kinds[[kind]], list(...)), envir = bandit_kinds)

# Is a point chosen by a script in R? (Else by a policy in the core.)
has_rule <- function(bandit) !is.null(bandit$config$rule)

kind_of <- function(bandit) if (is.null(bandit$config$rule)) bandit_kinds$core else bandit_kinds$script

rule_of <- function(bandit) script_of(bandit$config$rule)

check_class <- function(x, class, arg = deparse(substitute(x)), hint = NULL) {
  allowed <- paste0("an object of class ", class, if (!is.null(hint)) paste0(" (made by ", hint, ")"))
  if (missing(x)) stop_missing(arg, allowed)
  if (!inherits(x, class)) stop_argument(arg, describe(x), allowed, try = name_of_maker(x))
  if (!is.null(family_of(class))) check_declared(x, class, arg)
  x
}

# ---- printing -----------------------------------------------------------------

# One line in words: what a part is, and its settings.
print_part <- function(x, title, settings = unclass(x)) {
  cat("<", paste(c(title, setting_words(settings)), collapse = ", "), ">\n", sep = "")
  invisible(x)
}

# "name = value" of each setting that is given.
setting_words <- function(settings) {
  settings <- Filter(length, settings)
  vapply(names(settings), function(name) paste(name, "=", setting_value(settings[[name]])), "")
}

setting_value <- function(value) {
  if (is.function(value)) return("user function")
  if (!is.list(value)) return(paste(format(value, digits = 4, trim = TRUE), collapse = " "))
  if (is.object(value)) trait(value, "title") else paste0("(", paste(setting_words(value), collapse = ", "), ")")
}

# ---- strings ------------------------------------------------------------------

# A component that a user gives: an object of a class, or a string for its constructor with its defaults ("ei" for
# `policy_ei()`).
as_part <- function(x, class, arg = deparse(substitute(x)), hint = NULL) {
  force(arg)
  if (!missing(x) && is_text(x) && length(x) == 1) x <- part_of_string(as.vector(x), class, arg, hint)
  check_class(x, class, arg, hint)
}

part_of_string <- function(x, class, arg, hint) {
  prefix <- family_of(class)$prefix
  constructor <- constructor_named(paste0(prefix, x))
  if (is.null(constructor)) {
    stop_argument(arg, describe(x), paste0("one of ", paste(dQuote(strings_for(class), FALSE), collapse = ", "),
                                           ", or an object of class ", class,
                                           if (!is.null(hint)) paste0(" (made by ", hint, ")")),
                  try = likely_choice(x, strings_for(class)))
  }
  needed <- needed_arguments(constructor)
  if (length(needed)) {
    stop_argument(arg, describe(x),
                  sprintf("given as %s%s(%s = ), which has no default", prefix, x, paste(needed, collapse = " = , ")))
  }
  constructor()
}

# The exported constructor of this name, or NULL.
constructor_named <- function(name) {
  if (!name %in% getNamespaceExports(topenv()) || name %in% never_by_string) return(NULL)
  get(name, envir = topenv(), mode = "function")
}

# These begin with a prefix and make nothing of the class, or (the last three) need one of several arguments.
never_by_string <- c("kernel_gram", "change_statistic", "rewards_clip", "change_oracle",
                     "change_fade")

# The strings that need no more: constructors of which each argument has a default.
strings_for <- function(class) {
  prefix <- family_of(class)$prefix
  names <- grep(paste0("^", prefix), sort(getNamespaceExports(topenv())), value = TRUE)
  plain <- vapply(names, function(name) {
    constructor <- constructor_named(name)
    !is.null(constructor) && length(needed_arguments(constructor)) == 0
  }, NA)
  substring(names[plain], nchar(prefix) + 1)
}

needed_arguments <- function(f) {
  arguments <- formals(f)
  names(arguments)[vapply(arguments, identical, NA, quote(expr = ))]
}
