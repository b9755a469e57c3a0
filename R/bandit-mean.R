# A prior mean that is a function of the inputs, such as a physical model. Layer: bandit.

# The function or the text of the formula for which `mean` stands; NULL for numbers.
as_mean_function <- function(mean, domain) {
  if (is.function(mean)) return(mean)
  if (!inherits(mean, "formula") && !is.character(mean)) return(NULL)
  parts <- condition_parts(mean, "mean")
  text <- expression_text(closed_expression(parts$expression, parts$home, domain$names, "mean"))
  if (!length(all.vars(str2lang(text)))) stop_argument("mean", describe(mean), "a formula with at least one input")
  text
}

mean_function_text <- function(config) {
  f <- config$mean_function
  if (is.null(f)) "" else if (is.function(f)) " + a function of the inputs" else paste(" +", shown_conditions(f))
}

check_mean_function <- function(config) {
  if (is.null(config$mean_function)) return(invisible())
  refuse <- function(what) stop_argument("mean", "a function of the inputs", paste("a number", what))
  if (!of_form(config, "gaussian") || of_form(config, "several") || of_form(config, "compares")) {
    refuse("with several outcomes, with comparisons and with rewards that have a likelihood")
  }
  if (!is.null(config$rule) || has_matrix(config$kernel)) refuse("for this algorithm or a kernel given as a matrix")
  if (!is.null(config$outputs) && !identical(config$outputs$transform, "none")) {
    refuse("if rewards are transformed: `transform = \"none\"` allows a function")
  }
  domain <- config$domain
  points <- or_else(all_points(domain), list(inputs = apply(input_ranges(domain), 2, base::mean)))
  prior_function_at(config, matrix(points$inputs, ncol = length(model_names(domain))))
  invisible()
}

# Values of the function in the user's units, at model inputs (rows).
prior_function_at <- function(config, inputs) {
  frame <- points_for_users(config)(inputs)
  if (!is.data.frame(frame)) frame <- as.data.frame(frame)
  f <- config$mean_function
  text <- sprintf("for %d points", nrow(frame))
  found <- if (is.function(f)) call_user(f(frame), "mean", text)
           else call_user(eval(str2lang(f), frame, condition_home()), "mean", text)
  if (!is_number(found) || length(found) != nrow(frame) || any(!is.finite(found))) {
    stop_returned("mean", found, "one finite number for each point (a row of its argument)")
  }
  as.double(found)
}

condition_home <- function() {
  list2env(c(mget(condition_functions, envir = baseenv()), list("[" = lookup)), parent = emptyenv())
}

# What the function adds to the prior mean of the model, in its units.
mean_in_model <- function(config, inputs) {
  added_under(if (!is.null(config$outputs)) output_map(config), prior_function_at(config, inputs))
}

# The same for values of the function, under an output transform.
added_under <- function(map, values) {
  if (is.null(map)) values else transform_outputs(map, values) - transform_outputs(map, 0)
}

# The same, 0 if there is no function.
shape_at <- function(config, inputs) if (is.null(config$mean_function)) 0 else mean_in_model(config, inputs)

# The prior mean as an argument for a bandit in the model's units.
mean_for_twin <- function(config) {
  if (is.null(config$mean_function)) return(config$mean)
  function(frame) config$mean + mean_in_model(config, points_anywhere(config$domain, frame)$inputs)
}

# The settings of the core's space with the function: values per arm, or functions of points. Several models ask for the
# same points one after the other.
with_mean_function <- function(space, config) {
  if (is.null(config$mean_function)) return(space)
  domain <- config$domain
  points <- all_points(domain)
  if (!is.null(points)) {
    space$shape <- rep_len(mean_in_model(config, points$inputs), length(space$prior_mean))
    space$prior_mean <- space$prior_mean + space$shape
    return(space)
  }
  d <- length(model_names(domain))
  space$mean_values <- remembering(function(inputs) mean_in_model(config, inputs[, seq_len(d), drop = FALSE]))
  space$mean_slope <- remembering(function(inputs) c(slope_of_mean(config, inputs[1, seq_len(d)]),
                                                      rep(0, ncol(inputs) - d)))
  space
}

remembering <- function(f) {
  last <- NULL
  found <- NULL
  function(inputs) {
    if (!identical(inputs, last)) {
      found <<- f(inputs)
      last <<- inputs
    }
    found
  }
}

# The gradient at a point, by central differences within the ranges; 0 for levels.
slope_of_mean <- function(config, x) {
  range <- input_ranges(config$domain)
  side <- range[2, ] - range[1, ]
  moving <- which(!seq_along(x) %in% which(coded_columns(config$domain)) & side > 0)
  step <- 1e-5 * side
  at <- function(sign) {
    points <- matrix(x, length(moving), length(x), byrow = TRUE)
    for (k in seq_along(moving)) {
      j <- moving[k]
      points[k, j] <- min(max(x[j] + sign * step[j], min(x[j], range[1, j])), max(x[j], range[2, j]))
    }
    points
  }
  out <- numeric(length(x))
  if (length(moving) == 0) return(out)
  ends <- list(at(-1), at(1))
  values <- mean_in_model(config, rbind(ends[[1]], ends[[2]]))
  count <- length(moving)
  apart <- (ends[[2]] - ends[[1]])[cbind(seq_len(count), moving)]
  out[moving] <- ifelse(apart > 0, (values[count + seq_len(count)] - values[seq_len(count)]) / apart, 0)
  out
}

# In the user's units, at all queries or some: what rewards are compared with before their scale is estimated.
mean_of_queries <- function(bandit, ids = seq_len(table_size(bandit$queries))) {
  if (is.null(bandit$config$mean_function) || length(ids) == 0) return(numeric(length(ids)))
  prior_function_at(bandit$config, logged_points(bandit, ids)$inputs)
}

known_prior_mean <- function(bandit, ids, mean) {
  out <- if (length(mean) == 1) rep(mean, length(ids)) else mean[bandit$queries$arm[ids] + 1L]
  if (length(ids) == 0) out else out + shape_at(current_config(bandit), logged_points(bandit, ids)$inputs)
}
