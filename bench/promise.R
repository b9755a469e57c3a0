# Is the promise honest? Searches with known truth: what is promised at the recommended point (`value`, `sd`) beside the true mean there,
# what the recommended point loses, and how likely the model makes readings at fresh points.
#
#   Rscript bench/promise.R [cases=flat,bowl,...] [seeds=1:16] [evaluations=25] [methods=default,...] [out=FILE]
#   Rscript bench/promise.R report=TRUE [out=FILE]
#
# The whole suite of issue 29: cases=suite seeds=1:30 for each of evaluations=20, 50, 100 (hours); packages smoof (BBOB), and rpart, nnet, e1071 with mlbench (learners)
# where they are installed: cases that need one that is not are left out, and named. Method `mlr3mbo` (packages mlr3mbo, mlr3learners, DiceKriging, rgenoud, ranger):
# mlr3mbo's default surrogate of the same evaluations. `name@d`: a case in d inputs (flat, bowl, one, clean, learner, outliers, failing, edge:
# 2 to 9). `report` ends with the aims: truth within 2 sd in .90, beyond 3 sd in .03; of each case .85 and .06.
#
# Every search is a line of the file `out` (appended; searches that it has are not made again). `z`: (promise - truth) / sd; `loss`: the
# true mean at the recommended point beyond the best one, in units of the truth's sd over the space (flat: of the noise); `score`: mean log
# density of 200 fresh readings (clean cases: with noise of a thousandth of the truth's sd). `truth` of a case is minimised.
library(gpbandits)
source("bench/shared/script.R")
args <- arguments(cases = "small", seeds = "1:16", evaluations = "25", methods = "default", out = "", report = "FALSE",
                  label = "now")

# ---- cases: function(seed) gives `space`, `truth` (of a named list or vector), `noise` (sd), perhaps `reading(p)` ------------------------

unit_box <- function(d) box_domain(stats::setNames(rep(0, d), paste0("x", seq_len(d))), rep(1, d))

# A quadratic bowl with its optimum inside, of sd about one.
bowl_of <- function(d) {
  at <- stats::runif(d, 0.2, 0.8)
  weight <- stats::runif(d, 0.5, 1.5)
  function(p) 2.5 * sum(weight * (unlist(p) - at)^2) - 0.5
}

learner_like <- function(d, noise, outliers = 0, failures = 0) {
  at <- stats::runif(d, 0.2, 0.8)
  size <- rep_len(c(0.3, 0.15, 0.05, 0.1, 0.02), d) * stats::runif(d, 0.5, 1.5)
  truth <- function(p) 0.35 + sum(size * abs(unlist(p) - at)^1.7) + 0.05 * (p[[1]] - at[1]) * (p[[2]] - at[2])
  measurement <- function(p) {
    if (stats::runif(1) < failures) stop("diverged")
    if (stats::runif(1) < outliers) return(3)
    truth(p) + stats::rnorm(1, sd = noise)
  }
  list(space = unit_box(d), truth = truth, noise = noise, measurement = measurement)
}

# Nothing comes of points beyond an edge across the first input. (A promise there is broken for certain.)
behind_an_edge <- function(case) {
  edge <- stats::runif(1, 0.35, 0.65)
  free <- case$truth
  case$truth <- function(p) if (p[[1]] > edge) Inf else free(p)
  case$measurement <- function(p) {
    if (p[[1]] > edge) stop("diverged")
    free(p) + stats::rnorm(1, sd = case$noise)
  }
  case$as_played <- function(frame) transform(frame, x1 = x1 * edge)
  case
}

# A BBOB function in units of its sd over the box, with noise of so much of that; seeds go through functions 1 to 24, then through instances.
bbob <- function(seed, d, noise) {
  f <- smoof::makeBBOBFunction(dimensions = d, fid = (seed - 1) %% 24 + 1, iid = 1 + (seed - 1) %/% 24)
  at <- matrix(stats::runif(d * 2000, -5, 5), d)
  values <- apply(at, 2, f)
  # (Some of the functions have values over ten decades.)
  unit <- stats::sd(values)
  list(space = unit_box(d), truth = function(p) (f(10 * unlist(p) - 5) - mean(values)) / unit, noise = noise)
}

# Error of a learner on the held-out third of random splits: a reading is one split, the truth the mean of 30 (whose own error is in `truth_error`).
splits <- function(data, target, fit) {
  function(p, seed = NULL) {
    if (!is.null(seed)) {
      old <- .Random.seed
      on.exit(assign(".Random.seed", old, envir = globalenv()))
      set.seed(seed)
    }
    out <- sample(nrow(data), nrow(data) %/% 3)
    said <- fit(p, data[-out, ], data[out, ], target)
    mean(said != data[[target]][out])
  }
}

real_learner <- function(space, data, target, fit) {
  one <- splits(data, target, fit)
  truth <- function(p) mean(vapply(1:30, function(k) one(p, 5000 + k), 0))
  list(space = space, truth = truth, measurement = function(p) one(p), noise = NA_real_, few = 12)
}

complete_rows <- function(name) stats::na.omit(of_mlbench(name))

learners <- list(
  tree = function() {
    space <- search_space(cp = param_real(1e-4, 0.1, log = TRUE), minsplit = param_integer(2, 60), maxdepth = param_integer(1, 12))
    real_learner(space, complete_rows("Vehicle"), "Class", function(p, train, test, target) {
      model <- rpart::rpart(stats::reformulate(".", target), train, control = rpart::rpart.control(cp = p$cp, minsplit = p$minsplit,
                                                                                                 maxdepth = p$maxdepth, xval = 0))
      stats::predict(model, test, type = "class")
    })
  },
  network = function() {
    space <- search_space(size = param_integer(1, 8), decay = param_real(1e-5, 1, log = TRUE))
    real_learner(space, complete_rows("Glass"), "Type", function(p, train, test, target) {
      model <- nnet::nnet(stats::reformulate(".", target), train, size = p$size, decay = p$decay, maxit = 60, trace = FALSE)
      stats::predict(model, test, type = "class")
    })
  },
  machine = function() {
    space <- search_space(cost = param_real(1e-2, 1e3, log = TRUE), gamma = param_real(1e-4, 1, log = TRUE))
    real_learner(space, complete_rows("Sonar"), "Class", function(p, train, test, target) {
      stats::predict(e1071::svm(stats::reformulate(".", target), train, cost = p$cost, gamma = p$gamma), test)
    })
  }
)

needs <- c(bbob1 = "smoof", bbob10 = "smoof", bbob30 = "smoof", tree = "rpart", network = "nnet", machine = "e1071")

cases <- list(
  flat = function() list(space = unit_box(4), truth = function(p) 0.25, noise = 0.02),
  flat2 = function() list(space = unit_box(2), truth = function(p) 0.25, noise = 0.02),
  bowl = function() list(space = unit_box(4), truth = bowl_of(4), noise = 0.3),
  one = function() {
    at <- stats::runif(1, 0.2, 0.8)
    list(space = unit_box(4), truth = function(p) 6 * (p[[1]] - at)^2, noise = 0.4)
  },
  clean = function() list(space = unit_box(4), truth = bowl_of(4), noise = 0),
  wiggly = function() {
    phase <- stats::runif(2, 0, 2 * pi)
    list(space = unit_box(2), truth = function(p) sin(7 * p[[1]] + phase[1]) + cos(5 * p[[2]] + phase[2]), noise = 0.1)
  },
  # A factor that explains about a quarter of the variance, as in the issue.
  factor = function() {
    effect <- sample(c(-0.6, -0.2, 0.2, 0.6))
    at <- stats::runif(2, 0.2, 0.8)
    list(space = search_space(x1 = c(0, 1), x2 = c(0, 1), kind = param_factor(letters[1:4])),
         truth = function(p) 4 * (p$x1 - at[1])^2 + 2 * (p$x2 - at[2])^2 + effect[match(p$kind, letters)], noise = 0.15)
  },
  # Levels that have nothing in common: each its own bowl.
  separate = function() {
    at <- matrix(stats::runif(6, 0.2, 0.8), 3)
    height <- stats::rnorm(3, sd = 0.3)
    list(space = search_space(x1 = c(0, 1), x2 = c(0, 1), kind = param_factor(letters[1:3])), noise = 0.15,
         truth = function(p) {
           k <- match(p$kind, letters)
           height[k] + 4 * (p$x1 - at[k, 1])^2 + 4 * (p$x2 - at[k, 2])^2
         })
  },
  # Spaces whose points can be counted: whole numbers, and levels with main effects and interactions.
  grid = function() {
    bowl <- bowl_of(3)
    list(space = search_space(x1 = param_integer(0, 9), x2 = param_integer(0, 9), x3 = param_integer(0, 9)), noise = 0.3,
         truth = function(p) bowl(unlist(p) / 9))
  },
  levels = function() {
    main <- stats::rnorm(12)
    pairs <- stats::rnorm(4 * 4, sd = 0.4)
    at <- function(p) c(match(p$a, letters), match(p$b, letters), match(p$c, letters))
    list(space = search_space(a = param_factor(letters[1:4]), b = param_factor(letters[1:4]), c = param_factor(letters[1:4])),
         noise = 0.3, truth = function(p) sum(main[at(p) + c(0, 4, 8)]) + pairs[at(p)[1] + 4 * (at(p)[2] - 1)])
  },
  # An input that is there only where another one says so.
  conditional = function() {
    effect <- stats::rnorm(1, sd = 0.5)
    at <- stats::runif(2, 0.2, 0.8)
    space <- search_space(x1 = c(0, 1), extra = param_logical(), size = param_real(0, 1, when = ~ extra))
    list(space = space, noise = 0.15, as_played = function(frame) within(frame, size[!extra] <- NA),
         truth = function(p) 4 * (p$x1 - at[1])^2 + if (isTRUE(p$extra)) effect + 3 * (p$size - at[2])^2 else 0)
  },
  learner = function() learner_like(5, 0.01),
  outliers = function() learner_like(5, 0.01, outliers = 1 / 30),
  failing = function() learner_like(5, 0.01, failures = 1 / 10),
  nine = function() learner_like(9, 0.02)
)
sized <- list(
  flat = function(d) list(space = unit_box(d), truth = function(p) 0.25, noise = 0.02),
  bowl = function(d) list(space = unit_box(d), truth = bowl_of(d), noise = 0.3),
  one = function(d) {
    at <- stats::runif(1, 0.2, 0.8)
    list(space = unit_box(d), truth = function(p) 6 * (p[[1]] - at)^2, noise = 0.4)
  },
  clean = function(d) list(space = unit_box(d), truth = bowl_of(d), noise = 0),
  learner = function(d) learner_like(d, 0.01),
  outliers = function(d) learner_like(d, 0.01, outliers = 1 / 30),
  failing = function(d) learner_like(d, 0.01, failures = 1 / 10),
  edge = function(d) behind_an_edge(learner_like(d, 0.01))
)

# The case of a name, with its random parts by R's generator.
case_of <- function(name, seed) {
  d <- as.integer(sub(".*@", "", if (grepl("@", name)) name else "2"))
  plain <- sub("@.*", "", name)
  if (grepl("^bbob", plain)) return(bbob(seed, d, as.numeric(sub("bbob", "", plain)) / 100))
  if (grepl("@", name)) return(sized[[plain]](d))
  if (!is.null(learners[[name]])) learners[[name]]() else cases[[name]]()
}

missing_for <- function(name) {
  package <- needs[sub("@.*", "", name)]
  if (is.na(package)) return(NULL)
  package <- c(package, if (!grepl("^bbob", name)) "mlbench")
  package[!vapply(package, requireNamespace, NA, quietly = TRUE)]
}

groups <- list(small = c("flat", "bowl", "one", "clean"), all = names(cases), learners = names(learners),
               bbob = c("bbob1@2", "bbob10@2", "bbob30@2", "bbob10@5"),
               sizes = c("flat@2", "flat@9", "bowl@2", "bowl@6", "one@6", "one@9", "learner@3", "failing@3"))
groups$suite <- c(groups$all, groups$learners, groups$bbob, groups$sizes)

# ---- methods: function(case, reading, evaluations) gives `value`, `sd`, `par`, `predict(data.frame)` with `mean`, `sd` ------------------

searched <- function(...) {
  settings <- list(...)
  function(case, measurement, evaluations) {
    found <- do.call(minimize_bandit, c(list(measurement, case$space, evaluations), settings))
    list(value = found$value, sd = found$sd, par = found$par, predict = function(frame) predict(found, frame), bandit = found$bandit)
  }
}

asked <- function(case, measurement, evaluations) {
  bandit <- auto_bandit(case$space, direction = "minimize")
  for (k in seq_len(evaluations)) {
    point <- bandit$suggest()
    result <- tryCatch(measurement(as.list(point[-1])), error = function(e) NULL)
    if (is.null(result)) bandit$fail(point$id) else bandit$observe(point$id, result)
  }
  best <- bandit$best()
  list(value = best$mean, sd = best$sd, par = as.list(best[case$space$names]), predict = function(frame) predict(bandit, frame), bandit = bandit)
}

# mlr3mbo's default surrogate (a Kriging model with a fitted nugget where there is noise; of factors a random forest) of the very evaluations that `default`
# makes, without the logarithm that it takes of rewards. Its sd is of a reading where it fits a nugget, and is scored as that; its `value` is at our recommended point.
mlr3mbo_surrogate <- function(case, measurement, evaluations) {
  found <- minimize_bandit(measurement, case$space, evaluations)
  names <- case$space$names
  noisy <- !identical(case$noise, 0)
  typed <- function(frame) as.data.frame(lapply(frame[names], function(x) if (is.numeric(x)) x else factor(x, letters)))
  known <- cbind(typed(found$history), reward = found$history$reward)[!is.na(found$history$reward), ]
  plain <- all(vapply(known, is.numeric, NA))
  learner <- if (plain) mlr3mbo::default_gp(noisy) else mlr3mbo::default_rf(noisy)
  learner$train(mlr3::as_task_regr(known, target = "reward"))
  of <- function(frame) {
    said <- learner$predict_newdata(typed(frame))
    data.frame(mean = said$response, sd = pmax(said$se, 1e-8), of_measurements = noisy && plain)
  }
  best <- of(as.data.frame(as.list(found$par)))
  list(value = best$mean, sd = best$sd, par = found$par, predict = of)
}

methods <- list(default = searched(), ask_record = asked, mlr3mbo = mlr3mbo_surrogate)
variants <- Sys.getenv("PROMISE_VARIANTS")
if (nzchar(variants)) source(variants)                 # more entries of `methods` and `cases`, to choose defaults by

uniform_points <- function(space, n) {
  found <- gpbandits:::frame_of_quantiles(space, matrix(stats::runif(n * length(space$names)), n))
  as.data.frame(found)
}

one_search <- function(name, method, seed, evaluations) {
  set.seed(seed)
  case <- case_of(name, seed)
  count <- if (is.null(case$few)) 200 else case$few
  as_played <- if (is.null(case$as_played)) identity else case$as_played
  points <- function(n) as_played(uniform_points(case$space, n))
  fresh <- points(count)
  of <- function(frame) vapply(seq_len(nrow(frame)), function(i) case$truth(as.list(frame[i, , drop = FALSE])), 0)
  at <- of(fresh)
  spread <- if (stats::sd(at) > 0) stats::sd(at) else case$noise
  least <- min(at, if (is.null(case$few)) of(points(4000)))
  measurement <- if (is.null(case$measurement)) function(p) case$truth(p) + stats::rnorm(1, sd = case$noise) else case$measurement
  # (A learner's noise is what its readings at these points are off.)
  measurements <- if (is.na(case$noise)) vapply(seq_len(count), function(i) measurement(as.list(fresh[i, ])), 0)
              else at + stats::rnorm(count, sd = case$noise)
  noise <- if (is.na(case$noise)) stats::sd(measurements - at) else max(case$noise, 1e-3 * spread)
  set.seed(1000 + seed)
  started <- proc.time()
  found <- methods[[method]](case, measurement, evaluations)
  spent <- proc.time() - started
  truth <- case$truth(as.list(found$par))
  least <- min(least, if (!is.null(case$few)) truth)
  # What the truth of a learner is known to counts with the promise's sd.
  known_to <- if (is.na(case$noise)) noise / sqrt(30) else 0
  model_state <- found$predict(fresh)
  added <- if (isTRUE(model_state$of_measurements[1])) 0 else noise
  data.frame(label = args$label, case = name, method = method, seed = seed, evaluations = evaluations, promised = signif(found$value, 8),
             sd = signif(found$sd, 6), truth = signif(truth, 8), z = signif((found$value - truth) / sqrt(found$sd^2 + known_to^2), 5),
             loss = signif((truth - least) / spread, 5),
             score = signif(mean(stats::dnorm(measurements, model_state$mean, sqrt(model_state$sd^2 + added^2), log = TRUE)) + log(spread), 5),
             off = signif(sqrt(mean((model_state$mean - at)^2)) / spread, 5), processor = signif(sum(spent[1:2]), 4))
}

main <- function() {
  wanted <- unlist(lapply(words(args$cases), function(name) if (name %in% names(groups)) groups[[name]] else name))
  done <- searches_done(args$out, c("label", "case", "method", "seed", "evaluations"))
  rows <- NULL
  absent <- Filter(function(name) length(missing_for(name)), wanted)
  for (name in absent) message(name, ": not run, without package ", paste(missing_for(name), collapse = ", "))
  for (name in setdiff(wanted, absent)) for (method in words(args$methods)) for (seed in numbers(args$seeds)) {
    evaluations <- numbers(args$evaluations)
    key <- data.frame(label = args$label, case = name, method = method, seed = seed, evaluations = evaluations)
    if (is_done(done, key)) next
    row <- tryCatch(suppressWarnings(one_search(name, method, seed, evaluations)), error = function(e) {
      message(name, " ", seed, ": ", conditionMessage(e))
      NULL
    })
    if (nzchar(args$out) && !is.null(row)) keep_rows(row, args$out)
    rows <- rbind(rows, row)
  }
  print(promise_table(if (nzchar(args$out)) utils::read.csv(args$out) else rows), row.names = FALSE)
}

promise_table <- function(rows) {
  parts <- split(rows, list(factor(rows$case, unique(rows$case)), factor(rows$label, unique(rows$label)), rows$method, rows$evaluations),
                 drop = TRUE)
  out <- lapply(parts, function(part) {
    data.frame(case = part$case[1], label = part$label[1], method = part$method[1], evaluations = part$evaluations[1], searches = nrow(part),
               within_2 = round(mean(abs(part$z) <= 2), 2), beyond_3 = round(mean(!(abs(part$z) <= 3)), 2),
               mean_z = round(mean(abs(part$z)), 1), loss = round(mean(part$loss), 3), log_score = round(mean(part$score), 2),
               rmse = round(mean(part$off), 2), seconds = round(mean(part$processor), 1))
  })
  do.call(rbind, out)
}

markdown <- function(table) {
  cells <- matrix(vapply(table, function(column) format(column, trim = TRUE), character(nrow(table))), nrow(table))
  line <- function(words) paste0("| ", paste(words, collapse = " | "), " |")
  c(line(names(table)), line(ifelse(vapply(table, is.numeric, NA), "---:", "---")), apply(cells, 1, line), "")
}

# The aims, over all searches of a table and of the worst case.
aims <- function(rows) {
  by_case <- promise_table(rows)
  sprintf("All %d searches: within 2 sd %.3f (aim .90), beyond 3 sd %.3f (aim .03); the worst case %.2f (aim .85) and %.2f (aim .06).", nrow(rows),
          mean(abs(rows$z) <= 2), mean(!(abs(rows$z) <= 3)), min(by_case$within_2), max(by_case$beyond_3))
}

if (args$report == "TRUE") writeLines(c(aims(utils::read.csv(args$out)), "", markdown(promise_table(utils::read.csv(args$out))))) else main()
