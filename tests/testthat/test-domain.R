# Every generic on every kind of domain: properties that need no reference.

kinds <- list(
  arms = finite_domain(cbind(a = c(0, 0.3, 0.3, 2), b = c(5, 1, 2, 1))),
  one_arm = finite_domain(3),
  box = box_domain(c(u = -5, v = 0), c(10, 15)),
  mixed_box = box_domain(c(size = 1, rate = 1e-3, count = 2, share = 0), c(20, 10, 300, 1), integer = c("size", "count"),
                         log = c("rate", "count")),
  product = product_domain(cbind(a = c(1, 3, 8), b = c(0, 0, 2)), box_domain(c(u = 0), c(4))),
  mixed_product = product_domain(c(2, 5), box_domain(c(size = 1, rate = 1e-3, share = 0), c(9, 10, 1), integer = "size", log = "rate"))
)
each_kind <- function(check) for (name in names(kinds)) check(kinds[[name]], name)

# What a point must be, from the definition of the kinds alone.
lies_within <- function(domain, x) {
  if (domain$type == "finite") return(all(apply(x, 1, function(p) any(colSums(abs(t(domain$x) - p)) == 0))))
  if (domain$type == "product") {
    first <- seq_along(domain$rows$names)
    return(lies_within(domain$rows, x[, first, drop = FALSE]) && lies_within(domain$box, x[, -first, drop = FALSE]))
  }
  whole <- x[, domain$integer, drop = FALSE]
  all(t(x) >= domain$lower) && all(t(x) <= domain$upper) && all(whole == round(whole))
}

test_that("samples, designs and spread points are points of the domain, in the requested number", {
  each_kind(function(domain, name) {
    set.seed(1)
    for (make in list(sample_points, design_points)) for (count in c(1, 7, 40)) {
      points <- make(domain, count)
      x <- from_model_inputs(domain, points$inputs)
      expect_true(lies_within(domain, x), info = name)
      expect_equal(nrow(x), count, info = name)
      expect_identical(length(points$arm), nrow(x), info = name)
    }
    spread <- spread_points(domain, 40)
    expect_true(lies_within(domain, from_model_inputs(domain, spread$inputs)), info = name)
    expect_identical(spread, spread_points(domain, 40), info = name)
    expect_gte(point_total(spread), min(40, point_count(domain)))
  })
})

test_that("a point is found again by its inputs and by its number", {
  each_kind(function(domain, name) {
    set.seed(2)
    points <- sample_points(domain, 25)
    x <- from_model_inputs(domain, points$inputs)
    again <- find_points(domain, x)
    expect_identical(again$arm, points$arm, info = name)
    expect_equal(unname(again$inputs), unname(points$inputs), tolerance = 1e-14, info = name)
    expect_identical(arms_at(domain, x), points$arm, info = name)
    labels <- point_labels(domain, points$arm, points$inputs)
    expect_equal(unname(do.call(cbind, labels[domain$names])), unname(x), tolerance = 1e-14, info = name)
    if (!is.null(arm_count(domain))) expect_identical(labels$arm, points$arm + 1L, info = name)
  })
  both <- find_points(kinds$product, x = c(0.5, 3), arm = c(3, 1))
  expect_identical(both, find_points(kinds$product, rbind(c(8, 2, 0.5), c(1, 0, 3))))
  expect_identical(find_points(kinds$product, c(0.5, 3), arm = 2)$arm, c(1L, 1L))
})

test_that("an invalid point is an error in words", {
  refuses <- function(code, arg) expect_error(code, class = "gpbandits_error", regexp = paste0("`", arg, "`"))
  each_kind(function(domain, name) {
    refuses(find_points(domain, matrix(0, 1, 9)), "x")
    refuses(find_points(domain, matrix(1e9, 1, length(domain$names)), arg = "data"), "data")
    refuses(find_points(domain, NULL), "x|`arm")
  })
  refuses(find_points(kinds$arms, c(0, 5), arm = 1), "arm")
  for (arm in list(0, 5, 1.5, "a", NA)) refuses(find_points(kinds$arms, NULL, arm = arm), "arm")
  refuses(find_points(kinds$box, c(0, 0), arm = 1), "arm")
  refuses(find_points(kinds$mixed_box, c(1.5, 1, 2, 0)), "x")
  for (arm in list(0, 4, c(1, 2))) refuses(find_points(kinds$product, 0.5, arm = arm), "arm")
  refuses(find_points(kinds$product, NULL, arm = 1), "x")
  refuses(find_points(kinds$product, c(1, 0, 4.1)), "x")      # a row, outside the box
  refuses(find_points(kinds$product, c(1, 2, 1)), "x")        # in the box, no row
  refuses(find_points(kinds$product, 4.1, arm = 1), "x")
})

test_that("conversion to the model's inputs and back is exact, and ranges agree", {
  each_kind(function(domain, name) {
    set.seed(3)
    x <- from_model_inputs(domain, sample_points(domain, 30)$inputs)
    expect_equal(from_model_inputs(domain, to_model_inputs(domain, x)), x, tolerance = 1e-14, info = name)
    u <- to_model_inputs(domain, x)
    ranges <- input_ranges(domain)
    expect_true(all(t(u) >= ranges[1, ] - 1e-12 & t(u) <= ranges[2, ] + 1e-12), info = name)
    expect_identical(u[, log_inputs(domain)], log(x[, log_inputs(domain)]), info = name)
    expect_identical(u[, !log_inputs(domain)], x[, !log_inputs(domain)], info = name)
  })
  expect_equal(unname(input_ranges(kinds$mixed_product)), cbind(c(2, 5), c(1, 9), log(c(1e-3, 10)), c(0, 1)))
})

test_that("the nearest point is the nearest, and a point is nearest to itself", {
  each_kind(function(domain, name) {
    set.seed(4)
    points <- sample_points(domain, 20)
    again <- nearest_points(domain, points$inputs)
    expect_equal(unname(again$inputs), unname(points$inputs), tolerance = 1e-13, info = name)
    ranges <- input_ranges(domain)
    anywhere <- sweep(sweep(matrix(runif(40 * ncol(ranges), -0.5, 1.5), 40), 2, ranges[2, ] - ranges[1, ], "*"), 2, ranges[1, ], "+")
    near <- nearest_points(domain, anywhere)
    expect_true(lies_within(domain, from_model_inputs(domain, near$inputs)), info = name)
    if (name %in% c("arms", "box", "product")) {
      gap <- rowSums((near$inputs - anywhere)^2)
      others <- sample_points(domain, 500)$inputs
      least <- apply(anywhere, 1, function(p) min(colSums((t(others) - p)^2)))
      expect_true(all(gap <= least + 1e-12), info = name)
    }
  })
})

test_that("uniform samples are uniform, for arms, integers and rows", {
  set.seed(5)
  even <- function(x, expected) expect_gt(chisq.test(table(factor(x, expected)))$p.value, 1e-3)
  even(sample_points(kinds$arms, 4000)$arm, 0:3)
  even(sample_points(box_domain(1, 6, integer = TRUE), 6000)$inputs, 1:6)
  product <- sample_points(kinds$product, 3000)
  even(product$arm, 0:2)
  expect_gt(ks.test(product$inputs[, 3] / 4, "punif")$p.value, 1e-3)
})

test_that("a design has a point in every slice of the box, and every row equally often", {
  set.seed(6)
  slices <- function(u, count) sort(ceiling(u * count))
  x <- design_points(kinds$box, 12)$inputs
  expect_equal(slices((x[, 1] + 5) / 15, 12), 1:12)
  product <- design_points(kinds$product, 9)
  expect_identical(as.vector(table(product$arm)), rep(3L, 3))
  expect_equal(slices(product$inputs[, 3] / 4, 9), 1:9)
  expect_setequal(design_points(kinds$arms, 4)$arm, 0:3)
  expect_identical(nrow(design_points(kinds$product, 0)$inputs), 0L)
})

test_that("domains report their size and compare as equal or different", {
  expect_identical(vapply(kinds, point_count, 0)[["arms"]], 4)
  expect_identical(vapply(kinds, function(d) is.finite(point_count(d)), NA),
                   c(arms = TRUE, one_arm = TRUE, box = FALSE, mixed_box = FALSE, product = FALSE, mixed_product = FALSE))
  expect_null(arm_count(kinds$box))
  expect_equal(arm_count(kinds$product), 3)
  expect_identical(all_points(kinds$arms)$arm, 0:3)
  expect_null(all_points(kinds$product))
  same <- outer(names(kinds), names(kinds), Vectorize(function(a, b) same_points(kinds[[a]], kinds[[b]])))
  expect_identical(same, diag(length(kinds)) == 1)
})

test_that("points for a kernel are numbers if it has a matrix", {
  both <- kernel_matrix(diag(4)) * kernel_se(1)
  expect_equal(points_of_domain(kinds$arms, kernel_se(1)), kinds$arms$x)
  expect_equal(unname(points_of_domain(kinds$arms, both)[, 3]), 1:4)
  expect_error(points_of_domain(kinds$arms, kernel_matrix(diag(3))), class = "gpbandits_error")
  expect_error(sample_gp(kernel_se(1), kinds$product), class = "gpbandits_error", regexp = "product")
  points <- points_in_contexts(kinds$product, find_points(kinds$product, 1, arm = 2), rbind(7, 9))
  expect_equal(points, rbind(c(3, 0, 1, 7, 1), c(3, 0, 1, 9, 1)))
})

test_that("only the files domain-*.R use the type of a domain", {
  folder <- test_path("..", "..", "R")
  skip_if_not(dir.exists(folder), "only in the repository")
  files <- list.files(folder, "[.]R$", full.names = TRUE)
  files <- files[!grepl("^domain", basename(files))]
  asks <- grepl("is_finite_domain|domain\\$type|\"(finite|box|product)_domain\"", unlist(lapply(files, readLines)))
  expect_false(any(asks))
})

test_that("each type of domain has the methods that every domain needs, and the others have a default", {
  namespace <- asNamespace("gpbandits")
  has <- function(generic, class) exists(paste0(generic, ".", class), envir = namespace, inherits = FALSE)
  # The generics of domains, found in the namespace.
  is_generic <- function(name) {
    value <- get(name, namespace)
    is.function(value) && identical(names(formals(value))[1], "domain") && "UseMethod" %in% all.names(body(value))
  }
  all_generics <- Filter(is_generic, ls(namespace))
  expect_setequal(unlist(domain_methods), all_generics)
  expect_identical(anyDuplicated(unlist(domain_methods)), 0L)
  all_kinds <- c(kinds, list(search = search_space(a = param_real(0, 1))))
  classes <- unique(vapply(all_kinds, function(domain) class(domain)[1], ""))
  expect_length(classes, 4)
  for (class in classes) {
    lacking <- Filter(function(generic) !has(generic, class), domain_methods$required)
    expect_identical(unname(lacking), character(), label = paste("methods that", class, "lacks"))
  }
  has_default <- function(generic) has(generic, "default") || has(generic, "bandit_domain")
  without_default <- Filter(Negate(has_default), domain_methods$optional)
  expect_identical(unname(without_default), character())
})

test_that("a type of domain that lacks a method is an error that names both", {
  odd <- structure(list(type = "odd", names = c("a", "b")), class = c("odd_domain", "bandit_domain"))
  for (generic in domain_methods$required) {
    calling <- as.call(c(as.name(generic), list(odd), rep(list(1), length(formals(get(generic))) - 1)))
    expect_error(eval(calling), paste0("odd_domain has no method for ", generic, "()"), fixed = TRUE)
  }
  # The defaults: uncountable points without numbers.
  expect_identical(point_count(odd), Inf)
  expect_null(arm_count(odd))
  expect_identical(log_inputs(odd), c(FALSE, FALSE))
  expect_identical(arms_at(odd, matrix(0, 3, 2)), rep(NA_integer_, 3))
})
