# Contexts of queries: their types, and their values in the user's form and as numbers. Layer: bandit.

# Contexts are numbers in the core, in the log and in stores. If they have types (`context_space`, a search space), text
# and other values are converted here: levels to their numbers, logarithmic inputs to their logarithms.

# `contexts`: a table of the contexts that can occur, the number of their values, the values' names, or what describes
# a domain. Returns `table` (a matrix, or NULL), `names`, and `space` (NULL: plain numbers).
check_contexts <- function(contexts, domain) {
  if (is.null(contexts)) return(list(table = NULL, names = character()))
  found <- if (is.character(contexts) && is.null(names(contexts))) list(names = check_names(contexts, "contexts"))
           else if (is_number(contexts) && is.null(dim(contexts)) && length(contexts) == 1) {
             list(names = paste0("z", seq_len(check_count(contexts))))
           }
           else if (inherits(contexts, "bandit_contexts")) contexts_again(contexts)
           else if (has_types(contexts)) typed_contexts(contexts)
           else table_of_contexts(contexts)
  if (length(found$names) == 0) stop_argument("contexts", describe(contexts), "at least one name")
  both <- check_input_names(c(domain$names, found$names), length(domain$names) + length(found$names), "contexts")
  check_free_names(found$names, "contexts")
  list(table = found$table, names = utils::tail(both, length(found$names)), space = found$space)
}

table_of_contexts <- function(contexts) {
  table <- check_matrix(contexts, "contexts")
  if (nrow(table) == 0 || ncol(table) == 0) {
    stop_argument("contexts", describe(contexts), "at least one context of at least one value")
  }
  if (is.null(colnames(table))) colnames(table) <- paste0("z", seq_len(ncol(table)))
  list(table = table, names = colnames(table))
}

# Does it describe values that are not plain numbers, or their ranges?
has_types <- function(contexts) {
  if (is.data.frame(contexts)) return(any(vapply(contexts, function(x) has_levels(x) || inherits(x, "Date"), NA)))
  is.list(contexts)
}

typed_contexts <- function(contexts) {
  if (is_arms(contexts)) contexts <- frame_of_domain(contexts)
  if (is.data.frame(contexts)) {
    if (nrow(contexts) == 0) stop_argument("contexts", describe(contexts), "at least one row")
    space <- space_of_contexts(lapply(check_data_frame(contexts, "contexts"), param_of_contexts))
    return(list(table = context_codes(space, contexts, "contexts"), names = space$names, space = space))
  }
  space <- if (is_box(contexts)) space_of_contexts(params_of_box(contexts))
           else if (inherits(contexts, "search_domain")) check_domain(contexts, "contexts")
           else space_of_contexts(contexts)
  plain <- length(space$conditional) == 0 && is.null(space$where) && !length(space$shares)
  if (!plain) stop_argument("contexts", describe_domain(space), "inputs without `when`, `where` and shares")
  list(names = space$names, space = space)
}

# (Another list, such as a paradox ParamSet, is converted by search_space().)
space_of_contexts <- function(contexts) {
  catch_error({
    if (is.list(contexts) && is.null(attr(contexts, "class"))) {
      space_of_list(dates_as_days(contexts, "contexts"))
    } else search_space(contexts)
  }, function(e) {
    stop_gpbandits("argument", "`contexts` is no list of ranges and levels: ", message_of(e), argument = "contexts",
                   parent = e)
  })
}

# (A column of distinct texts became the names of the rows.)
frame_of_domain <- function(domain) {
  frame <- as.data.frame(user_inputs(domain, all_points(domain)))
  if (!is.null(domain$labels)) frame[[domain$label_name]] <- domain$labels
  frame
}

params_of_box <- function(box) {
  params <- lapply(seq_along(box$names), function(j) {
    (if (box$integer[j]) param_integer else param_real)(box$lower[[j]], box$upper[[j]], log = box$log[j])
  })
  stats::setNames(params, box$names)
}

# A column of a table of contexts; levels of text are in alphabetical order.
param_of_contexts <- function(column) {
  if (is.factor(column)) return(param_factor(column, ordered = is.ordered(column)))
  if (is.character(column)) return(param_factor(sort(unique(column))))
  if (is.logical(column)) return(param_logical())
  range <- range(as.double(column))
  if (range[1] == range[2]) range <- range + c(-0.5, 0.5)
  param_real(range[1], range[2])
}

# The argument `contexts` with which a bandit has the same contexts again.
contexts_argument <- function(config) {
  if (!length(config$context_names)) return(NULL)
  structure(list(table = config$contexts, names = config$context_names, space = config$context_space),
            class = "bandit_contexts")
}

# Contexts of a bandit, which may come from a file.
contexts_again <- function(contexts) {
  space <- contexts$space
  table <- contexts$table
  if (!is.null(space)) {
    if (!inherits(check_domain(space, "contexts"), "search_domain") || !identical(space$names, contexts$names)) {
      damaged("its contexts have other names than their types")
    }
    typed_contexts(space)
  }
  if (is.null(table)) return(list(names = check_names(contexts$names, "contexts"), space = space))
  if (!is.matrix(table) || !identical(colnames(table), contexts$names)) {
    damaged("its contexts have other names than their table")
  }
  if (!is.null(space)) context_codes(space, context_frame(space, table), "contexts")
  c(table_of_contexts(table), list(space = space))
}

context_text <- function(config) {
  space <- config$context_space
  numbers <- vapply(space$params, function(param) is.null(levels_as_text(param)), NA)
  paste(ifelse(numbers, space$names, sprintf("%s (%s)", space$names, vapply(space$params, level_summary, ""))),
        collapse = ", ")
}

# ---- values -----------------------------------------------------------------------

# The types of a bandit's contexts as a list by name; empty if they are plain numbers.
context_params <- function(config) config$context_space$params

# Contexts in the user's form as a matrix of numbers, a row each.
context_codes <- function(space, context, arg) {
  check_sound(context, arg)
  if (is.list(context)) context <- dates_as_days(context, arg)
  codes <- complete_codes(space, context, arg)
  log <- space$box$log
  if (any(codes[, log] <= 0)) stop_argument(arg, "one with a number <= 0", "numbers > 0, because logarithms are taken")
  codes[, log] <- log(codes[, log])
  codes
}

# The same as a data.frame of R's types.
context_frame <- function(space, codes) {
  log <- space$box$log
  codes[, log] <- signif(exp(codes[, log]), 15)
  cpp_frame(typed_columns(space, codes))
}

# Numbers of a context, by their names, as the user's columns.
context_columns <- function(config, codes) {
  if (is.null(config$context_space)) return(cpp_columns(codes, config$context_names, NULL))
  as.list(context_frame(config$context_space, codes))
}

# Contexts that are numbers already, as those of the log.
as_codes <- function(codes) structure(codes, class = c("context_codes", class(codes)))

# Contexts in any form as a matrix of numbers.
context_matrix <- function(config, context, arg = "context") {
  if (inherits(context, "context_codes")) return(matrix(as.double(context), NROW(context)))
  if (!is.null(config$context_space)) return(context_codes(config$context_space, context, arg))
  if (is.list(context) && !is.data.frame(context)) {
    whole <- length(unique(lengths(context))) == 1 && all(vapply(context, is.numeric, NA))
    if (!whole || anyDuplicated(names(context)) || !setequal(names(context), config$context_names)) {
      stop_argument(arg, describe(context),
                    paste("numbers of equal lengths with the names", paste(config$context_names, collapse = ", ")))
    }
    context <- do.call(cbind, context[config$context_names])
  }
  check_points(context, config$context_names, arg)
}
