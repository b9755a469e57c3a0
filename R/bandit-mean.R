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
prior_function_at <- function(config, inputs) prior_function(config)(inputs)

prior_function <- function(config) {
  users <- points_for_users(config)
  f <- config$mean_function
  if (!is.function(f)) {
    expression <- str2lang(f)
    home <- condition_home()
  }
  function(inputs) {
    frame <- users(inputs)
    if (!is.data.frame(frame)) frame <- as.data.frame(frame)
    found <- call_user(if (is.function(f)) f(frame) else eval(expression, frame, home), "mean",
                       sprintf("for %d points", nrow(frame)))
    if (!is_number(found) || length(found) != nrow(frame) || any(!is.finite(found))) {
      stop_returned("mean", found, "one finite number for each point (a row of its argument)")
    }
    as.double(found)
  }
}

condition_home <- function() {
  list2env(c(mget(condition_functions, envir = baseenv()), list("[" = lookup)), parent = emptyenv())
}

# What the function adds to the prior mean of the model, in its units.
mean_in_model <- function(config, inputs) mean_reader(config)(inputs)

# The same as a function of the inputs.
mean_reader <- function(config) {
  map <- if (!is.null(config$outputs)) output_map(config)
  at <- prior_function(config)
  function(inputs) added_under(map, at(inputs))
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

# The settings of the core's space with the function: values per arm, or functions of points.
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
  own <- function(inputs) inputs[, seq_len(d), drop = FALSE]
  values <- mean_reader(config)
  point <- mean_at_point(config, values)
  space$mean_values <- function(inputs) if (nrow(inputs) == 1) point(own(inputs))$value else values(own(inputs))
  space$mean_slope <- function(inputs) c(point(own(inputs))$slope, rep(0, ncol(inputs) - d))
  space
}

# A function that returns the value at one point (a row) and the gradient, by central differences within the ranges; 0
# for levels. A search asks for both at the same point, so the last answer is kept.
mean_at_point <- function(config, values) {
  range <- input_ranges(config$domain)
  step <- 1e-5 * (range[2, ] - range[1, ])
  moving <- setdiff(which(step > 0), which(coded_columns(config$domain)))
  count <- length(moving)
  rows <- seq_len(count)
  below <- cbind(rows + 1L, moving)
  above <- cbind(count + rows + 1L, moving)
  last <- found <- NULL
  function(x) {
    if (identical(x, last)) return(found)
    points <- x[rep(1L, 2L * count + 1L), , drop = FALSE]
    at <- x[moving]
    points[below] <- pmax(at - step[moving], pmin(at, range[1, moving]))
    points[above] <- pmin(at + step[moving], pmax(at, range[2, moving]))
    value <- values(points)
    apart <- points[above] - points[below]
    slope <- numeric(length(x))
    slope[moving] <- ifelse(apart > 0, (value[count + rows + 1L] - value[rows + 1L]) / apart, 0)
    found <<- list(value = value[1], slope = slope)
    last <<- x
    found
  }
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
