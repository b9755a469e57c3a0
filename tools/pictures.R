# Draws the pictures of the front page into man/figures:
#   Rscript tools/pictures.R           logo, decision tree, cheat sheet
#   Rscript tools/pictures.R volcano   and build/volcano.png (of `make demo`) in few colours
figures <- "man/figures"

# ---- SVG -------------------------------------------------------------------------------

escaped <- function(text) gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE), fixed = TRUE)

tag <- function(name, ..., inside = NULL) {
  values <- list(...)
  attributes <- paste0(sprintf(" %s=\"%s\"", gsub("_", "-", sub("^xml_", "xml:", names(values))), vapply(values, format, "")), collapse = "")
  if (is.null(inside)) sprintf("<%s%s/>", name, attributes) else sprintf("<%s%s>%s</%s>", name, attributes, inside, name)
}

words <- function(x, y, text, size = 14, fill = "#1c1f23", ...) tag("text", x = x, y = y, font_size = size, fill = fill, ..., inside = escaped(text))

write_svg <- function(file, width, height, title, ..., font = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif") {
  head <- sprintf(paste0("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" ",
                         "role=\"img\" font-family=\"%s\"><title>%s</title>"), width, height, width, height, font, escaped(title))
  writeLines(c(head, unlist(list(...)), "</svg>"), file.path(figures, file))
}

# ---- the hexagon: a posterior, its readings, and where it looks next ---------------------

logo <- function() {
  corner <- function(r) {
    angle <- (0:5) * pi / 3 + pi / 6
    paste(sprintf("%.1f,%.1f", 120 + r * cos(angle), 138 + r * sin(angle)), collapse = " ")
  }
  known <- data.frame(x = c(0.08, 0.3, 0.5, 0.9), y = c(0.2, 0.62, 0.42, 0.3))
  k <- function(a, b) exp(-outer(a, b, "-")^2 / (2 * 0.15^2))
  x <- seq(0, 1, length.out = 61)
  solve_k <- solve(k(known$x, known$x) + diag(1e-3, 4))
  mean <- 0.4 + drop(k(x, known$x) %*% solve_k %*% (known$y - 0.4))
  sd <- sqrt(pmax(1 - rowSums((k(x, known$x) %*% solve_k) * k(x, known$x)), 0)) * 0.26
  path <- function(u, v, first = "M") {
    paste0(first, paste(sprintf("%.1f %.1f", 32 + 176 * u, 190 - 125 * v), collapse = "L"))
  }
  next_x <- which.max(mean + sd)
  band <- paste0(path(x, mean + sd), path(rev(x), rev(mean - sd), "L"), "Z")
  write_svg("logo.svg", 240, 276, "gpbandits",
            tag("polygon", points = corner(136), fill = "#0b3c5d"), tag("polygon", points = corner(127), fill = "#f6f9fc"),
            "<clipPath id=\"h\">", tag("polygon", points = corner(127)), "</clipPath>",
            tag("g", clip_path = "url(#h)", inside = paste0(
              tag("path", d = band, fill = "#bcd7ea"), tag("path", d = path(x, mean), fill = "none", stroke = "#0b5a92", stroke_width = 4),
              tag("line", x1 = 32 + 176 * x[next_x], x2 = 32 + 176 * x[next_x], y1 = 60, y2 = 196, stroke = "#d55e00", stroke_width = 3,
                  stroke_dasharray = "7 6"),
              paste0(Map(function(x, y) tag("circle", cx = 32 + 176 * x, cy = 190 - 125 * y, r = 6.5, fill = "#0b3c5d"), known$x, known$y),
                     collapse = ""))),
            words(120, 216, "gpbandits", 24, "#0b3c5d", text_anchor = "middle", font_weight = "bold"))
}

# Monospaced lines must fit their box: a character is 0.6 of the font's size wide.
check_fit <- function(lines, most) {
  long <- lines[nchar(lines) > most]
  if (length(long)) stop("too long for its box: ", long[1])
}

# ---- the decision tree -----------------------------------------------------------------------

box <- function(x, y, width, lines, fill, code = FALSE) {
  if (code) check_fit(lines, (width - 22) / (0.6 * 13))
  height <- 14 + 19 * length(lines)
  paste0(tag("rect", x = x, y = y - height / 2, width = width, height = height, rx = 7, fill = fill, stroke = "#7f8b97"),
         paste0(vapply(seq_along(lines), function(k) {
           words(x + 11, y - height / 2 + 3 + 19 * k, lines[k], if (code) 13 else 13.5,
                 font_family = if (code) "ui-monospace, Consolas, monospace" else "inherit")
         }, ""), collapse = ""))
}

edge <- function(x1, y1, x2, y2) {
  tag("path", d = sprintf("M%g %gC%g %g %g %g %g %g", x1, y1, (x1 + x2) / 2, y1, (x1 + x2) / 2, y2, x2, y2), fill = "none",
      stroke = "#7f8b97", stroke_width = 1.6)
}

decision_tree <- function() {
  first <- list(list("A function that R can call", 40, c("maximize_bandit(), minimize_bandit()", "mlr3: tnr(\"gp_bandit\"); tidymodels: tune_gp_bandit()")),
                list("Experiments that people make", 115, c("auto_bandit(): $suggest(), $observe(); for a team: bandit_service()", "several aims, limits: outcomes; comparisons: rewards_preferences()")),
                list("Evaluations on many machines", 190, c("bandit_store(), work_on()")))
  theorem <- list(list("a function that does not change", "gp_ucb(), igp_ucb(), gp_ts()"), list("batches, delayed rewards", "gp_bucb(), gp_ucb_pe(), gp_ucb_sdf()"),
                  list("a function that changes", "gp_ucb_cpd(), gp_ucb_drift()"), list("limits that hold on average", "gp_ucb_noisy_constraints()"),
                  list("safety limits", "safe_opt()"), list("the region above a level", "gp_lse()"),
                  list("something else", "gp_bandit(), of parts"))
  y <- 265 + 44 * seq_along(theorem) - 44
  middle <- mean(range(y))
  parts <- c(
    vapply(first, function(row) {
      paste0(edge(190, 230, 240, row[[2]]), box(240, row[[2]], 245, row[[1]], "#e4eff8"), edge(485, row[[2]], 530, row[[2]]),
             box(530, row[[2]], 545, row[[3]], "#f4f1e6", code = TRUE))
    }, ""),
    edge(190, 230, 240, middle), box(240, middle, 245, c("Kernel and noise are known,", "and a theorem is wanted:"), "#e4eff8"),
    vapply(seq_along(theorem), function(k) {
      paste0(edge(485, middle, 520, y[k]), box(520, y[k], 240, theorem[[k]][[1]], "#e4eff8"), edge(760, y[k], 775, y[k]),
             box(775, y[k], 305, theorem[[k]][[2]], "#f4f1e6", code = TRUE))
    }, ""),
    box(10, 230, 180, c("What do you", "optimise?"), "#cfe3f3"))
  write_svg("decision.svg", 1085, max(y) + 30, paste(
    "Decision tree. A function that R can call: maximize_bandit(). Experiments that people make: auto_bandit().",
    "Many machines: bandit_store(). Kernel and noise known and a theorem wanted: gp_ucb() and the other named algorithms."), parts)
}

# ---- the cheat sheet --------------------------------------------------------------------------

# Comments begin in the same column, after code that is not too long.
aligned_comments <- function(lines) {
  parts <- strsplit(lines, " +# ")
  vapply(seq_along(lines), function(k) {
    if (length(parts[[k]]) < 2 || startsWith(lines[k], "# ")) lines[k]
    else sprintf("%-30s # %s", parts[[k]][1], parts[[k]][2])
  }, "")
}

cheat_sheet <- function() {
  column <- function(x, blocks) {
    y <- 96
    out <- character()
    for (name in names(blocks)) {
      lines <- aligned_comments(blocks[[name]])
      check_fit(lines[!startsWith(lines, "# ")], (386 - 22) / (0.6 * 10.6))
      height <- 34 + 16.5 * length(lines)
      out <- c(out, tag("rect", x = x, y = y, width = 386, height = height, rx = 7, fill = "#f4f7fa", stroke = "#c5d0da"),
               words(x + 12, y + 21, name, 15, "#0b3c5d", font_weight = "bold"),
               vapply(seq_along(lines), function(k) {
                 note <- startsWith(lines[k], "# ")
                 words(x + 12, y + 24 + 16.5 * k, sub("^# ", "", lines[k]), if (note) 11.5 else 10.6, if (note) "#555b63" else "#1c1f23",
                       font_family = if (note) "inherit" else "ui-monospace, Consolas, monospace", xml_space = "preserve")
               }, ""))
      y <- y + height + 10
    }
    if (y > 890) stop("the cheat sheet is longer than its page: ", y)
    out
  }
  blocks <- list(
    list("One call" = c("found <- maximize_bandit(f, domain, evaluations = 50)", "minimize_bandit(f, domain, 50, workers = 4)", "found$par; found$value; plot(found)",
                        "input_importance(found)", "# f may be noisy and may fail; all settings have defaults"),
         "Earlier results, cheaper runs" = c("maximize_bandit(f, domain, 50,",
                                        "  transfer = list(may = old),  # earlier campaigns",
                                        "  prior_optimum = prior_normal(x = c(0.7, 0.1)))",
                                        "race = race_folds(10)                # f(x, fold)",
                                        "fidelity = c(0.1, 1)              # f(x, fidelity)"),
         "Suggest and observe" = c("b <- auto_bandit(domain, data = known)", "q <- b$suggest(4)              # four points", "b$observe(q$id, c(2, 3, 1, 4)) # any order, any time",
                            "b$add(x = p, reward = 2)       # your own point", "b$amend(3, 2.5)                # correct a result", "b$fail(2); b$withdraw(4)       # failed; not made",
                            "b$best(); b$posterior(x); b$history()"),
         "Domains" = c("list(x = c(0, 1), rule = c(\"a\", \"b\"))", "search_space(lr = param_real(1e-4, 1, log = TRUE),", "  depth = param_integer(1, 12),",
                       "  rule = param_factor(c(\"gini\", \"info\")),", "  prune = param_logical(),", "  alpha = param_real(0, 1, when = ~ prune),", "  where = ~ depth <= 6 | prune)",
                       "param_shares(c(\"sand\", \"clay\"), upper = 0.8)  # mixtures", "param_factor(names, features = table)        # similar levels",
                       "finite_domain(x); box_domain(lower, upper)", "product_domain(rows, box)"),
         "Keep it" = c("saveRDS(b, file); readRDS(file)", "gp_ucb(..., journal = \"log\"); open_bandit(\"log\")", "as_json(b); from_json(text)",
                       "b$compact()                   # a shorter log", "set.seed(1)  # same seed, same choices")),
    list("With a theorem" = c("gp_ucb(x, kernel, noise_var)   # Srinivas et al. 2010", "igp_ucb(); gp_ts()             # Chowdhury, Gopalan 2017",
                              "gp_ucb_cpd(); gp_ucb_drift()   # changes", "gp_ucb_sdf(); gp_bucb(); gp_ucb_pe()  # late, batches", "gp_ucb_noisy_constraints()     # limits on average",
                              "safe_opt(); gp_lse(); rahbo(); stable_opt()", "# ?guarantees has them all in one table"),
         "Or of parts: gp_bandit()" = c(
           "kernel_se(lengthscale, variance, dims)", "kernel_matern(nu = 2.5); kernel_rq(); kernel_periodic()", "kernel_linear(); kernel_categorical(); k1 + k2; k1 * k2",
           "kernel_matrix(K); kernel_function(f)", "policy_ucb(width); policy_ts(width); policy_ei()", "policy_mes(); policy_kg(); policy_function(f)",
           "width_constant(2); width_igp(B, R, delta, gain)", "width_realized(); width_amm(); width_function(f)", "pending_hallucinate(); pending_censor(m)",
           "changes = change_detect(...); change_oracle(times)", "constraints = constraints_noisy(count, epoch, step)", "contexts = c(\"age\", \"hour\"); $suggest(context = )",
           "refit = refit_every(5, average = 10)      # ten models"),
         "Several outcomes, and other results" = c(
           "outcomes = list(gain = to_maximize(), tar = at_most(2))", "maximize_bandit(f, domain, 30, limits = ~ tar <= 2)", "b$front(); b$best(feasible = 0.5)",
           "rewards_binary(); rewards_counts(); rewards_ordinal(5)", "rewards_preferences(): $observe(id, prefer = id[2])", "rewards_preferences(\"rankings\"): $rank(id[c(3, 1, 2)])"),
         "When to stop" = c("stop_gap(tolerance); stop_prb(tolerance)", "stop_emsr(tolerance); stop_stalled(n)", "b$certificate()                # bound of the regret",
                            "check_model(b)                 # does the model fit?"),
         "Pictures" = c("plot(b); plot(b, type = \"slices\"); plot(b, type = \"sd\")", "plot(run); plot(comparison); plot(check_model(b))", "plot(found, \"dependence\"); plot(b, type = \"front\")", "ggplot2::autoplot(b)")),
    list("Simulate and compare" = c("p <- bandit_problem(x, reward, noise = 0.1,", "  delay = function(n) rpois(n, 5), change_points = 100)", "run <- run_bandit(b, p, rounds = 200)",
                                    "compare_bandits(list(UCB = function(p) ...),", "  problems, rounds, replications, seed)", "sample_gp(kernel, x); benchmark_function(\"branin\")",
                                    "evaluate_policy(log, b, \"ips\")"),
         "Theory in numbers" = c("information_gain(kernel, x, noise_var)", "information_gain(kernel, x, noise_var, rounds = )", "regret_bound(\"srinivas1\", ...)",
                                 "plan_experiments(...)          # a fixed design"),
         "Gaussian processes" = c("m <- gp_fit(x, y, kernel)      # marginal likelihood", "gp_regression(x, y, kernel, noise_var)", "predict(m, new); simulate(m, 3, newdata = new)"),
         "Many machines, many people" = c("s <- bandit_store(\"lab.db\", \"yield\")", "gp_bucb(..., store = s)        # begin", "work_on(s, f)                  # each worker",
                                          "b <- open_bandit(s)            # join or monitor", "bandit_service(s, port = 8080) # a page and JSON"),
         "Other packages" = c("tnr(\"gp_bandit\"); opt(\"gp_bandit\")   # mlr3", "tune_gp_bandit(workflow, resamples)  # tidymodels", "search_space(param_set)"),
         "When something is wrong" = c("# Each mistake stops with a gpbandits_error that names", "# the argument, what was given, what is allowed; the", "# bandit stays as it was.",
                                       "tryCatch(..., gpbandits_error = function(e) e$argument)")))
  write_svg("cheatsheet.svg", 1230, 890, "gpbandits on one page", tag("rect", width = 1230, height = 890, fill = "#fff"),
            words(20, 46, "gpbandits on one page", 30, "#0b3c5d", font_weight = "bold"),
            words(20, 74, "Find the best of many options when each evaluation is expensive and its result noisy. Rewards are maximised.", 15, "#555b63"),
            unlist(lapply(1:3, function(k) column(20 + 402 * (k - 1), blocks[[k]]))))
}

volcano_picture <- function() {
  source("vignettes/figures.R", local = TRUE)
  file.copy("build/volcano.png", file.path(figures, "volcano.png"), overwrite = TRUE)
  draw_in_few_colours(file.path(figures, "volcano.png"), 96)
}

logo()
decision_tree()
cheat_sheet()
if ("volcano" %in% commandArgs(TRUE)) volcano_picture()
