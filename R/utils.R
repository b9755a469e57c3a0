# Small helpers that every file may use. Layer: base.

described_value <- function(values) {
  paste(names(values), "=", vapply(values, function(value) format(value, digits = 10), ""), collapse = ", ")
}

plus_minus <- function() {
  if (l10n_info()[["UTF-8"]] || l10n_info()[["Latin-1"]]) "\u00b1" else "+/-"
}

or_zero <- function(x) ifelse(is.finite(x), x, 0)

# Evaluates the arguments of a call before its transaction, because they may take long or use the same bandit.
force_arguments <- function(frame = parent.frame()) {
  for (name in ls(frame, sorted = FALSE)) if (!eval(call("missing", as.name(name)), frame)) get(name, envir = frame)
}

# requireNamespace(), which would treat a time limit of the caller as a package that is not installed. (R's code that
# registers S4 classes and methods of a package drops errors, a time limit among them: it waits until all is loaded.)
has_package <- function(package) {
  isNamespaceLoaded(package) || catch_error({
    suspendInterrupts(loadNamespace(package))
    TRUE
  }, function(e) FALSE)
}

need_package <- function(package, arg, or = "") {
  if (!has_package(package)) {
    stop_gpbandits("argument", sprintf("`%s` needs package %s, which is not installed. Try ", arg, package),
                   sprintf("`install.packages(\"%s\")`.", package), or, argument = arg)
  }
}

or_else <- function(value, default) if (is.null(value)) default else value
