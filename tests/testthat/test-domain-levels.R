# Tables of candidates with text, factors and logicals: one type with the levels of search spaces.

yields <- data.frame(ligand = rep(c("XPhos", "SPhos", "dppf"), each = 4), base = factor(rep(c("K", "Cs"), 6), c("Cs", "K", "Na")),
                     dry = rep(c(TRUE, TRUE, FALSE, FALSE), 3), temp = c(80, 100, 120, 90, 85, 95, 105, 115, 80, 108, 120, 110))
typed <- function(frame) lapply(frame[names(yields)], class)
refused <- function(code, arg) expect_identical(expect_error(code, class = "gpbandits_error")$argument, arg)

test_that("text, factors and logicals are levels, returned in their types", {
  domain <- finite_domain(yields)
  expect_identical(domain$names, names(yields))
  expect_output(print(domain), "12 arms, 4 inputs: ligand (XPhos/SPhos/dppf), base (Cs/K/Na), dry (FALSE/TRUE), temp", fixed = TRUE)
  b <- gp_bandit(domain, kernel_categorical(dims = c("ligand", "base", "dry")) * kernel_se(20, dims = "temp"), 0.01, policy_ei())
  expect_identical(b$posterior(yields[5, ]), b$posterior(arm = 5))
  b$add(yields[12:1, ], reward = 12:1 / 10)
  b$observe(b$suggest(fixed = list(ligand = "SPhos", dry = FALSE))$id, 1)
  seen <- b$history()
  expect_identical(seen$arm[1:12], 12:1)
  expect_identical(as.list(seen[12:1, names(yields)]), as.list(yields))
  expect_true(seen$arm[13] %in% 7:8)
  expect_identical(typed(b$best()), typed(yields))
  expect_identical(typed(b$suggest(arms = 1:3)), typed(yields))
  elsewhere <- b$posterior(data.frame(ligand = "dppf", base = "Na", dry = TRUE, temp = 33))
  expect_gt(elsewhere$sd, 0)
  refused(b$add(data.frame(ligand = "XPhos", base = "K", dry = TRUE, temp = 33), reward = 1), "x")
  refused(b$posterior(data.frame(ligand = "DPPF", base = "K", dry = TRUE, temp = 80)), "x")
  refused(b$posterior(data.frame(ligand = NA, base = "K", dry = TRUE, temp = 80)), "x")
  refused(b$suggest(fixed = list(ligand = "none")), "fixed")
  refused(b$suggest(fixed = list(ligand = NA)), "fixed")
  expect_identical(b$history(), rbind(seen, b$history()[14, ]))
})

test_that("the kernel of levels is that of a search space with the same inputs", {
  named <- c("XPhos", "SPhos", "dppf")
  phi <- data.frame(angle = c(1, 3, 2), mass = c(5, 0, 9), row.names = named)
  table <- expand.grid(ligand = named, dry = c(FALSE, TRUE), temp = c(80, 90, 100), stringsAsFactors = FALSE)
  for (features in list(NULL, list(ligand = phi[3:1, ]))) {
    space <- search_space(ligand = param_factor(named, features = features$ligand), dry = c(TRUE, FALSE),
                          temp = param_integer(80, 100))
    arms <- finite_domain(table, features = features)
    expect_identical(default_kernel(arms), default_kernel(space))
    one <- auto_bandit(arms, data = cbind(table[1:6, ], reward = 1:6))
    other <- auto_bandit(space, data = cbind(table[1:6, ], reward = 1:6))
    expect_equal(one$posterior(table), other$posterior(table), tolerance = 1e-8)
  }
})

test_that("the default kernel of levels is a product, with the main effects of numbers and of each factor", {
  arms <- finite_domain(yields, labels = FALSE)
  kernel <- default_kernel(arms)
  x <- arms$x
  matern <- function(r) (1 + sqrt(5) * r + 5 / 3 * r^2) * exp(-sqrt(5) * r)
  numbers <- matern(abs(outer(x[, "temp"], x[, "temp"], `-`)) / (0.4 * diff(range(yields$temp))))
  factors <- lapply(c("ligand", "base", "dry"), function(name) ifelse(outer(x[, name], x[, name], `==`), 1, 0.5))
  by_hand <- numbers * Reduce(`*`, factors) + 0.3 * (numbers + Reduce(`+`, factors))
  covariances <- function(arm) {
    b <- gp_bandit(arms, kernel, 0.01, policy_ei())
    b$add(arm = arm, reward = 2.2 + 0.01)
    b$posterior()$mean
  }
  expect_equal(sapply(1:12, covariances), by_hand, tolerance = 1e-12, ignore_attr = TRUE)
  # A product alone has no main effects to add.
  alone <- finite_domain(data.frame(ligand = c("a", "b", "a")), labels = FALSE)
  expect_identical(default_kernel(alone)$type, "categorical")
  # With values between, and with groups, it stays a product.
  expect_identical(default_kernel(search_space(ligand = c("a", "b"), temp = c(80, 100)))$type, "product")
  expect_identical(default_kernel(box_domain(c(x = 0), 1), c(group = NA))$type, "product")
})

test_that("distinct texts are labels, and `labels` decides otherwise", {
  named <- cbind(trial = letters[1:12], yields)
  expect_identical(finite_domain(named)[c("labels", "label_name", "names")],
                   list(labels = letters[1:12], label_name = "trial", names = names(yields)))
  expect_identical(finite_domain(named, labels = "trial"), finite_domain(named))
  expect_identical(finite_domain(named, labels = FALSE)$names, names(named))
  expect_identical(finite_domain(yields, labels = LETTERS[1:12])$labels, LETTERS[1:12])
  expect_identical(finite_domain(data.frame(id = 4:2, x = 1:3), labels = "id")[c("names", "labels")],
                   list(names = "x", labels = c("4", "3", "2")))
  expect_identical(finite_domain(data.frame(ligand = c("a", "b")))$names, "ligand")
  expect_identical(finite_domain(data.frame(size = ordered(c("S", "L"), c("S", "L")), x = 1:2))$x[, "size"], c(1, 2))
  b <- gp_bandit(cbind(id = LETTERS[1:12], yields), kernel_categorical(dims = "ligand"), 0.1, policy_ei())
  b$add_arms(data.frame(id = "Z", ligand = "dppf", base = "Na", dry = TRUE, temp = 100))
  b$add(arm = "Z", reward = 1)
  expect_identical(b$history()[["label"]], "Z")
  twice <- cbind(named, code = LETTERS[1:12])
  expect_error(finite_domain(twice), "trial.*code.*labels", class = "gpbandits_error")
  expect_identical(finite_domain(twice[c("trial", "code", "temp")], labels = "code")$names, c("trial", "temp"))
  for (bad in list("none", 1, letters, c("a", NA), NA, TRUE, mean, quote(z), list("a"))) refused(finite_domain(yields, labels = bad), "labels")
  refused(finite_domain(yields, labels = "ligand"), "labels")
  refused(finite_domain(transform(yields, ligand = replace(ligand, 2, NA))), "x")
  refused(finite_domain(transform(yields, ligand = replace(ligand, 2, ""))), "x")
  refused(finite_domain(transform(yields, dry = NA)), "x")
  for (bad in list(1, list(1), list(temp = data.frame(1:3)), list(dry = data.frame(1:2)), list(ligand = data.frame(u = 1:2)))) {
    refused(finite_domain(yields, features = bad), "features")
  }
})

test_that("files, JSON, copies and new arms keep the levels", {
  b <- auto_bandit(yields, n_initial = 2)
  b$observe(b$suggest(3)$id, c(1, 3, 2))
  expect_identical(from_json(as_json(b))$history(), b$history())
  path <- tempfile(fileext = ".journal")
  kept <- auto_bandit(yields, n_initial = 2, journal = path)
  kept$add(yields[3, ], reward = 2)
  kept$add_arms(data.frame(ligand = "dppf", base = "Na", dry = TRUE, temp = 100))
  q <- kept$suggest(arms = 13)
  expect_identical(as.character(q$base), "Na")
  kept$observe(q, q$temp / 100)
  expect_identical(open_bandit(path)$history(), kept$history())
  refused(kept$add_arms(data.frame(ligand = "new", base = "Na", dry = TRUE, temp = 100)), "x")
  refused(kept$add_arms(yields[2, ]), "x")
  changed <- finite_domain(yields)
  changed$x[1, 1] <- 4
  expect_error(auto_bandit(changed), class = "gpbandits_error")
})

test_that("a search over a table gets typed points; products and contexts combine with levels", {
  set.seed(1)
  value <- function(p) (p$ligand == "dppf") + p$dry - abs(p$temp - 110) / 10
  found <- maximize_bandit(function(p) value(p), yields, 12, n_initial = 3)
  expect_identical(found$par[c("ligand", "temp")], list(ligand = "dppf", temp = 108))
  expect_identical(found$observed$temp, 108)
  mixed <- product_domain(unique(yields[c("ligand", "dry")]), list(temp = c(80, 120)))
  b <- auto_bandit(mixed, n_initial = 4)
  for (i in 1:6) {
    q <- b$suggest()
    b$observe(q$id, value(q))
  }
  expect_identical(typed(cbind(b$history(), base = yields$base[1])), typed(yields))
  expect_identical(b$suggest(fixed = list(ligand = "SPhos", temp = 90))$temp, 90)
  b$add(data.frame(ligand = "XPhos", dry = TRUE, temp = 120), reward = 0)
  expect_output(print(mixed), "ligand (XPhos/SPhos/dppf), dry (FALSE/TRUE)", fixed = TRUE)
  set.seed(4)
  cheap <- maximize_bandit(function(p, z) z * value(p), yields, 6, fidelity = list(lower = 0.2, target = 1, cost = function(z) z))
  expect_identical(typed(cheap$history), typed(yields))
  gp_bandit(yields, kernel_categorical(dims = "ligand"), 0.1, policy_ei(cost = function(x) 1 + nchar(x$ligand)))$suggest()
  season <- auto_bandit(yields, contexts = "humidity", n_initial = 0)
  season$observe(season$suggest(context = 0.3)$id, 1)
  expect_identical(typed(season$suggest(2, context = 0.4)), typed(yields))
})

test_that("5,000 rows by 8 columns answer without a table of pairs of rows", {
  set.seed(2)
  table <- data.frame(lapply(1:5, function(j) sample(paste0("level", 1:(10 * j)), 5000, TRUE)), a = runif(5000), b = runif(5000),
                      c = sample(c(TRUE, FALSE), 5000, TRUE))
  domain <- finite_domain(setNames(table, letters[1:8]))
  expect_identical(dim(domain$x), c(5000L, 8L))
  b <- auto_bandit(domain, n_initial = 5)
  b$observe(b$suggest(6)$id, 1:6)
  expect_identical(nrow(b$suggest()), 1L)
})
