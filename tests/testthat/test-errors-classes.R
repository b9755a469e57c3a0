# Conditions have a class by their cause.

causes <- c("argument", "state", "data", "store", "evaluation")

condition_of <- function(code) tryCatch({
  code
  NULL
}, condition = identity)

# The causes among a condition's classes.
causes_of <- function(condition, type = "error") {
  names <- paste0("gpbandits_", causes, "_", type)
  causes[names %in% class(condition)]
}

# Each entry raises an error of the cause by whose name it stands.
raising <- list(
  argument = list(
    quote(gp_ucb(1:3, kernel_se(1), -1)), quote(gp_ucb(1:3, kernel_se(1))), quote(gp_ucb(1:3, kernel_se(1), 0.1, widht = 2)),
    quote(kernel_se("a")), quote(box_domain(1, 0)), quote(known()$observe(7, 1)), quote(known()$no_such_method()),
    quote(known()$posterior(context = 1)), quote(maximize_bandit(sum, list(x = c(0, 1)))), quote(kernel_se(1) - kernel_se(2)),
    quote(stop_gap()), quote(bandit_store(3, "a")), quote(open_bandit(tempfile())), quote(from_json(1))
  ),
  state = list(
    quote(known()$observe(1, 9)), quote(gp_ucb(1:3, kernel_se(1), 0.1)$observe(1, 1)), quote(known()$withdraw(1)),
    quote(check_model(known())), quote(known()$front()), quote(known()$rank(1:2)), quote(known()$levels()),
    quote(known()$catch_up()), quote(plot(auto_bandit(list(x = c(0, 1))), type = "slices"))
  ),
  data = list(
    quote(from_json("{}")), quote(from_json("not JSON")), quote(open_bandit(file_with("this is no journal"))),
    quote(evaluate_policy(data.frame(arm = 1, reward = 1, propensity = 0.5), known())),
    quote(broken()$suggest())
  ),
  evaluation = list(
    quote(kernel_gram(kernel_function(function(x, y) stop("no")), 1:3)),
    quote(kernel_gram(kernel_function(function(x, y) "a"), 1:3)),
    quote(gp_bandit(1:3, kernel_se(1), 0.1, policy_ucb(width_function(function(t) -1)))$suggest()),
    quote(gp_bandit(1:3, kernel_se(1), 0.1, policy_ucb(width_function(function(t) stop("no"))))$suggest())
  )
)

known <- function() {
  bandit <- gp_ucb(1:3, kernel_se(1), 0.1)
  bandit$suggest()
  bandit$observe(1, 0.5)
  bandit
}

file_with <- function(lines) {
  file <- tempfile()
  writeLines(lines, file)
  file
}

# A bandit whose log was changed by hand, as read from a file.
broken <- function() {
  bandit <- known()
  bandit$queries$arm[1] <- 99L
  unserialize(serialize(bandit, NULL))
}

test_that("errors have one class by their cause, and the name of the argument", {
  for (cause in names(raising)) for (call in raising[[cause]]) {
    caught <- condition_of(eval(call))
    info <- paste(deparse(call), collapse = " ")
    expect_s3_class(caught, "gpbandits_error")
    expect_identical(causes_of(caught), cause, info = info)
    expect_true(is.character(caught$argument), info = info)
    expect_true(grepl("^[A-Z`$]", conditionMessage(caught)), info = paste(info, conditionMessage(caught)))
  }
})

test_that("errors of a store have the class of their cause", {
  skip_if_not(store_packages("RSQLite"), "packages DBI and RSQLite are not installed")
  file <- tempfile(fileext = ".sqlite")
  expect_identical(causes_of(condition_of(open_bandit(bandit_store(file, "none")))), "store")
  gp_ucb(1:3, kernel_se(1), 0.1, store = bandit_store(file, "one"))
  again <- condition_of(gp_ucb(1:3, kernel_se(1), 0.1, store = bandit_store(file, "one")))
  expect_identical(causes_of(again), "store")
  expect_s3_class(again, "gpbandits_exists")
  expect_match(conditionMessage(again), "open_bandit()", fixed = TRUE)
})

test_that("errors of the core have a class by their cause", {
  caught <- condition_of(gpbandits:::cpp_kernel_gram(list(type = "none"), matrix(1), matrix(1)))
  expect_identical(causes_of(caught), "argument")
  b <- gp_ucb(1:3, kernel_se(1), 0.1)
  b$suggest()
  b$observe(1, 0)
  handle <- as.environment(b)$handle
  caught <- condition_of(gpbandits:::cpp_bandit_withdraw(handle, 1L, FALSE, NA_integer_))
  expect_identical(causes_of(caught), "state")
})

test_that("the class of an error of the core is by the exception's type, whatever its words", {
  skip_without_testing()
  thrown <- function(type, text) condition_of(gpbandits:::cpp_testing_throw(type, text))
  causes <- c(invalid = "argument", logic = "argument", size = "argument", conversion = "argument", runtime = "state",
              memory = "state")
  for (type in names(causes)) for (text in c("query 1 is no longer pending", "std::bad_alloc", "a new text")) {
    expect_identical(causes_of(thrown(type, text)), causes[[type]], info = paste(type, text))
  }
  expect_identical(conditionMessage(thrown("runtime", "the factor is singular")), "The factor is singular.")
  expect_match(conditionMessage(thrown("memory", "")), "not enough memory")
  # A fault of a file's contents; but not the lack of memory while it is read.
  read <- function(type) condition_of(gpbandits:::as_damaged(gpbandits:::cpp_testing_throw(type, "it is singular")))
  expect_identical(conditionMessage(read("runtime")), "This bandit is damaged: it is singular.")
  expect_identical(causes_of(read("invalid")), "data")
  expect_identical(causes_of(read("memory")), "state")
  # The call is the user's, not the core's.
  expect_identical(condition_of(kernel_gram(kernel_se(1), matrix(0, 5e6, 1)))$call[[1]], quote(kernel_gram))
})

test_that("warnings have a class by their cause and one that names the warning", {
  far <- gp_ucb(1:3, kernel_se(1), 0.01)
  far$suggest()
  expected <- list(
    list("state", "far", quote(far$observe(1, 50))),
    list("state", "repeats", quote(gp_ucb(1:3, kernel_se(1), 0.01)$suggest(2))),
    list("evaluation", "no_success", quote(maximize_bandit(function(p) NA, list(x = c(0, 1)), 3)))
  )
  for (one in expected) {
    caught <- condition_of(eval(one[[3]]))
    expect_s3_class(caught, "gpbandits_warning")
    expect_identical(causes_of(caught, "warning"), one[[1]], info = one[[2]])
    expect_s3_class(caught, paste0("gpbandits_", one[[2]]))
  }
})

# ---- the source ---------------------------------------------------------------

# Calls of stop() and warning() in some code that signal anything but a condition with a class: words, or nothing.
unclassed <- function(code) {
  if (is.pairlist(code) || is.expression(code)) return(unlist(lapply(as.list(code), unclassed)))
  if (!is.call(code)) return(NULL)
  makers <- c("structure", "classed_condition", "errorCondition")
  own <- is.symbol(code[[1]]) && as.character(code[[1]]) %in% c("stop", "warning", "stopifnot", "match.arg", "abort")
  what <- if (length(code) > 1) code[[2]]
  fine <- own && (is.symbol(what) || is.call(what) && is.symbol(what[[1]]) && as.character(what[[1]]) %in% makers)
  c(if (own && !fine) paste(deparse(code), collapse = " "),
    unlist(lapply(as.list(code), function(part) if (!missing(part)) unclassed(part))))
}

test_that("all errors and warnings in R/ have a class", {
  expect_length(unclassed(quote(if (x) stop("words") else stop(e))), 1)
  folder <- test_path("..", "..", "R")
  code <- if (dir.exists(folder)) {
    lapply(list.files(folder, "[.]R$", full.names = TRUE), parse, keep.source = FALSE)
  } else {
    lapply(Filter(is.function, as.list(asNamespace("gpbandits"))), body)
  }
  expect_gt(length(code), 100)
  expect_identical(unlist(lapply(code, unclassed)), NULL)
})
