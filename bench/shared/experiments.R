# Tables of real experiments, those of GPBANDITS_DATA/experiments (18 with a README of their sources).

folder <- file.path(Sys.getenv("GPBANDITS_DATA", "../shared/data"), "experiments")
half1 <- c("buchwald_a", "perovskites", "agnp", "p3ht", "alkox", "oer_plate_3496", "photo_wf3", "suzuki_i")
half2 <- c("suzuki_edbo", "autoam", "crossed_barrel", "benzylation", "colors_bob", "lnp3", "thin_film", "fullerenes",
           "electrochem")
arylation <- "direct_arylation"

index <- utils::read.csv(file.path(folder, "index.csv"))
index$file <- sub("[.]csv$", "", index$file)

# Inputs, and outcomes as numbers of which more is better.
read_table <- function(name) {
  rows <- utils::read.csv(file.path(folder, paste0(name, ".csv")))
  if (name == arylation) return(list(inputs = rows[names(rows) != "yield"], outcomes = rows["yield"]))
  entry <- index[index$file == name, ]
  split <- function(text) strsplit(text, " ", fixed = TRUE)[[1]]
  outcomes <- rows[split(entry$outcomes)]
  signs <- ifelse(split(entry$directions) == "minimize", -1, 1)
  list(inputs = rows[split(entry$inputs)], outcomes = as.data.frame(Map(`*`, outcomes, signs)))
}

# The settings, the rows of each, and which settings are among the best 1%.
pool_of <- function(name) {
  table <- read_table(name)
  key <- do.call(paste, table$inputs)
  rows <- unname(split(seq_along(key), factor(key, unique(key))))
  inputs <- table$inputs[!duplicated(key), , drop = FALSE]
  rownames(inputs) <- NULL
  value <- vapply(rows, function(these) mean(table$outcomes[these, 1]), 0)
  enough <- sort(value, decreasing = TRUE)[max(3, ceiling(0.01 * length(value)))]
  list(name = name, inputs = inputs, rows = rows, outcomes = table$outcomes, value = value, best = value >= enough)
}

# Results of experiments: result(arm) is the next row of the setting.
results_of <- function(pool, seed) {
  set.seed(1000 + seed)
  order <- lapply(pool$rows, function(these) these[sample.int(length(these))])
  asked <- integer(length(order))
  function(arm) {
    asked[arm] <<- asked[arm] + 1L
    pool$outcomes[order[[arm]][(asked[arm] - 1L) %% length(order[[arm]]) + 1L], , drop = FALSE]
  }
}
