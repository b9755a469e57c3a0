# The help page of short answers, whose code tests/testthat/test-recipes.R runs. Layer: bandit.

#' How do I ...? Short recipes for common tasks
#'
#' Each recipe has a few lines of code that run alone after `library(gpbandits)`. Replace the numbers by yours.
#'
#' @section Experiments by hand:
#' **Eight experiments a day.** Ask in the morning, report in the evening, and save the object.
#' ```
#' lab <- auto_bandit(list(temperature = c(20, 90), hours = c(1, 8)))
#' today <- lab$suggest(8)
#' lab$observe(today$id, c(51, 57, 49, 60, 44, 58, 52, 61))
#' saveRDS(lab, file <- tempfile(fileext = ".rds"))
#' lab <- readRDS(file)                                      # tomorrow
#' ```
#'
#' **A plate or an oven with one temperature.** `shared` inputs are equal within the batch.
#' ```
#' plate <- auto_bandit(list(temperature = c(20, 90), dose = c(0, 5)))
#' plate$suggest(8, shared = "temperature")
#' ```
#'
#' **Settings in steps, and a setting that is fixed today.**
#' ```
#' lab <- auto_bandit(list(temperature = param_real(20, 90, step = 5), solvent = c("water", "ethanol")))
#' lab$suggest(fixed = list(solvent = "water"))
#' ```
#'
#' **Results from csv or Excel.** Any data.frame will do, such as that of `readxl::read_excel()`. Empty results are
#' pending.
#' ```
#' file <- tempfile(fileext = ".csv")
#' writeLines(c("temperature,hours,yield", "30,2,48", "60,5,59", "80,7,"), file)
#' lab <- auto_bandit(list(temperature = c(20, 90), hours = c(1, 8)), read.csv(file), reward = "yield")
#' write.csv(lab$suggest(3), file, row.names = FALSE)        # the next experiments, for Excel
#' write.csv(lab$history(), file, row.names = FALSE)         # everything so far
#' ```
#'
#' **Repeated measurements, and error bars.**
#' ```
#' lab <- auto_bandit(list(temperature = c(20, 90)))
#' q <- lab$suggest(2)
#' lab$observe(q$id[1], c(51.2, 50.7, 52.0))                 # three readings
#' lab$observe(q$id[2], 57, sd = 0.5)
#' ```
#'
#' **An experiment failed, was not made, or its result was wrong.**
#' ```
#' lab <- auto_bandit(list(temperature = c(20, 90)))
#' q <- lab$suggest(3)
#' lab$fail(q$id[1], reason = "flask broke")
#' lab$withdraw(q$id[2])
#' lab$observe(q$id[3], 75)
#' lab$amend(q$id[3], 57)
#' ```
#'
#' **Combinations that are impossible (known constraints).**
#' ```
#' boils <- c(water = 100, ethanol = 78)
#' space <- search_space(temperature = param_real(20, 110), solvent = param_factor(names(boils)),
#'                       where = ~ temperature < boils[solvent])
#' auto_bandit(space)$suggest(2)
#' ```
#'
#' **A mixture whose parts sum to 100 percent.**
#' ```
#' mix <- search_space(parts = param_shares(c("sand", "clay", "lime"), total = 100, most = 2),
#'                     heat = param_real(20, 90))
#' auto_bandit(mix)$suggest(2)
#' ```
#'
#' **Choose from a list of candidates, described by numbers.**
#' ```
#' molecules <- data.frame(weight = c(180, 194, 151), rings = c(1, 2, 1),
#'                         row.names = c("aspirin", "caffeine", "paracetamol"))
#' auto_bandit(finite_domain(molecules))$suggest(2)
#' ```
#'
#' **I expect the optimum at a certain point.**
#' ```
#' auto_bandit(list(temperature = c(20, 90)), prior_optimum = prior_normal(temperature = c(65, 10)))$suggest()
#' ```
#'
#' **A physical model is known, but not exact.** It is the prior mean, and the Gaussian process models the difference.
#' ```
#' physics <- function(points) 60 - (points$temperature - 60)^2 / 40
#' lab <- auto_bandit(list(temperature = c(20, 90)), model = gp_model(mean = physics))
#' q <- lab$suggest(2)
#' lab$observe(q$id, c(41, 52))
#' lab$best()
#' ```
#'
#' @section Results, limits and goals:
#' **A second result must stay below a limit.** See [outcomes].
#' ```
#' lab <- auto_bandit(list(temperature = c(20, 90)), outcomes = list(yield = to_maximize(), impurity = at_most(2)))
#' q <- lab$suggest(3)
#' lab$observe(data.frame(id = q$id, yield = c(51, 57, 54), impurity = c(1.2, 2.6, 1.7)))
#' lab$best()
#' ```
#'
#' **Two objectives that conflict (Pareto front).**
#' ```
#' both <- maximize_bandit(function(p) c(taste = p$x * (2 - p$x), price = p$x^2), list(x = c(0, 1.5)),
#'                         evaluations = 10, outcomes = list(taste = to_maximize(), price = to_minimize()))
#' both$bandit$front()
#' ```
#'
#' **Hit a target value.** The model is of the outcome, and the goal is a formula, see [goals].
#' ```
#' lab <- auto_bandit(list(speed = c(1, 10)), goal = ~ -abs(thickness - 5))
#' q <- lab$suggest(3)
#' lab$observe(data.frame(id = q$id, thickness = c(3.9, 7.5, 5.6)))
#' ```
#'
#' **A price test in money.** Visitors buy or not; the goal is the income per visitor.
#' ```
#' shop <- auto_bandit(list(price = c(5, 20)), goal = ~ price * buys, outcomes = list(buys = rewards_binary()))
#' for (day in 1:6) {
#'   q <- shop$suggest()
#'   shop$observe(q$id, c(buys = rbinom(1, 200, plogis(2 - q$price / 5))), size = 200)
#' }
#' shop$best()[c("price", "goal_mean", "goal_sd")]
#' ```
#'
#' **Ten groups of customers (contexts).** The group is given and not chosen.
#' ```
#' shop <- auto_bandit(list(price = c(5, 20)), contexts = list(group = paste("group", 1:10)))
#' q <- shop$suggest(context = list(group = "group 3"))
#' shop$observe(q$id, 14.5)
#' shop$best(context = list(group = "group 7"))
#' ```
#'
#' **An A/B test of several versions (best arm).**
#' ```
#' test <- auto_bandit(list(version = c("A", "B", "C")), rewards = rewards_binary())
#' q <- test$suggest(3)
#' test$observe(q$id, c(12, 31, 18), size = 100)             # 12, 31 and 18 of 100 visitors
#' test$best()
#' ```
#'
#' **Tasters can only compare.** See [rewards_preferences()].
#' ```
#' sugar <- seq(0, 10, by = 0.5)
#' taste <- gp_bandit(sugar, kernel_se(3, 4), policy = policy_duel(2), rewards = rewards_preferences())
#' q <- taste$suggest(2)
#' taste$observe(q$id, prefer = q$id[1])
#' ```
#'
#' **Eight sites for sensors.** Each next site has the largest variance, given the sites before it.
#' ```
#' map <- expand.grid(x = 1:12, y = 1:12)
#' gp_bandit(map, kernel_matern(1.5, 4), noise_var = 0.1, "variance", pending = "hallucinate")$suggest(8)
#' ```
#'
#' **The process drifts with time.** The day is a context. For rules that forget old results see [changes].
#' ```
#' lab <- auto_bandit(list(temperature = c(20, 90)), contexts = list(day = c(0, 60)))
#' lab$suggest(context = list(day = 3))
#' ```
#'
#' @section Read the results:
#' **What does ± mean?** It is the standard deviation of the expected result at a point, which is within two of them
#' with a probability of about 95 percent. A new measurement also has noise. [check_model()] tests this, see
#' [calibration].
#' ```
#' found <- maximize_bandit(function(x) -(x - 2)^2 + rnorm(1, sd = 0.1), list(x = c(1, 3)), evaluations = 12)
#' found$value + c(-2, 2) * found$sd
#' predict(found, data.frame(x = c(1.5, 2.5)))
#' check_model(found)
#' ```
#'
#' **Which input matters?**
#' ```
#' found <- maximize_bandit(function(x, y) -(x - 2)^2 + 0.1 * y, list(x = c(1, 3), y = c(0, 1)), evaluations = 15)
#' input_importance(found)
#' plot(found)
#' ```
#'
#' **Is another experiment worth it?** `at_least` is the gain that would pay for it.
#' ```
#' known <- data.frame(temperature = c(20, 35, 50, 65, 80, 90), reward = c(30, 44, 53, 59, 54, 47))
#' lab <- auto_bandit(list(temperature = c(20, 90)), known)
#' lab$expected_improvement(4, at_least = 1)
#' ```
#'
#' @section Functions of R:
#' **Tune hyperparameters.** Integers, levels and a logarithmic scale:
#' ```
#' loss <- function(p) (log10(p$rate) + 2)^2 + (p$depth - 4)^2 / 10 + (p$rule == "gini")
#' space <- list(rate = param_real(1e-4, 1, log = TRUE), depth = param_integer(1, 12), rule = c("gini", "entropy"))
#' minimize_bandit(loss, space, evaluations = 12)$par
#' ```
#'
#' **A simulator without noise.**
#' ```
#' minimize_bandit(function(x) (x - 2)^2, list(x = c(1, 3)), 10, model = gp_model(noise = "none"))
#' ```
#'
#' **More evaluations after the end.** Give the history as `data`.
#' ```
#' f <- function(x) -(x - 2)^2 + rnorm(1, sd = 0.1)
#' found <- maximize_bandit(f, list(x = c(1, 3)), evaluations = 10)
#' found <- maximize_bandit(f, list(x = c(1, 3)), evaluations = 5, data = found$history)
#' ```
#'
#' **Stop after some minutes, or when nothing improves.**
#' ```
#' maximize_bandit(function(x) -(x - 2)^2, list(x = c(1, 3)), evaluations = 50, time_limit = 600,
#'                 stop_when = stop_stalled(6))
#' ```
#'
#' **The same result every time.**
#' ```
#' set.seed(7)
#' maximize_bandit(function(x) -(x - 2)^2 + rnorm(1, sd = 0.1), list(x = c(1, 3)), evaluations = 8)$par
#' ```
#'
#' **A suggestion takes seconds.** Most of them go into the estimation of hyperparameters. Here it is made
#' after every tenth result only, and averages over four models:
#' ```
#' lab <- auto_bandit(list(x = c(0, 1)), model = gp_model(refit = refit_every(10, mean = "fit", average = 4)))
#' system.time(lab$suggest())
#' ```
#'
#' **A run that survives a crash.** The same call resumes it.
#' ```
#' file <- tempfile(fileext = ".log")
#' maximize_bandit(function(x) -(x - 2)^2, list(x = c(1, 3)), evaluations = 8, journal = file)
#' ```
#'
#' **Several cores.** With future or mirai, see [parallel-search].
#' ```
#' future::plan("multisession", workers = 2)
#' maximize_bandit(function(x) -(x - 2)^2, list(x = c(1, 3)), evaluations = 8, workers = 2)
#' future::plan("sequential")
#' ```
#'
#' **Several machines.** Each opens the database (here a file, or a connection to PostgreSQL) and runs the last line.
#' ```
#' store <- bandit_store(tempfile(fileext = ".sqlite"), "search")
#' search <- auto_bandit(list(x = c(1, 3)), store = store)
#' enough <- function(bandit) nrow(bandit$history()) >= 8
#' work_on(store, function(p) -(p$x - 2)^2, until = enough)
#' ```
#'
#' **A page in the browser for the team.** Open `url`; `token` is the password.
#' ```
#' store <- bandit_store(tempfile(fileext = ".sqlite"), "lab")
#' lab <- auto_bandit(list(temperature = c(20, 90)), store = store)
#' page <- bandit_service(store, port = 0)
#' page[c("url", "token")]
#' page$stop()
#' ```
#'
#' **Use the state in Python or JavaScript.**
#' ```
#' text <- as_json(auto_bandit(list(x = c(0, 1))))
#' ```
#' @seealso `vignette("faq", "gpbandits")` for questions with longer answers, `vignette("coming-from", "gpbandits")` for
#'   the code of other packages, [gpbandits] for a list of functions by task.
#' @concept A/B testing
#' @concept best arm
#' @concept csv
#' @concept Excel
#' @concept price test
#' @concept how to
#' @concept recipes
#' @concept cookbook
#' @concept examples
#' @name recipes
NULL
