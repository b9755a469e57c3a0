# Spaces of other packages, each against the points that the package itself makes.

test_that("a list means the same as the parameters", {
  space <- search_space(list(u = c(0, 1), k = c("a", "b"), f = factor(c("x", "y")), l = c(TRUE, FALSE), n = param_integer(1, 3)))
  expect_identical(space, search_space(u = param_real(0, 1), k = param_factor(c("a", "b")), f = param_factor(factor(c("x", "y"))),
                                       l = param_logical(), n = param_integer(1, 3)))
  expect_identical(search_space(space), space)
  expect_identical(search_space(list(u = c(0, 1), k = c("a", "b")), where = ~ u <= 0.5),
                   search_space(u = c(0, 1), k = c("a", "b"), where = ~ u <= 0.5))
  # Inputs that are called as an argument is.
  expect_identical(search_space(list(where = c(0, 1), transformed = c(TRUE, FALSE)))$names, c("where", "transformed"))
  expect_error(search_space(u = c(0, 1), transformed = c(TRUE, FALSE)), "list\\(transformed", class = "gpbandits_error")
  expect_error(search_space(space, where = ~ u <= 0.5), "`where`", class = "gpbandits_error")
  expect_error(search_space(list(u = c(0, 1), where = ~ u <= 1), where = ~ u <= 0.5), "`where`", class = "gpbandits_error")
  expect_identical(gp_bandit(list(u = c(0, 1), k = c("a", "b")), kernel_se(dims = "u"), 1, policy_mean())$config$domain,
                   search_space(u = param_real(0, 1), k = param_factor(c("a", "b"))))
  for (bad in list(NULL, 3, list(), list(c(0, 1)), list(a = mean), data.frame(a = 1:2), c(0, 1), param_real(0, 1), box_domain(0, 1))) {
    expect_error(search_space(bad), class = "gpbandits_error")
  }
})

test_that("a paradox ParamSet gives the values that paradox makes of its own points, under the same conditions", {
  skip_if_not_installed("paradox")
  set <- paradox::ps(cp = paradox::p_dbl(1e-4, 0.1, logscale = TRUE), split = paradox::p_int(2, 20), k = paradox::p_int(1, 64, logscale = TRUE),
                     ten = paradox::p_dbl(-3, 1, trafo = function(x) 10^x), share = paradox::p_dbl(0, 1, trafo = function(x) 2 * x + 1),
                     size = paradox::p_fct(list(s = 16, m = 32, l = 64)), two = paradox::p_int(3, 6, trafo = function(x) 2^x),
                     kind = paradox::p_fct(c("a", "b", "c")), flag = paradox::p_lgl(),
                     deep = paradox::p_int(1, 5, depends = quote(kind %in% c("a", "b") && flag == TRUE)),
                     wide = paradox::p_dbl(0, 1, depends = quote(size == "m")))
  space <- search_space(set)
  expect_identical(space$names, set$ids())
  expect_true(all(space$box$log[match(c("cp", "k", "ten"), space$names)]))
  expect_false(space$box$log[match("share", space$names)])
  # Their draws, transformed, lie in our space: values, types and conditions.
  set.seed(1)
  theirs <- paradox::generate_design_random(set, 200)$transpose(trafo = TRUE, filter_na = TRUE)
  columns <- lapply(stats::setNames(space$names, space$names), function(name) {
    unlist(lapply(theirs, function(point) if (is.null(point[[name]])) NA else point[[name]]))
  })
  points <- gpbandits:::find_points(space, as.data.frame(columns))
  expect_identical(gpbandits:::point_total(points), 200L)
  # Ours come near their bounds.
  core <- gpbandits:::user_inputs(space, gpbandits:::spread_points(space, 4000))
  expect_equal(range(core$cp), c(1e-4, 0.1), tolerance = 0.01)
  expect_equal(range(core$ten), c(1e-3, 10), tolerance = 0.01)
  expect_identical(range(core$k), c(1L, 64L))
  expect_equal(range(core$share), c(1, 3), tolerance = 0.01)
  expect_setequal(core$two, 2^(3:6))
  expect_setequal(core$size, c(16, 32, 64))
  expect_identical(is.na(core$deep), !(core$kind %in% c("a", "b") & core$flag))
  expect_identical(is.na(core$wide), core$size != 32)
  raw <- search_space(set, transformed = FALSE)
  expect_equal(unname(raw$box$lower[["ten"]]), -3)
  expect_identical(raw$params$size$levels, c("s", "m", "l"))
})

test_that("parameters without a counterpart are errors", {
  skip_if_not_installed("paradox")
  expect_error(search_space(paradox::ps(x = paradox::p_dbl(0))), "unbounded.*x", class = "gpbandits_error")
  expect_error(search_space(paradox::ps(x = paradox::p_uty())), "ParamUty", class = "gpbandits_error")
  expect_error(search_space(paradox::ps(x = paradox::p_dbl(0, 1, trafo = function(x) x^3))), "neither", class = "gpbandits_error")
  expect_error(search_space(paradox::ps(x = paradox::p_dbl(0, 1), .extra_trafo = function(x, param_set) x)), "together",
               class = "gpbandits_error")
  expect_error(search_space(paradox::ps()), "empty", class = "gpbandits_error")
  expect_s3_class(search_space(paradox::ps(x = paradox::p_dbl(0, 1, trafo = function(x) x^3)), transformed = FALSE), "search_domain")
})

# The fields of dials parameters, as dials 1.4 makes them.
dials_number <- function(type, lower, upper, trans = NULL) {
  structure(list(type = type, range = list(lower = lower, upper = upper), inclusive = c(TRUE, TRUE), trans = trans), class = c("quant_param", "param"))
}

test_that("dials parameters keep their scales and levels", {
  trans <- function(base) list(transform = function(x) log(x, base), inverse = function(x) base^x)
  by_hand <- structure(list(id = c("penalty", "trees", "batch", "activation", "prune"),
                            object = list(dials_number("double", -10, 0, trans(10)), dials_number("integer", 1L, 2000L),
                                          dials_number("integer", 2L, 7L, trans(2)), list(type = "character", values = c("relu", "tanh")),
                                          list(type = "logical", values = c(TRUE, FALSE)))), class = c("parameters", "data.frame"), row.names = 1:5)
  wanted <- search_space(penalty = param_real(1e-10, 1, log = TRUE), trees = param_integer(1, 2000), batch = param_integer(4, 128, log = TRUE),
                         activation = param_factor(c("relu", "tanh")), prune = param_logical())
  expect_equal(search_space(by_hand), wanted)
  by_hand$object[[2]]$range$upper <- quote(unknown())
  expect_error(search_space(by_hand), "trees", class = "gpbandits_error")
})
