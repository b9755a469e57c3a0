# Experiments given as a table: spreadsheets as people have them.

sheet_of <- function(..., read = utils::read.csv) {
  file <- tempfile(fileext = ".csv")
  writeLines(c(...), file)
  read(file)
}

reactions <- function() {
  search_space(base = c("KOH", "NaOH"), temp = c(20, 80),
               additive = param_factor(c("LiCl", "none"), when = ~ base == "KOH"))
}

test_that("a spreadsheet is used as it is: names, empty cells, further columns, status", {
  data <- sheet_of("run,date,base,temp,additive,Yield (%),status,operator",
                   "1,2026-03-01,KOH,25,LiCl,56.1,ok,Ann",
                   "2,2026-03-02,NaOH,60,,71,,Bo",
                   "3,2026-03-03,KOH,80,none,60,failed,Ann",
                   "4,2026-03-04,NaOH , 40,,,,",
                   ",,,,,,,")
  expect_message(b <- auto_bandit(reactions(), data, reward = "Yield (%)"), "because their status is \"failed\": row 3[.]")
  seen <- b$history()
  expect_identical(seen$status, c("observed", "observed", "failed", "pending"))
  expect_identical(seen[["Yield (%)"]], c(56.1, 71, NA, NA))
  expect_identical(seen$additive, c("LiCl", NA, "none", NA))
  expect_identical(seen$base[4], "NaOH")
  expect_identical(seen$run, c(1, 2, 3, 4))
  expect_identical(seen$operator, c("Ann", "Bo", "Ann", NA))
  expect_s3_class(seen$date, "Date")
  expect_identical(format(seen$date[2]), "2026-03-02")
  expect_false("reward" %in% names(seen))
  # Results are reported under that name, and all comes back in another bandit.
  b$observe(data.frame(id = 4, Yield = 80, check.names = FALSE) |> stats::setNames(c("id", "Yield (%)")))
  expect_identical(b$history()[["Yield (%)"]][4], 80)
  again <- suppressMessages(auto_bandit(reactions(), b$history(), reward = "Yield (%)"))
  expect_identical(again$history()[c("run", "operator", "date")], b$history()[c("run", "operator", "date")])
  expect_equal(b$best()$mean, again$best()$mean)
})

test_that("the name of the outcome is on plots, prints and results of searches", {
  data <- data.frame(x = c(0.1, 0.4, 0.9), loss = c(3, 1, 4))
  set.seed(1)
  named <- auto_bandit(list(x = c(0, 1)), data, "minimize", reward = "loss")
  set.seed(1)
  plain <- auto_bandit(list(x = c(0, 1)), stats::setNames(data, c("x", "reward")), "minimize")
  expect_identical(named$suggest(3), plain$suggest(3))
  expect_identical(named$best(), plain$best())
  expect_identical(summary(named)$reward, summary(plain)$reward)
  expect_identical(gpbandits:::objectives(named$config)[1], "loss")
  set.seed(2)
  found <- minimize_bandit(function(p) (p$x - 0.3)^2, list(x = c(0, 1)), 6, data = data, reward = "loss")
  expect_true(all(c("x", "loss", "status") %in% names(found$history)))
  expect_output(print(found), "best observed")
  expect_identical(nrow(summary(found)$top), 5L)
  local_device()
  expect_no_error(plot(found))
  expect_no_error(plot(named))
  limited <- auto_bandit(list(x = c(0, 1)), limits = ~ cost <= 2, reward = "Yield")
  expect_identical(gpbandits:::outcome_names(limited$config), c("Yield", "cost"))
})

test_that("errors name the row, the column and the value, and what to do", {
  box <- list(x = c(0, 1), z = c(0, 1))
  says <- function(data, text, ...) expect_error(auto_bandit(box, data, ...), text, class = "gpbandits_error")
  says(data.frame(x = c(0.1, 0.3, NA), z = 0.2, reward = 1:3), "column `x`.*NA in row 3.*data\\[-3, \\]")
  says(data.frame(x = c("0,1", "0,3"), z = 0.2, reward = 1:2), "\"0,1\" in row 1.*read.csv2")
  says(data.frame(x = 0.1, z = 0.2, reward = c("4", "n.d.")), "\"n.d.\" in row 2.*column `reward`|column `reward`.*row 2")
  says(data.frame(x = 0.1, z = 0.2, reward = c(1, Inf)), "column `reward`.*Inf in row 2")
  says(data.frame(x = 0.1, z = 0.2, result = 1), "reward = \"result\"")
  says(sheet_of("x;z;reward", "0.1;0.2;3"), "read.csv2")
  says(data.frame(x = as.Date("2026-03-01"), z = 0.5, reward = "a"), "column `reward`")
  expect_error(auto_bandit(reactions(), data.frame(base = c("KOH", "KOH"), temp = 30, additive = c("LiCl", ""), reward = 1:2)),
               "additive = NA in row 2", class = "gpbandits_error")
  expect_error(auto_bandit(reactions(), data.frame(base = c("KOH", "K"), temp = 30, additive = "LiCl", reward = 1:2)),
               "in row 2", class = "gpbandits_error")
  # Rows are counted as in the table, also after rows that are left out.
  gone <- data.frame(base = c("KOH", NA, "K"), temp = c(30, NA, 30), additive = c("LiCl", NA, "LiCl"), reward = c(1, NA, 2))
  expect_error(auto_bandit(reactions(), gone), "in row 3", class = "gpbandits_error")
})

test_that("dates are days, NaN is a failure, decimal text is read, names of read.csv() are found", {
  days <- auto_bandit(list(day = c(20000, 21000)), data.frame(day = as.Date("2026-03-01"), reward = 1))
  expect_identical(days$history()$day, as.double(as.Date("2026-03-01")))
  b <- auto_bandit(list(x = c(0, 1)), data.frame(x = c("0.1", "0.5"), reward = c(1, NaN)))
  expect_identical(b$history()$status, c("observed", "failed"))
  made <- sheet_of("flow (ml),Yield (%)", "0.3,2")
  named <- auto_bandit(list("flow (ml)" = c(0, 1)), made, reward = "Yield (%)")
  expect_identical(named$history()[["flow (ml)"]], 0.3)
  expect_identical(maximize_bandit(function(p) 1, list(x = c(0, 1)), 1, data = data.frame(x = 0.5, reward = 2, note = "a"))$
                     history$note, c("a", NA))
})

test_that("error bars and numbers of readings in tables", {
  data <- data.frame(x = c(0.1, 0.5, 0.9), reward = c(1, 2, 3), sd = c(0.1, NA, 0.2), size = c(NA, NA, 3))
  seen <- auto_bandit(list(x = c(0, 1)), data)$history()
  expect_equal(seen$noise_var, c(0.01, NA, NA))
  expect_equal(seen$size, c(NA, NA, 3))
  expect_equal(seen$spread, c(NA, NA, 2 * 0.04))
  several <- auto_bandit(list(x = c(0, 1)), data.frame(x = 0.5, a = 1, b = 2, a_sd = 0.1),
                         outcomes = list(a = to_maximize(), b = tracked()))
  expect_equal(several$history()$a_noise_var, 0.01)
})

test_that("a store keeps the outcome's name, checks it, and opens without trust", {
  skip_if_not(store_packages("RSQLite"))
  place <- sqlite_location()
  data <- data.frame(temp = c(21, 40, 62, 79), "Yield (%)" = c(1, 4, 3, 2), check.names = FALSE)
  auto_bandit(list(temp = c(20, 80)), data, reward = "Yield (%)", store = store_at(place, seed = 1))
  bandit <- open_bandit(store_at(place))
  expect_identical(bandit$history()[["Yield (%)"]], data[["Yield (%)"]])
  config <- bandit$config
  for (wrong in list(1, "", NA_character_, c("a", "b"), "temp")) {
    config$reward_name <- wrong
    expect_error(gpbandits:::check_stored_settings(config), class = "gpbandits_error")
  }
})

test_that("yes and no where numbers are expected name the response type, and are results where it is given", {
  b <- auto_bandit(list(x = c(0, 1)))
  b$suggest(2)
  for (value in list("yes", TRUE, c("no", "yes"), c(FALSE, TRUE))) {
    expect_error(b$observe(seq_along(value), value), "rewards_binary\\(\\)", class = "gpbandits_argument_error")
    expect_error(auto_bandit(list(x = c(0, 1)), data.frame(x = 0.5, reward = value)), "rewards_binary\\(\\)", class = "gpbandits_error")
  }
  expect_warning(maximize_bandit(function(p) p$x > 0.5, list(x = c(0, 1)), 2), "rewards_binary\\(\\)")
  yes_no <- auto_bandit(list(x = c(0, 1)), rewards = rewards_binary())
  yes_no$suggest(2)
  yes_no$observe(1:2, c("Yes", "no"))
  expect_identical(yes_no$history()$reward, c(1, 0))
  several <- auto_bandit(list(x = c(0, 1)), outcomes = list(a = to_maximize(), ok = at_least(0.5)))
  several$suggest()
  several$observe(data.frame(id = 1, a = 2, ok = "yes"))
  expect_identical(several$history()$ok, 1)
})

test_that("a message counts rows without a result, which are open experiments", {
  sheet <- data.frame(x = c(0.1, 0.2, 0.3), yield = c(1, NA, NA))
  expect_message(b <- auto_bandit(list(x = c(0, 1)), sheet, reward = "yield"), "Rows 2, 3 of `data` have no result, and are open experiments \\(2\\)")
  expect_identical(b$history()$status, c("observed", "pending", "pending"))
  expect_silent(auto_bandit(list(x = c(0, 1)), b$history(), reward = "yield"))
  expect_silent(auto_bandit(list(x = c(0, 1)), cbind(sheet, status = c("", "pending", "failed")), reward = "yield"))
})

test_that("the reasons of failed rows stay in tables, in exports and in bandits made from them", {
  lab <- function(data = NULL) auto_bandit(list(x = c(0, 1)), data)
  b <- lab(data.frame(x = c(0.1, 0.2, 0.3), reward = c(NA, 2, NA), status = c("failed", "", "failed"),
                      reason = c("flask broke", "", "")))
  expect_identical(b$history()$reason, c("flask broke", NA, NA))
  expect_false("data.reason" %in% names(b$history()))
  file <- tempfile(fileext = ".csv")
  utils::write.csv(as.data.frame(b), file, row.names = FALSE)
  for (data in list(b$history(), utils::read.csv(file), utils::read.csv(text = gpbandits:::csv_text(b$history())))) {
    expect_identical(lab(data)$history()$reason, c("flask broke", NA, NA))
  }
  pair <- list(a = to_maximize(), c = at_most(1))
  two <- auto_bandit(list(x = c(0, 1)), outcomes = pair)
  two$suggest(2)
  two$fail(2, reason = "no power")
  expect_identical(auto_bandit(list(x = c(0, 1)), two$history(), outcomes = pair)$history()$reason[2], "no power")
})
