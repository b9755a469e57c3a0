# Names of the package's own columns beside those of users. Layer: base.

# Columns of ours beside inputs. Inputs, contexts and the column of labels are called as users call them, anything but
# `id`, `arm` and `reward`; a column of ours that would be called like one of them has a dot in front.

# What users have named: the inputs, the arms' labels, the contexts.
given_names <- function(config) c(names_in_domain(config$domain), config$context_names)

names_in_domain <- function(domain) c(domain$names, domain$label_name, domain$rows$label_name)

# A domain whose labels stand beside inputs of these names.
labels_beside <- function(domain, names) {
  if (!is.null(domain$label_name)) domain$label_name <- beside(domain$label_name, names)
  if (!is.null(domain$rows$label_name)) domain$rows$label_name <- beside(domain$rows$label_name, names)
  domain
}

check_free_names <- function(names, arg) {
  taken <- intersect(names, c("id", "arm", "reward"))
  if (length(taken)) {
    stop_argument(arg, paste("one with an input named", quoted(taken[1])),
                  "one whose inputs have other names than id, arm and reward")
  }
}

# What columns of ours are called beside inputs of these names.
beside <- function(names, given) {
  while (any(like <- names %in% given)) names[like] <- paste0(".", names[like])
  names
}

columns_beside <- function(columns, given) {
  names(columns) <- beside(names(columns), given)
  columns
}

# Our columns of a data.frame that users see, called as we call them; without the inputs.
own_columns <- function(frame, given) {
  frame <- frame[setdiff(names(frame), given)]
  names(frame) <- sub("^[.]+", "", names(frame))
  frame
}
