# Names of the package's columns next to the user's columns. Layer: base.

# The package's columns next to the user's. Inputs, contexts and the column of labels have the user's names, which can
# be any except `id`, `arm` and `reward`. If a column of the package has the same name as one of them, it gets a leading
# dot.

# Names given by the user: the inputs, the arms' labels, the contexts.
given_names <- function(config) c(names_in_domain(config$domain), config$context_names)

names_in_domain <- function(domain) c(domain$names, domain$label_name, domain$rows$label_name)

# A domain whose column of labels has a name different from the given ones.
distinct_labels <- function(domain, names) {
  if (!is.null(domain$label_name)) domain$label_name <- beside(domain$label_name, names)
  if (!is.null(domain$rows$label_name)) domain$rows$label_name <- beside(domain$rows$label_name, names)
  domain
}

package_names <- c("id", "arm", "reward")

check_free_names <- function(names, arg) {
  taken <- intersect(names, package_names)
  if (length(taken)) {
    stop_argument(arg, paste("one with an input named", quoted(taken[1])),
                  "one whose inputs have other names than id, arm and reward")
  }
}

# The names of the package's columns in a data.frame that also has the given names.
beside <- function(names, given) {
  while (any(like <- match(names, given, 0L) > 0L)) names[like] <- paste0(".", names[like])
  names
}

distinct_columns <- function(columns, given) {
  names(columns) <- beside(names(columns), given)
  columns
}

# The package's columns of a data.frame for users, under the package's names and without the inputs.
own_columns <- function(frame, given) {
  frame <- frame[match(names(frame), given, 0L) == 0L]
  names(frame) <- sub("^[.]+", "", names(frame))
  frame
}

# Names of users' further columns, which differ from the names `taken`.
apart_from <- function(names, taken) ifelse(names %in% taken, paste0("data.", names), names)
