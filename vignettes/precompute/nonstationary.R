# The sensitivity table of the article on environments that change: its Figure 1 (five horizons, K = 3,
# 64 runs each, the same functions and noise) with other constants. About six minutes of one core. Run from the
# package's folder:
#   Rscript vignettes/precompute/nonstationary.R
# Writes inst/extdata/nonstationary.csv. The functions are those of the article, read from it.
library(gpbandits)
article <- readLines("vignettes/nonstationary.Rmd")
chunk <- function(name) {
  from <- grep(paste0("^```\\{r ", name, "[,}]"), article)
  article[(from + 1):(from + which(article[-seq_len(from)] == "```")[1] - 1)]
}
for (name in c("method", "problems", "fit")) eval(parse(text = chunk(name)))
eval(parse(text = head(chunk("experiment1"), -2)))       # all but the run itself

settings <- data.frame(                                   # theta_q = C q^(-6/7), ridge c q^(1/7), sigma^2
  c = c(1, 4, 2, 2, 2, 2, 2),
  C = c(2.6, 2.6, 2.6, 2.6, 2.6, 2.6 / 5, 2.6 / 2),
  factor = c(1, 1, 1, 6, 6, 1, 1),                        # sigma^2 = factor g^2 (log T)^power
  power = c(1, 1, 0, 0, 1, 1, 1)
)
rows <- lapply(seq_len(nrow(settings)), function(i) {
  s <- settings[i, ]
  cells <- lapply(horizons, function(rounds) {
    one_cell(rounds, 3, rounds, cpd(rounds, detector(s$c, s$C), s$factor * g^2 * log(rounds)^s$power))
  })
  fit <- power_law(horizons, lapply(cells, `[[`, "regret"))
  print(data.frame(s, first = fit$mean[1], last = fit$mean[5], constant = fit$C, exponent = fit$exponent, low = fit$low,
             high = fit$high, found = mean(vapply(cells, function(cell) mean(cell$found), 0)),
             other = mean(vapply(cells, function(cell) mean(cell$other), 0))))
})
table <- do.call(rbind, rows)
table[] <- lapply(table, signif, 4)
path <- "inst/extdata/nonstationary.csv"
writeLines(c("# Figure 1 of the article on environments that change with other constants, by vignettes/precompute/nonstationary.R",
             sprintf("# seeds: the horizons, as in the article; 64 runs per horizon; %.0f s of processor time, one process", proc.time()[["user.self"]]),
             sprintf("# gpbandits %s, %s", utils::packageVersion("gpbandits"), R.version.string)), path)
suppressWarnings(utils::write.table(table, path, append = TRUE, sep = ",", row.names = FALSE, quote = FALSE))
