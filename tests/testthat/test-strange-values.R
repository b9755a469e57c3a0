# What only calls itself something, and strings that are no text: refused by name, by every door that takes such things
# (make fuzz gives a long list of them to every argument of every export).

refused <- function(code) expect_error(code, class = "gpbandits_error")

test_that("strings are shown whatever their bytes are, and are no names unless they are text", {
  bytes <- "\xff\xfe"
  Encoding(bytes) <- "bytes"
  latin <- "caf\xe9"
  Encoding(latin) <- "latin1"
  for (bad in c(bytes, "\xff\xfe", strrep("x", 1e5))) {
    refused(kernel_se(bad))
    refused(benchmark_function(bad))
    refused(pending_censor(1, unit = bad))
    error <- refused(width_constant(bad))
    expect_lt(nchar(conditionMessage(error)), 300)
  }
  for (bad in c(bytes, "\xff\xfe")) {
    refused(box_domain(0, 1, names = bad))
    refused(search_space(a = c(bad, "b")))
    refused(policy_function(mean, bad))
  }
  expect_identical(box_domain(0, 1, names = latin)$names, latin)
})

test_that("numbers and data.frames of a broken or foreign class are refused", {
  for (bad in list(structure(1, class = "data.frame"), structure("a", class = "integer64"), structure(1, class = "units"),
                   structure(99L, levels = "a", class = "factor"), as.Date("2026-01-01"))) {
    refused(policy_pi(bad))
    refused(gp_ucb(1:3, kernel_se(1), bad))
    refused(gp_ucb(bad, kernel_se(1), 0.1))
  }
  refused(finite_domain(structure(list(1:3, 1), class = "data.frame", row.names = 1:3)))
  refused(gp_regression(structure(list(x = 1), class = "data.frame"), 1, kernel_se(1), 0.1))
  # What is a number by another name is taken.
  expect_identical(policy_pi(I(0.1))$xi, 0.1)
  expect_identical(finite_domain(structure(1:3, dim = 3L))$x, finite_domain(1:3)$x)
})

test_that("what only calls itself a result, a problem or a bandit is refused by its methods", {
  bodies <- list(list(), list(kind = "ts", type = "sum", config = 1, data = 1, bandit = 1, rounds = 1), 1, "a", function() 1)
  for (class in c("bandit_run", "bandit_comparison", "bandit_maximum", "bandit_problem", "bandit_test_function", "bandit_check",
                  "bandit_store", "gp_regression", "GPBandit", "bandit_kernel", "bandit_width", "bandit_policy")) {
    for (body in bodies) {
      forged <- structure(body, class = class)
      for (generic in c("print", "summary", "plot", "predict", "as.data.frame")) {
        method <- utils::getS3method(generic, class, optional = TRUE)
        if (is.null(method) || !identical(topenv(environment(method)), asNamespace("gpbandits"))) next
        refused(method(forged))
      }
    }
  }
  for (domain in c("finite", "box", "product", "search")) {
    forged <- structure(list(type = domain, names = "x1", x = 1, lower = 1, upper = 0), class = c(paste0(domain, "_domain"), "bandit_domain"))
    refused(gp_ucb(forged, kernel_se(1), 0.1))
    refused(max_information_gain(kernel_se(1), forged, 3, 0.1))
    refused(print(forged))
  }
})
