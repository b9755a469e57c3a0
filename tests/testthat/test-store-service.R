# The service, as curl and Python's standard library see it.

# Body and status of an answer.
curl <- function(..., input = NULL) {
  out <- suppressWarnings(system2("curl", c("-s", "-m", "20", "-w", "'\\n%{http_code}'", shQuote(c(...))), stdout = TRUE,
                                  stderr = FALSE, input = input))
  list(status = as.integer(utils::tail(out, 1)), body = paste(utils::head(out, -1), collapse = "\n"))
}

skip_without_service <- function() {
  skip_on_os("windows")
  skip_if_not(store_packages("RSQLite", "httpuv"), "packages DBI, RSQLite, jsonlite and httpuv are not installed")
  skip_if_not(nzchar(Sys.which("curl")), "curl is not installed")
}

test_that("a whole conversation: ask, tell, watch, and everything that is wrong is answered", {
  skip_on_cran()
  skip_without_service()
  place <- sqlite_place()
  store_makers$ucb(store = store_at(place, seed = 1))
  token <- "a secret of many letters"
  service <- start_service(place, token)
  on.exit(service$end())
  url <- service$url
  ask <- function(path, body = NULL, key = token) {
    curl("-H", paste("Authorization: Bearer", key), if (!is.null(body)) c("--data-binary", body), paste0(url, path))
  }
  read <- function(answer) jsonlite::fromJSON(answer$body)
  expect_identical(curl(paste0(url, "/health")), list(status = 200L, body = "{\"status\":\"ok\"}"))
  query <- ask("/suggest", '{"worker": "w", "lease": 30}')
  expect_identical(query$status, 200L)
  first <- read(query)$queries
  expect_identical(first$id, 1L)
  expect_identical(read(ask("/suggest", '{"worker": "w"}'))$queries$token, first$token)
  expect_identical(read(ask("/heartbeat", sprintf('{"token": "%s"}', first$token)))$renewed, 1L)
  tell <- sprintf('{"id": 1, "reward": 0.3, "token": "%s"}', first$token)
  expect_identical(ask("/observe", tell)$status, 200L)
  expect_identical(ask("/observe", tell)$status, 200L)                       # once more changes nothing
  expect_identical(ask("/observe", '{"id": 1, "reward": 0.4}')$status, 400L)
  expect_identical(nrow(read(ask("/suggest", '{"n": 3}'))$queries), 3L)
  expect_identical(ask("/fail", '{"id": 2, "reason": "broken"}')$status, 200L)
  replica <- open_bandit(store_at(place))
  expect_equal(read(ask("/best"))$mean, replica$best()$mean)
  rows <- read(ask("/history?after=1&limit=2"))
  expect_identical(rows$total, 4L)
  expect_identical(rows$rows$id, 2:3)
  expect_identical(replica$history()$reward, c(0.3, NA, NA, NA))

  status <- function(...) ask(...)$status
  expect_identical(curl(paste0(url, "/best"))$status, 401L)
  expect_identical(status("/best", key = "a secret of many lettera"), 401L)
  expect_identical(status("/best", key = ""), 401L)
  expect_identical(status("/nothing"), 404L)
  for (query in c("limit=%zz", "limit=%", "limit=%ff", "limit=%00", "after=-1", "limit=x")) {
    expect_identical(status(paste0("/history?", query)), 400L, info = query)
  }
  expect_identical(status("/suggest"), 405L)
  expect_identical(status("/best", "{}"), 405L)
  for (body in c("", "[1]", "{", "{\"id\": {}}", "3", strrep("[", 3000), "{\"n\": -1}", "{\"n\": 1e9}", "{\"m\": 1}",
                 "{\"worker\": 5}", "{\"lease\": \"x\"}")) {
    got <- status("/suggest", body)
    if (body == "") expect_identical(got, 200L) else expect_identical(got, 400L, info = body)
  }
  for (body in c("{}", '{"id": 77, "reward": 1}', '{"id": 3, "reward": "x"}', '{"id": 3, "reward": null}', '{"id": 3}',
                 '{"id": "3", "reward": 1}', '{"id": 3, "reward": 1, "token": "no"}', '{"id": [3, 4], "reward": 1}')) {
    expect_identical(status("/observe", body), 400L, info = body)
  }
  for (bytes in list(c(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d), c(0x7b, 0x00, 0x7d))) {   # {"??":1} and { NUL }
    file <- tempfile()
    writeBin(as.raw(bytes), file)
    expect_identical(status("/suggest", paste0("@", file)), 400L)
  }
  expect_identical(status("/suggest", strrep(" ", 5000)), 413L)
  expect_identical(curl("-H", "Transfer-Encoding: chunked", "--data-binary", "{}", paste0(url, "/suggest"))$status, 411L)
  expect_match(read(ask("/observe", '{"id": 77, "reward": 1}'))$error, "earlier query")
  expect_identical(curl(paste0(url, "/health"))$status, 200L)                # and it is still there
  schema <- read(curl(paste0(url, "/openapi.json")))
  expect_match(schema$openapi, "^3")
  expect_setequal(names(schema$paths), c("/suggest", "/observe", "/fail", "/heartbeat", "/best", "/history", "/health"))
  expect_match(curl(paste0(url, "/"))$body, "openapi.json")
})

test_that("a client in Python's standard library works beside R", {
  skip_on_cran()
  skip_without_service()
  skip_if_not(nzchar(Sys.which("python3")), "python3 is not installed")
  place <- sqlite_place()
  bandit <- store_makers$ucb(store = store_at(place, seed = 1))
  service <- start_service(place, "a secret of many letters")
  on.exit(service$end())
  client <- system.file("examples", "bandit_client.py", package = "gpbandits")
  out <- system2("python3", shQuote(c(client, service$url, "a secret of many letters", "8")), stdout = TRUE)
  work_on(store_at(place), function(p) -(p[["x1"]] - 0.3)^2, heartbeat = FALSE,
          until = function(bandit) nrow(bandit$history()) >= 12)
  bandit$catch_up()
  history <- bandit$history()
  expect_identical(nrow(history), 12L)
  expect_equal(history$reward, -(history$x1 - 0.3)^2, tolerance = 1e-12)
  expect_true(jsonlite::fromJSON(out)$mean <= 0.01)
})

test_that("a service is refused where it cannot be", {
  skip_without_service()
  place <- sqlite_place()
  expect_match(refused(bandit_service(store_at(place), 0)), "without a bandit named")
  store_makers$ucb(store = store_at(place))
  expect_match(refused(bandit_service(store_at(place), -1)), "port")
  expect_match(refused(bandit_service(store_at(place), 0, token = "short")), "16 characters")
  service <- bandit_service(store_at(place), 0)
  expect_gte(nchar(service$token), 16)
  expect_match(refused(bandit_service(store_at(place), as.integer(sub(".*:", "", service$url)))), "port")
  expect_output(print(service), "bandit service at")
  service$stop()
})
