# A bandit's settings that come from outside are checked: what has a constructor must be what that makes.

# What has a constructor of ours must be what the constructor makes: text in a database may be anybody's.
check_made_here <- function(x) {
  if (!is.list(x)) return(x)
  if (inherits(x, "bandit_kernel")) check_kernel_type(x)
  remake <- constructor_of(x)
  if (!is.null(remake)) {
    fields <- unclass(x)
    wanted <- intersect(names(formals(remake)), names(fields))
    needed <- Filter(function(name) identical(formals(remake)[[name]], quote(expr = )),
                     setdiff(names(formals(remake)), "..."))
    if (all(needed %in% wanted)) {
      again <- do.call(remake, fields[wanted])
      if (!same_fields(again, x)) stop(sprintf("it holds a %s that is none of ours", class(x)[1]))
    }
  }
  if (inherits(x, "bandit_domain")) check_labels(x)
  for (i in seq_along(x)) check_made_here(.subset2(x, i))
  x
}

check_kernel_type <- function(x) {
  type <- x[["type"]]
  if (!is.character(type) || length(type) != 1 || is.na(type)) stop("a kernel has no type")
  if (type %in% c("sum", "product")) {
    parts <- x[["parts"]]
    if (!is.list(parts) || length(parts) == 0 || !all(vapply(parts, inherits, NA, "bandit_kernel"))) {
      stop("a kernel has parts that are none")
    }
  } else if (type == "matrix") {
    # Without its eigenvalues, which take long: the core's factorisations find an indefinite one.
    K <- x[["K"]]
    if (!is.matrix(K) || !is.double(K) || nrow(K) != ncol(K) || nrow(K) == 0 || !all(abs(K) <= largest_number) ||
        !isSymmetric(K) || any(diag(K) < 0)) stop("a kernel's matrix is no covariance")
  } else if (is.null(constructor_of(x))) {
    stop("a kernel has an unknown type")
  }
}

check_labels <- function(domain) {
  labels <- domain$labels
  if (is.null(labels)) return(invisible())
  name <- domain$label_name
  if (!is.character(labels) || length(labels) != nrow(domain$x) || anyNA(labels) || anyDuplicated(labels) ||
      !is.character(name) || length(name) != 1 || is.na(name)) stop("a domain's labels do not fit its arms")
}

constructor_of <- function(x) {
  family <- sub("^bandit_", "", class(x)[1])
  kind <- if (is.character(x[["type"]])) x[["type"]] else x[["kind"]]
  if (!is.character(kind) || length(kind) != 1) return(NULL)
  if (inherits(x, "bandit_domain")) family <- "domain"
  if (family == "domain") {
    return(get0(paste0(kind, "_domain"), envir = asNamespace("gpbandits"), mode = "function", inherits = FALSE))
  }
  if (family == "changes") family <- "change"
  if (!family %in% c("kernel", "width", "pending", "change", "policy", "penalty", "constraints", "param")) return(NULL)
  if (family == "kernel" && kind == "matrix") return(NULL)
  get0(paste0(family, "_", kind), envir = asNamespace("gpbandits"), mode = "function", inherits = FALSE)
}

# (Constructors wrap functions anew each time.)
same_fields <- function(made, found) {
  if (!identical(class(made), class(found))) return(FALSE)
  fields <- setdiff(names(made), c("title", "short"))   # words, which may be the user's
  if (!all(fields %in% names(found))) return(FALSE)
  same <- vapply(fields, function(name) {
    ours <- made[[name]]
    theirs <- found[[name]]
    if (is.function(ours)) return(is.function(theirs))
    if (is.list(ours) && is.list(theirs) && is.object(ours)) return(same_fields(ours, theirs))
    identical(ours, theirs)
  }, NA)
  all(same)
}

# The settings of a bandit as gp_bandit() takes and checks them.
check_stored_settings <- function(config) {
  known <- c("domain", "kernel", "noise_var", "policy", "mean", "pending", "engine", "accuracy", "constraints",
             "changes", "refit", "outputs", "rewards", "failures")
  if (!is.list(config) || !all(c("domain", "kernel", "noise_var", "policy") %in% names(config))) {
    stop_gpbandits("The settings in this store are not a bandit's.", argument = "store")
  }
  strange <- setdiff(names(config), c(known, "contexts", "context_names", "design", "search", "format", "output_map"))
  if (length(strange)) {
    stop_gpbandits("The settings in this store are not a bandit's: nothing is known of ",
                   dQuote(strange[1], FALSE), ".", argument = "store")
  }
  arguments <- config[intersect(known, names(config))]
  arguments["contexts"] <- list(if (!is.null(config$contexts)) config$contexts
                                else if (length(config$context_names)) config$context_names)
  tryCatch(do.call(gp_bandit, arguments)$config, error = function(e) {
    stop_gpbandits("The settings in this store are not a bandit's: ", conditionMessage(e), argument = "store")
  })
  config
}

need_package <- function(package, arg) {
  if (!requireNamespace(package, quietly = TRUE)) {
    stop_argument(arg, sprintf("given where package %s is not installed", package),
                  sprintf("left out, or used with package %s installed", package))
  }
}
