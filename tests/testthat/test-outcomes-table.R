# Several outcomes with everything else that a bandit has: every policy x pending rule x domain x contexts x engine plays
# with values that come one by one. Each outcome's posterior is that of a bandit that has this outcome alone; values
# made again from JSON continues to the bit.

table_domains <- list(arms = function() finite_domain(seq(0, 1, length.out = 9)), box = function() box_domain(0, 1),
                      product = function() product_domain(cbind(r = c(0, 0.7)), list(x1 = c(0, 1))),
                      space = function() search_space(r = param_factor(c("a", "b")), x1 = param_real(0, 1)))
table_policies <- list(ei = function() policy_ei(), ucb = function() policy_ucb(width_amm(1, 0.1)), ts = function() policy_ts(0.8),
                       epbo = function() baseline_constrained("epbo", 1:2, kernel_se(1), 1, penalty = 2, outcomes = list(y = to_maximize()))$config$policy,
                       uniform = function() policy_uniform(), ehvi = function() policy_ehvi(),
                       hypervolume = function() policy_hypervolume(1.5), scalar = function() policy_hypervolume(1, draws = 1),
                       drawn = function() policy_hypervolume(1, sampled = TRUE))
table_pendings <- list(ignore = pending_ignore, hallucinate = pending_hallucinate, penalise = pending_penalize)
table_contexts <- list(none = NULL, known = matrix(c(0.2, 0.9), 2, dimnames = list(NULL, "z")), open = "z")

trades <- function(policy) policy %in% c("ehvi", "hypervolume", "scalar", "drawn")

table_kernels <- function(domain, context) {
  on <- c("x1", if (!is.null(context)) "z")
  if (identical(domain$type, "search")) {
    return(list(kernel_matern(2.5, 0.4, dims = on) * kernel_categorical(0.6, dims = "r"),
                kernel_se(0.5, 2, dims = on) * kernel_categorical(0.3, dims = "r")))
  }
  list(kernel_matern(2.5, 0.4), kernel_se(0.5, 2))
}

play_outcomes <- function(row) {
  domain <- table_domains[[row$domain]]()
  context <- table_contexts[[row$context]]
  kernels <- table_kernels(domain, context)
  second <- if (trades(row$policy)) to_minimize(kernels[[2]], 0.05, 0.3) else at_most(0.4, kernels[[2]], 0.05, 0.3)
  b <- suppressMessages(gp_bandit(domain, kernels[[1]], 0.02, table_policies[[row$policy]](), mean = 0.1,
                                  pending = table_pendings[[row$pending]](), contexts = context, engine = row$engine,
                                  failures = row$failures, outcomes = list(y = to_maximize(), g = second, side = tracked(noise_var = 0.1))))
  contexts <- if (!is.null(context)) list(c(z = 0.2), c(z = 0.9)) else list(NULL)
  for (t in 1:7) {
    q <- b$suggest(context = contexts[[1 + t %% length(contexts)]])
    late <- b$history()
    y <- sin(6 * q$x1)
    if (t %% 3) b$observe(q$id, c(y = y))
    if (t > 2) b$observe(data.frame(id = t - 2, g = late$x1[t - 2]^2))
    if (t == 5) b$withdraw(3, outcome = "side")
    if (t == 6) b$observe(data.frame(id = c(1, 2, 4), side = c(1, 2, 3)))
    if (t == 6) b$amend(2, c(side = -1))
  }
  b
}

# The outcome alone: its observed values, in the order of the queries.
alone <- function(b, name, row) {
  domain <- table_domains[[row$domain]]()
  h <- b$history()
  k <- match(name, c("y", "g", "side"))
  kernels <- table_kernels(domain, table_contexts[[row$context]])
  sign <- if (name == "g" && trades(row$policy)) -1 else 1
  one <- gp_bandit(domain, kernels[[c(1, 2, 1)[k]]], c(0.02, 0.05, 0.1)[k], policy_uniform(), mean = sign * c(0.1, 0.3, 0.1)[k],
                   contexts = table_contexts[[row$context]], pending = table_pendings[[row$pending]]())
  for (i in which(!is.na(h[[name]]))) {
    z <- if (!is.null(h$z)) c(z = h$z[i])
    if (is.null(h$arm)) one$add(x = h[i, intersect(c("r", "x1"), names(h))], reward = sign * h[[name]][i], context = z)
    else if (row$domain == "product") one$add(x = h$x1[i], arm = h$arm[i], reward = sign * h[[name]][i], context = z)
    else one$add(arm = h$arm[i], reward = sign * h[[name]][i], context = z)
  }
  one
}

outcomes_table <- expand.grid(policy = names(table_policies), pending = names(table_pendings), domain = names(table_domains),
                              context = names(table_contexts), engine = c("auto", "other"), failures = c("forget", "avoid"),
                              stringsAsFactors = FALSE)
outcomes_table$engine <- with(outcomes_table, ifelse(
  engine == "auto", "auto", ifelse(domain != "arms" | context == "open", "dense", ifelse(policy %in% c("ts", "drawn"), "weights", "played"))))

test_that("outcomes work with every pending rule, domain, context and engine", {
  rows <- seq_len(nrow(outcomes_table))
  for (i in few_of(by_level(rows[rows %% 97 == 7], rows), 5)) {
    row <- outcomes_table[i, ]
    info <- paste(unlist(row), collapse = " ")
    set.seed(i)
    b <- play_outcomes(row)
    at <- switch(row$domain, arms = NULL, box = data.frame(x1 = c(0.1, 0.5)), product = cbind(r = c(0, 0.7), x1 = c(0.3, 0.8)),
                 space = data.frame(r = c("a", "b"), x1 = c(0.3, 0.8)))
    z <- if (row$context != "none") c(z = 0.9)
    got <- b$posterior(at, context = z)
    for (name in c("y", "g", "side")) {
      if (row$pending == "hallucinate" && name != "y") next
      one <- alone(b, name, row)$posterior(at, context = z)
      sign <- if (name == "g" && trades(row$policy)) -1 else 1
      expect_equal(got[[paste0(name, "_mean")]], sign * one$mean, tolerance = 2e-3, info = info)
      if (row$pending != "hallucinate") expect_equal(got[[paste0(name, "_sd")]], one$sd, tolerance = 2e-3, info = info)
    }
    limit <- if (trades(row$policy)) 1 else pnorm((0.4 - got$g_mean) / got$g_sd)
    expect_equal(got$feasible, rep_len(limit, nrow(got)), tolerance = 1e-6, info = info)
    twin <- from_json(as_json(b))
    expect_identical(twin$history(), b$history(), info = info)
    set.seed(1)
    next_one <- b$suggest(context = z)
    set.seed(1)
    expect_identical(twin$suggest(context = z), next_one, info = info)
  }
})
