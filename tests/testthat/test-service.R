# The service, as curl and Python's standard library see it.

# Body and status of an answer.
curl <- function(..., input = NULL) {
  out <- suppressWarnings(system2("curl", c("-s", "-m", "20", "-w", "'\\n%{http_code}'", shQuote(c(...))), stdout = TRUE,
                                  stderr = FALSE, input = input))
  list(status = as.integer(utils::tail(out, 1)), body = paste(utils::head(out, -1), collapse = "\n"))
}

skip_without_service <- function() {
  skip_without_signals()
  skip_if_not(store_packages("RSQLite", "httpuv"), "packages DBI, RSQLite, jsonlite and httpuv are not installed")
  skip_if_not(nzchar(Sys.which("curl")), "curl is not installed")
}

test_that("a whole session works, and every wrong request has an answer", {
  skip_without_service()
  place <- sqlite_location()
  store_makers$ucb(store = store_at(place, seed = 1))
  token <- "a secret of many letters"
  service <- start_service(place, token)
  on.exit(service$end())
  url <- service$url
  ask <- function(path, body = NULL, key = token) {
    curl("-H", paste("Authorization: Bearer", key), if (!is.null(body)) c("--data-binary", body), paste0(url, path))
  }
  read <- function(answer) jsonlite::parse_json(answer$body, simplifyVector = TRUE)
  expect_identical(curl(paste0(url, "/health")), list(status = 200L, body = "{\"status\":\"ok\"}"))
  query <- ask("/suggest", '{"worker": "w", "lease": 30}')
  expect_identical(query$status, 200L)
  first <- read(query)$queries
  expect_identical(first$id, 1L)
  expect_identical(read(ask("/suggest", '{"worker": "w", "lease": 30}'))$queries$token, first$token)
  expect_identical(read(ask("/heartbeat", sprintf('{"token": "%s"}', first$token)))$renewed, 1L)
  record <- sprintf('{"id": 1, "reward": 0.3, "token": "%s"}', first$token)
  expect_identical(ask("/observe", record)$status, 200L)
  expect_identical(ask("/observe", record)$status, 200L)                       # once more changes nothing
  expect_identical(ask("/observe", '{"id": 1, "reward": 0.4}')$status, 400L)
  expect_identical(nrow(read(ask("/suggest", '{"n": 3}'))$queries), 3L)
  expect_identical(ask("/fail", '{"id": 2, "reason": "broken"}')$status, 200L)
  # Without a lease a query is nobody else's, whatever has passed.
  run_out(place)
  expect_identical(tamper(place, "SELECT state FROM gpb_lease WHERE query > 2")$state, c("kept", "kept"))
  replica <- open_bandit(store_at(place))
  expect_equal(read(ask("/best"))$mean, replica$best()$mean)
  rows <- read(ask("/history?after=1&limit=2"))
  expect_identical(rows$total, 4L)
  expect_identical(rows$rows$id, 2:3)
  expect_identical(rows$rows$reason, c("broken", NA))
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
  # A report of a query may be a reward, outcomes, a preference: only its id must be there.
  observed <- schema$paths[["/observe"]]$post$requestBody$content[["application/json"]]$schema
  expect_identical(unlist(observed$required), "id")
  expect_true(all(c("id", "reward", "outcomes", "size", "prefer", "constraints", "token") %in% names(observed$properties)))
  doors <- setdiff(names(gpbandits:::service_doors()), c("/", "/page.css", "/page.js", "/openapi.json"))
  expect_setequal(names(schema$paths), doors)
  for (door in doors) expect_named(schema$paths[[door]], tolower(gpbandits:::service_doors()[[door]]$method))
  for (path in c("/", "/page.css", "/page.js")) expect_identical(curl(paste0(url, path))$status, 200L)
  for (path in c("/model", "/slices", "/improvement", "/certificate", "/check")) expect_identical(curl(paste0(url, path))$status, 401L)
})

test_that("a request's body is data: never an address or a path, and no part of it is in the answer", {
  skip_without_service()
  place <- sqlite_location()
  store_makers$ucb(store = store_at(place, seed = 1))
  service <- start_service(place, "a secret of many letters")
  on.exit(service$end())
  secret <- tempfile()
  writeLines("swordfish", secret)
  body <- tempfile()
  writeLines('{"n": 2}', body)
  pipe <- tempfile("pipe")
  system2("mkfifo", pipe)
  listener <- gpbandits:::cpp_listen_local()
  key <- "Authorization: Bearer a secret of many letters"
  for (text in c(secret, body, pipe, sprintf("http://127.0.0.1:%d/x", listener$port), "swordfish {", "\"swordfish\"")) {
    for (door in c("/suggest", "/observe", "/amend", "/fail", "/withdraw", "/heartbeat")) {
      answer <- raw_answer(service$port, http_text("POST", door, key, text))
      expect_identical(raw_status(answer), 400L, info = paste(door, text))
      expect_match(answer, "`body` must be a JSON object", info = text)
      expect_false(grepl("swordfish", answer))
    }
  }
  expect_length(gpbandits:::cpp_connections(listener$port), 0)
  gpbandits:::cpp_close_listener(listener$listener)
  expect_identical(nrow(open_bandit(store_at(place))$history()), 0L)
})

test_that("contexts are matched by name, a decision belongs to its visitor, and the whole log is returned", {
  skip_without_service()
  place <- sqlite_location()
  names <- c("age", "hour", "spend")
  bandit <- gp_ts(cbind(price = 1:4 / 4), kernel_se(c(0.5, 0.5, 0.5, 0.5)), 0.1, B = 1, R = 0.1, contexts = names,
                  store = store_at(place, seed = 1, attempts = 1))
  token <- "a secret of many letters"
  service <- start_service(place, token)
  on.exit(service$end())
  key <- paste("Authorization: Bearer", token)
  ask <- function(path, body = NULL) {
    answer <- raw_answer(service$port, http_text(if (is.null(body)) "GET" else "POST", path, key, body))
    c(list(status = raw_status(answer)), jsonlite::parse_json(sub("(?s).*?\r\n\r\n", "", answer, perl = TRUE), simplifyVector = TRUE))
  }
  mixed <- ask("/suggest", '{"context": {"spend": 0.9, "hour": 0.5, "age": 0.2}, "lease": null}')
  expect_identical(unlist(mixed$queries$point[names]), c(age = 0.2, hour = 0.5, spend = 0.9))
  for (k in 1:2) ask("/suggest", '{"context": [0.2, 0.5, 0.9], "lease": 60}')
  run_out(place)
  others <- vapply(1:3, function(k) ask("/suggest", '{"context": [0.2, 0.5, 0.9]}')$queries$id, 1L)
  expect_identical(others, 4:6)
  late <- ask("/observe", sprintf('{"id": 1, "reward": 1, "token": "%s"}', mixed$queries$token))
  expect_identical(late$status, 200L)
  expect_identical(ask("/observe", '{"id": 2, "reward": 0}')$status, 200L)

  wrong <- list(unknown = c('{"spend": 0.9, "hour": 0.5, "year": 0.2}', "year"),
                missing = c('{"spend": 0.9, "hour": 0.5}', "age"),
                both = c('{"spend": 0.9, "hour": 0.5, "age": 0.1, "year": 0.2}', "year"),
                twice = c('{"spend": 0.9, "hour": 0.5, "age": 0.1, "age": 0.2}', "one name"),
                none = c("{}", "hour"), short = c("[0.1, 0.2]", "context"), nulls = c("[0.2, null, 0.5, 0.9]", "context"),
                nested = c("[[[0.2, 0.5, 0.9]]]", "context"), ragged = c("[[0.2, 0.5, 0.9], [0.2, 0.5]]", "context"),
                mixed = c("[[0.2, 0.5, 0.9], 0.2]", "context"), logical = c("[true, 0.5, 0.9]", "context"),
                text = c('["0.2", 0.5, 0.9]', "context"), huge = c("[1e400, 0.5, 0.9]", "too large"),
                inner = c('{"spend": [0.9], "hour": 0.5, "age": 0.2}', "context"))
  for (case in names(wrong)) {
    got <- ask("/suggest", sprintf('{"context": %s}', wrong[[case]][1]))
    expect_identical(got$status, 400L, info = case)
    expect_match(got$error, wrong[[case]][2], info = case)
  }
  best <- ask("/best?context=0.2,0.5,0.9")
  expect_identical(best$status, 200L)
  expect_identical(ask("/best?context[hour]=0.5&context%5Bspend%5D=0.9&context[age]=0.2"), best)
  for (query in c("context[age]=1", "context[age]=1&context[hour]=1&context[spend]=x", "contxt=1", "context=1,2,3&context=1,2,3",
                  "context=1,2,3&context[age]=1", "context=")) {
    expect_identical(ask(paste0("/best?", query))$status, 400L, info = query)
  }

  chosen <- vapply(1:5, function(k) ask("/suggest", '{"context": [0.1, 0.1, 0.1], "arms": [2, 4]}')$queries$arm, 1L)
  expect_true(all(chosen %in% c(2L, 4L)))
  for (arms in c("[]", "[0]", "[5]", '["x"]', "[1.5]", "[null]", "[[1]]", "{}", '{"a": 1}', "[1e400]", '[1, "2"]')) {
    expect_identical(ask("/suggest", sprintf('{"context": [0.1, 0.1, 0.1], "arms": %s}', arms))$status, 400L, info = arms)
  }
  expect_identical(ask("/amend", '{"id": 1, "reward": 0.8}')$status, 200L)
  expect_identical(ask("/amend", '{"id": 3, "reward": 0.8}')$status, 400L)               # not known yet
  expect_identical(ask("/withdraw", '{"id": 3, "reason": "never came"}')$status, 200L)
  expect_identical(ask("/withdraw", '{"id": 4, "token": "made up"}')$status, 400L)
  expect_identical(ask("/fail", '{"id": 5, "reason": "broken"}')$status, 200L)
  bandit$catch_up()
  core <- bandit$history(draws = 50)
  rows <- ask("/history?draws=50")$rows
  expect_equal(rows$propensity, core$propensity, tolerance = 1e-12)
  expect_true(all(rows$propensity > 0 & rows$propensity <= 1))
  expect_identical(rows$status[1:5], c("observed", "observed", "withdrawn", "pending", "failed"))
  expect_identical(rows$reward[1:3], c(0.8, 0, NA))
  expect_equal(ask("/history?draws=50&after=2&limit=3")$rows$propensity, core$propensity[3:5], tolerance = 1e-12)
  # Decisions for several visitors in one request, in the order of their contexts, and their rewards in another.
  before <- nrow(core)
  several <- ask("/suggest", '{"context": [[0.1, 0.2, 0.3], {"spend": 0.6, "hour": 0.5, "age": 0.4}]}')$queries
  expect_identical(several$id, before + 1:2)
  expect_identical(several$point[names], data.frame(age = c(0.1, 0.4), hour = c(0.2, 0.5), spend = c(0.3, 0.6)))
  expect_identical(ask("/observe", sprintf('{"id": [%d, %d], "reward": [0.5, 1]}', before + 1, before + 2))$status, 200L)
  bandit$catch_up()
  expect_identical(utils::tail(bandit$history()$reward, 2), c(0.5, 1))
  expect_identical(ask("/suggest", '{"n": 3, "context": [[0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]}')$status, 400L)
  reasons <- tamper(place, "SELECT reason FROM gpb_lease WHERE reason IS NOT NULL ORDER BY query")$reason
  expect_identical(reasons, c("never came", "broken"))
})

test_that("HEAD has headers and no body, and no protocol is upgraded", {
  skip_without_service()
  place <- sqlite_location()
  store_makers$ucb(store = store_at(place))
  service <- start_service(place, "a secret of many letters")
  on.exit(service$end())
  key <- "Authorization: Bearer a secret of many letters"
  head_of <- function(answer) sub("\r\n\r\n.*", "", sub("Date: [^\r]*\r\n", "", answer))
  for (path in c("/health", "/", "/openapi.json", "/best", "/history", "/nothing", "/best?x=1", "/suggest")) {
    for (headers in list(key, character(), c(key, "Accept-Encoding: gzip"))) {
      got <- raw_answer(service$port, http_text("HEAD", path, headers))
      expect_match(got, "\r\n\r\n$", info = path)
      if (length(headers) < 2 && path != "/suggest") {
        expect_identical(head_of(got), head_of(raw_answer(service$port, http_text("GET", path, headers))), info = path)
      }
    }
  }
  shake <- c("Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
  for (path in c("/health", "/best", "/nothing")) {
    for (headers in list(c(key, shake), shake, c(key, "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"))) {
      upgrade <- sub("Connection: close", "Connection: Upgrade, HTTP2-Settings", rawToChar(http_text("GET", path, headers)))
      got <- raw_answer(service$port, upgrade)                                    # (it ends: nobody waits for frames)
      expect_match(got, "^HTTP/1.1 400 Bad Request\r\n.*no WebSockets", info = path)
      expect_false(grepl("101", got), info = path)
    }
  }
  for (method in c("OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "PROPFIND", "POST")) {
    got <- raw_answer(service$port, http_text(method, "/best", key))
    expect_match(got, "^HTTP/1.1 405 .*\r\nAllow: GET, HEAD\r\n", info = method)
  }
  expect_identical(raw_status(raw_answer(service$port, http_text("CONNECT", "/best", key))), 400L)
  for (path in c("//best", "/best/", "/./best", "/../best", "/%62est", "/best;x", "/best%00", "http://here/best", "*", "/etc/passwd")) {
    expect_identical(raw_status(raw_answer(service$port, http_text("GET", path, key))), 404L, info = path)
  }
})

test_that("connections end after the time limit, whatever was sent on them", {
  skip_without_service()
  place <- sqlite_location()
  store_makers$ucb(store = store_at(place))
  service <- start_service(place, "a secret of many letters", time_limit = 1)
  on.exit(service$end())
  key <- "Authorization: Bearer a secret of many letters\r\n"
  half <- c(nothing = "", line = "GET /hea", headers = "GET /health HTTP/1.1\r\nHost: here\r\n",
            body = paste0("POST /suggest HTTP/1.1\r\n", key, "Content-Length: 100\r\n\r\n{\"n\":"),
            expected = paste0("POST /suggest HTTP/1.1\r\n", key, "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n"))
  for (case in names(half)) {
    # Had it not been ended, reading would have continued for half a minute.
    took <- system.time(got <- raw_answer(service$port, half[[case]], seconds = 30))[["elapsed"]]
    expect_lt(took, 20)
    expect_match(got, if (case == "expected") "^HTTP/1.1 100 Continue" else "^$", info = case)
  }
  # One that is answered and kept open by its client ends too.
  expect_identical(raw_status(raw_answer(service$port, "GET /health HTTP/1.1\r\n\r\n", seconds = 30)), 200L)
  # A byte at a time, faster than the limit: no longer than the limit in all.
  slow <- dial(service$port)
  sent <- 0
  began <- proc.time()[["elapsed"]]
  # (What was sent before the end was noticed may be in the network's hands.)
  while (proc.time()[["elapsed"]] - began < 20) {
    writeBin(charToRaw("G"), slow)
    Sys.sleep(0.1)
    if (socketSelect(list(slow), timeout = 0)) break
  }
  expect_lt(proc.time()[["elapsed"]] - began, 20)
  close(slow)
  expect_identical(raw_status(raw_answer(service$port, http_text("GET", "/health"))), 200L)
  expect_identical(nrow(open_bandit(store_at(place))$history()), 0L)
})

# One answer on a connection that stays open: status, body, and whether it closes the connection.
next_answer <- function(connection) {
  head <- character()
  while (length(line <- readLines(connection, 1)) && nzchar(line)) head <- c(head, line)
  size <- grep("^Content-Length: ", head, value = TRUE, ignore.case = TRUE)
  expect_length(size, 1)
  list(status = raw_status(head[1]), closes = any(grepl("^Connection: close", head, ignore.case = TRUE)),
       body = rawToChar(readBin(connection, "raw", as.integer(sub(".*: ", "", size)))))
}

test_that("a connection stays open while its requests are complete and valid", {
  skip_without_service()
  place <- sqlite_location()
  store_makers$ucb(store = store_at(place))
  service <- start_service(place, "a secret of many letters", time_limit = 1)
  on.exit(service$end())
  key <- "Authorization: Bearer a secret of many letters"
  request <- function(method, path, body = "") {
    sprintf("%s %s HTTP/1.1\r\nHost: here\r\n%s\r\nContent-Length: %d\r\n\r\n%s", method, path, key, nchar(body), body)
  }
  client <- dial(service$port)
  on.exit(close(client), add = TRUE)
  ask <- function(...) {
    writeBin(charToRaw(request(...)), client)
    next_answer(client)
  }
  # Longer than the time limit in all.
  for (id in 1:6) {
    expect_identical(ask("POST", "/suggest", "{}")[c("status", "closes")], list(status = 200L, closes = FALSE))
    expect_match(ask("POST", "/observe", sprintf("{\"id\": %d, \"reward\": 1}", id))$body, "observed")
    Sys.sleep(0.3)
  }
  expect_match(ask("GET", "/health")$body, "ok")
  expect_match(ask("GET", "/history?limit=0")$body, "\"total\":6")
  expect_identical(ask("POST", "/observe", "{\"id\": 99, \"reward\": 1}")[c("status", "closes")], list(status = 400L, closes = TRUE))
  expect_length(readBin(client, "raw", 1), 0)
  expect_identical(nrow(open_bandit(store_at(place))$history()), 6L)
})

test_that("only a port that listens here lets its connections send at once", {
  skip_on_os("windows")
  listener <- gpbandits:::cpp_listen_local()
  expect_true(gpbandits:::cpp_send_at_once(listener$port))
  gpbandits:::cpp_close_listener(listener$listener)
  expect_false(gpbandits:::cpp_send_at_once(listener$port))
})

test_that("rows of the history are JSON with fifteen digits, whatever is in them", {
  columns <- list(id = 1:3, "x \"1\" \\" = c(1 / 3, NA, -Inf), who = c("it's \"quoted\" \\ \u00e4\u4e2d\U1f600", "", NA),
                  level = factor(c("b", "a", NA)), sure = c(TRUE, FALSE, NA), none = rep(NA_integer_, 3))
  rows <- gpbandits:::json_rows(columns)
  read <- lapply(rows, jsonlite::parse_json)
  for (name in names(columns)) {
    found <- lapply(read, `[[`, name)
    known <- if (is.numeric(columns[[name]])) is.finite(columns[[name]]) else !is.na(columns[[name]])
    expect_identical(!vapply(found, is.null, NA), known, info = name)
    value <- unlist(found[known])
    if (any(known)) expect_equal(value, if (is.factor(columns[[name]])) c("b", "a") else columns[[name]][known], tolerance = 1e-15)
  }
  expect_identical(gpbandits:::json_rows(lapply(columns, `[`, 0)), character())
  expect_true(validUTF8(rows[1]))
})

test_that("with many connections the oldest are closed, and a client is served", {
  skip_without_service()
  place <- sqlite_location()
  store_makers$ucb(store = store_at(place))
  service <- start_service(place, "a secret of many letters", time_limit = 3600, connections = 60)
  on.exit(service$end())
  idle <- list()
  on.exit(for (one in idle) close(one), add = TRUE, after = FALSE)
  for (k in 1:60) idle <- c(idle, list(dial(service$port)))
  Sys.sleep(1.2)                                                  # between two checks of the connections is a second
  expect_identical(curl(paste0(service$url, "/health"))$status, 200L)
  for (k in 1:50) idle <- c(idle, list(dial(service$port)))
  wait_for(sum(socketSelect(idle, timeout = 0)) >= 50)
  expect_true(all(which(socketSelect(idle, timeout = 0)) <= 60))
  expect_identical(curl(paste0(service$url, "/health"))$status, 200L)
})

test_that("a request that takes too long is ended, and one that waits for its turn is not", {
  skip_without_service()
  place <- sqlite_location()
  pause <- tempfile()
  writeLines("0", pause)
  slow <- eval(bquote(function(mean, sd, round) {
    Sys.sleep(as.double(readLines(.(pause))))
    mean + sd
  }))
  gp_bandit(store_x, kernel_se(0.2), 0.01, policy_function(slow), store = store_at(place, seed = 1, trust = TRUE))
  service <- start_service(place, "a secret of many letters", trust = TRUE, time_limit = 1.5)
  on.exit(service$end())
  ask <- http_text("POST", "/suggest", "Authorization: Bearer a secret of many letters", "{}")
  count <- function() tamper(place, "SELECT COUNT(*) AS n FROM gpb_query")$n
  expect_identical(raw_status(raw_answer(service$port, ask)), 200L)
  writeLines("60", pause)
  took <- system.time(got <- raw_answer(service$port, ask))[["elapsed"]]
  expect_match(got, "^HTTP/1.1 503 .*longer than 1.5 s")
  expect_lt(took, 20)
  expect_equal(count(), 1)
  # Ten at once, each a third of the limit: the last has waited for thrice the limit.
  writeLines("0.5", pause)
  clients <- lapply(1:10, function(k) {
    client <- dial(service$port, 60)
    writeBin(ask, client)
    client
  })
  expect_identical(vapply(clients, function(client) raw_status(read_all(client)), 1L), rep(200L, 10))
  for (client in clients) close(client)
  expect_equal(count(), 11)
})

# A bandit whose certificate waits while the file `gate` is there, and adds a line to the file `count` each time.
gated_bandit <- function(place, gate, count) {
  waits <- eval(bquote(function(round) {
    cat("x\n", file = .(count), append = TRUE)
    for (k in 1:1200) if (file.exists(.(gate))) Sys.sleep(0.05) else break
    2
  }))
  bandit <- gp_ucb(store_x, kernel_se(0.2), 0.01, width = width_function(waits), store = store_at(place, seed = 1, trust = TRUE))
  for (k in 1:3) bandit$observe(bandit$suggest()$id, k / 10)
  bandit$suggest(2)
  bandit
}

# A service of it, and the certificate that is expected.
gated_service <- function(gate, time_limit) {
  place <- sqlite_location()
  bandit <- gated_bandit(place, gate, tempfile())
  expected <- bandit$certificate()
  let_go(bandit)
  list(service = start_service(place, "a secret of many letters", trust = TRUE, time_limit = time_limit), expected = expected)
}

test_that("a slow answer delays no other request, and is sent when it is computed", {
  skip_without_service()
  gate <- tempfile("gate")
  gated <- gated_service(gate, time_limit = 60)
  service <- gated$service
  on.exit(service$end())
  key <- "Authorization: Bearer a secret of many letters"
  file.create(gate)
  slow <- lapply(1:2, function(k) {
    client <- dial(service$port, 90)
    writeBin(http_text(if (k == 1) "GET" else "HEAD", "/certificate", key), client)
    client
  })
  on.exit(for (one in slow) close(one), add = TRUE, after = FALSE)
  # Two wait for it; everything else is answered meanwhile, other slow answers too.
  expect_identical(raw_status(raw_answer(service$port, http_text("POST", "/observe", key, '{"id": 4, "reward": 0.2}'))), 200L)
  for (path in c("/history", "/best", "/slices")) {
    expect_identical(raw_status(raw_answer(service$port, http_text("GET", path, key), seconds = 50)), 200L)
  }
  expect_false(any(socketSelect(slow, timeout = 0)))
  unlink(gate)
  answers <- vapply(slow, read_all, "")
  expect_identical(raw_status(answers), c(200L, 200L))
  body <- jsonlite::parse_json(sub("(?s).*?\r\n\r\n", "", answers[1], perl = TRUE))
  expect_true(gated$expected$assumptions[1] %in% unlist(body$assumptions))
  expect_match(answers[2], "\r\n\r\n$")
})

test_that("a slow answer beyond the time limit is 503, and the result is there at the next request", {
  skip_without_service()
  gate <- tempfile("gate")
  gated <- gated_service(gate, time_limit = 2)
  service <- gated$service
  on.exit(service$end())
  ask <- function(path) raw_answer(service$port, http_text("GET", path, "Authorization: Bearer a secret of many letters"))
  file.create(gate)
  expect_match(ask("/certificate"), "^HTTP/1.1 503 .*longer than 2 s: ask again")
  unlink(gate)
  for (k in 1:60) {
    answer <- ask("/certificate")
    if (raw_status(answer) == 200L) break
    Sys.sleep(0.25)
  }
  expect_equal(jsonlite::parse_json(sub("(?s).*?\r\n\r\n", "", answer, perl = TRUE))$gap, gated$expected$gap)
})

test_that("answers are cached until the log grows, and belong to one request", {
  skip_without_service()
  place <- sqlite_location()
  count <- tempfile()
  bandit <- gated_bandit(place, tempfile(), count)
  store <- store_at(place, trust = TRUE)
  service <- list(bandit = open_bandit(store), store = store, time_limit = 60, reader = gpbandits:::new_reader(store, 60))
  service$reader$alone <- TRUE
  request <- function(path, query = "") {
    gpbandits:::checked_reply(gpbandits:::answer_read(service, gpbandits:::service_doors()[[path]], path, gpbandits:::query_of(list(QUERY_STRING = query))))
  }
  computed <- function() length(readLines(count))
  first <- suppressWarnings(request("/certificate"), classes = "gpbandits_model")
  expect_identical(first$status, 200L)
  before <- computed()
  expect_identical(request("/certificate"), first)
  expect_identical(computed(), before)
  # Another path, another query and new data are other requests; errors are not cached.
  expect_false(identical(request("/best"), first))
  expect_identical(request("/certificate", "x=1")$status, 400L)
  bandit$observe(4, 0.3)
  expect_false(identical(suppressWarnings(request("/certificate"), classes = "gpbandits_model"), first))
  expect_gt(computed(), before)
  expect_equal(jsonlite::parse_json(request("/best")$body)$mean, bandit$best()$mean)
  let_go(bandit)
})

test_that("a read is answered from the cache while the store is locked, and is an error without one", {
  skip_without_service()
  locked <- TRUE
  patience <- NULL
  connection <- list2env(list(patience = 60, connect = NULL))
  bandit <- list(catch_up = function() {
    patience <<- connection$patience
    if (locked) gpbandits:::stop_store("locked")
  })
  log <- list2env(list(queries = gpbandits:::new_table(list(arm = integer())), journal = list(base = 0L),
                       events = gpbandits:::new_table(list(kind = integer()))))
  service <- list(bandit = list2env(c(bandit, as.list(log))), store = list(connection = connection), time_limit = 30)
  service$reader <- gpbandits:::new_reader(service$store, 30)
  door <- list(answer = function(service, query) list(status = 200L, body = "{}"))
  no_query <- stats::setNames(list(), character())
  ask <- function() gpbandits:::checked_reply(gpbandits:::answer_read(service, door, "/best", no_query))
  expect_identical(ask()$status, 503L)
  expect_identical(patience, 60)
  locked <- FALSE
  expect_identical(ask()$status, 200L)
  locked <- TRUE
  expect_identical(ask()$status, 200L)
  expect_lt(patience, 1)
  expect_identical(connection$patience, 60)
})

test_that("an experiment that was not suggested can be added, with or without a result; invalid ones are errors", {
  skip_without_service()
  store <- store_at(sqlite_location(), seed = 1)
  space <- search_space(u = param_real(0, 2), rule = param_factor(c("a", "b")), whole = param_logical())
  bandit <- auto_bandit(space, outcomes = list(yield = to_maximize(), impurity = at_most(0.5)), store = store)
  service <- list(bandit = bandit, store = store)
  add <- function(body, service) {
    gpbandits:::checked_reply(gpbandits:::serve_add(service, gpbandits:::cpp_json_read(body, vectors = FALSE)))
  }
  point <- '"point": {"whole": true, "u": 0.5, "rule": "b"}'
  read <- function(answer) jsonlite::parse_json(answer$body)
  expect_identical(read(add(sprintf('{%s, "outcomes": {"yield": 3, "impurity": 0.2}}', point), service)), list(id = 1L, status = "observed"))
  expect_identical(read(add(sprintf('{%s, "outcomes": {"impurity": 0.2}}', point), service)), list(id = 2L, status = "partial"))
  expect_identical(read(add(sprintf("{%s}", point), service)), list(id = 3L, status = "pending"))
  history <- bandit$history()
  expect_identical(history$status, c("observed", "partial", "pending"))
  expect_identical(history$yield, c(3, NA, NA))
  expect_true(all(history$u == 0.5 & history$rule == "b" & history$whole))
  wrong <- c("{}", '{"point": {"u": 1}}', '{"point": {"u": 1, "rule": "c", "whole": true}}', '{"point": [1]}', '{"point": {"u": [1, 2], "rule": "a", "whole": true}}',
             '{"point": {"u": "1; x", "rule": "a", "whole": true}}', sprintf('{%s, "outcomes": {"yield": "high"}}', point),
             sprintf('{%s, "outcomes": {"taste": 1}}', point), sprintf('{%s, "reward": 1}', point), sprintf('{%s, "worker": "w"}', point), '{"arm": 1}')
  for (body in wrong) expect_identical(add(body, service)$status, 400L, info = body)
  expect_identical(nrow(bandit$history()), 3L)
  # Of arms: by number, with a context and a reward.
  arms <- gp_ucb(1:4 / 4, kernel_se(c(0.2, 1)), 0.01, contexts = "age", store = other <- store_at(sqlite_location(), seed = 1))
  of_arms <- list(bandit = arms, store = other)
  expect_identical(read(add('{"arm": 3, "context": {"age": 0.5}, "reward": 0.25}', of_arms)), list(id = 1L, status = "observed"))
  for (body in c('{"arm": 5, "context": [0.5], "reward": 1}', '{"arm": [1, 2], "context": [0.5]}', '{"arm": 3, "reward": 1}')) {
    expect_identical(add(body, of_arms)$status, 400L, info = body)
  }
  expect_identical(unlist(arms$history()[1, c("arm", "age", "reward")]), c(arm = 3, age = 0.5, reward = 0.25))
})

test_that("the export is the history as a table, and the log as from_json() reads it", {
  skip_without_service()
  store <- store_at(sqlite_location(), seed = 1)
  levels <- c("plain", "a, \"b\"", "=1+2", "\u00e9")
  bandit <- gp_ucb(search_space(x = param_real(0, 1), kind = param_factor(levels)),
                   kernel_se(0.3, dims = "x") + kernel_categorical(0.5, dims = "kind"), 0.01, width = width_constant(2), store = store)
  bandit$add(data.frame(x = c(1 / 3, 0.1, 0.2, 1e-7), kind = levels), reward = c(1 / 7, -2, 1e-300, 1 + 1e-15))
  bandit$suggest()
  service <- list(bandit = bandit, store = store)
  export <- function(format) gpbandits:::serve_export(service, list(format = format))
  csv <- export("csv")
  expect_match(csv$headers[["Content-Disposition"]], "^attachment; filename=\"[A-Za-z0-9_-]+[.]csv\"$")
  expect_match(csv$headers[["Content-Type"]], "text/csv")
  table <- utils::read.csv(text = enc2utf8(csv$body), encoding = "UTF-8")
  history <- bandit$history()
  expect_named(table, names(history))
  expect_identical(table$x, history$x)
  expect_identical(table$reward, history$reward)
  # (No spreadsheet runs the contents of a cell.)
  expect_identical(table$kind[1:4], sub("^=", "'=", levels))
  json <- export("json")
  expect_identical(from_json(json$body)$history(), history)
  expect_identical(gpbandits:::checked_reply(export("xml"))$status, 400L)
})

test_that("a client in Python's standard library works next to R", {
  skip_without_service()
  skip_if_not(nzchar(Sys.which("python3")), "python3 is not installed")
  place <- sqlite_location()
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
  expect_true(jsonlite::parse_json(out)$mean <= 0.01)
})

test_that("every method of the client in Python does what it says, and errors are the service's words", {
  skip_without_service()
  skip_if_not(nzchar(Sys.which("python3")), "python3 is not installed")
  place <- sqlite_location()
  gp_ucb(1:4 / 4, kernel_se(c(0.3, 1)), 0.1, contexts = "age", store = store_at(place, seed = 1))
  service <- start_service(place, "a secret of many letters")
  on.exit(service$end())
  script <- c("import json, sys", "sys.dont_write_bytecode = True", "sys.path.insert(0, sys.argv[1])",
              "from bandit_client import Bandit",
              "bandit = Bandit(sys.argv[2], sys.argv[3])",
              "errors = []",
              "def refused(call):",
              "    try:",
              "        call()",
              "    except RuntimeError as error:",
              "        errors.append(str(error))",
              "first = bandit.suggest(worker='w', context={'age': 0.5}, arms=[1, 3])",
              "again = bandit.suggest(worker='w', context={'age': 0.5}, arms=[1, 3])",
              "bandit.observe(first, 0.5)",
              "bandit.amend(first, 0.25)",
              "second = bandit.suggest(context={'age': 0.5}, lease=None)",
              "bandit.withdraw(second, reason='gone')",
              "third = bandit.suggest(worker='v', context={'age': 0.1})",
              "alive = bandit.heartbeat(third)",
              "bandit.fail(third, 'broken')",
              "ended = bandit.heartbeat(third)",
              "refused(lambda: bandit.observe(second, 1))",
              "refused(lambda: bandit.observe({'id': 1, 'token': 'x'}, 1))",
              "refused(lambda: bandit.suggest(context={'size': 1}))",
              "refused(lambda: Bandit(sys.argv[2], 'not the secret of many letters').best({'age': 0.5}))",
              "refused(lambda: bandit.call('/nowhere'))",
              "print(json.dumps({'same': first['token'] == again['token'], 'arm': first['arm'], 'alive': alive, 'ended': ended,",
              "                  'errors': errors, 'best': bandit.best({'age': 0.5})}))")
  file <- tempfile(fileext = ".py")
  writeLines(script, file)
  folder <- system.file("examples", package = "gpbandits")
  out <- system2("python3", shQuote(c(file, folder, service$url, "a secret of many letters")), stdout = TRUE)
  found <- jsonlite::parse_json(out)
  expect_true(found$same)
  expect_true(found$arm %in% c(1, 3))
  expect_true(found$alive)
  expect_false(found$ended)
  expect_match(found$errors[[1]], "^400: .*withdrawn")
  expect_match(found$errors[[2]], "^400: .*token")
  expect_match(found$errors[[3]], "^400: .*age")
  expect_match(found$errors[[4]], "^401: .*Authorization")
  expect_match(found$errors[[5]], "^404: ")
  history <- open_bandit(store_at(place))$history()
  expect_identical(history$status, c("observed", "withdrawn", "failed"))
  expect_identical(history$reward, c(0.25, NA, NA))
  expect_identical(history$reason, c(NA, "gone", "broken"))
  expect_equal(found$best$mean, open_bandit(store_at(place))$best(context = 0.5)$mean, tolerance = 1e-9)
})

test_that("the client in Python reports a proxy's answer that is not JSON by its status", {
  skip_without_service()
  skip_if_not(nzchar(Sys.which("python3")), "python3 is not installed")
  proxy <- httpuv::startServer("127.0.0.1", port <- httpuv::randomPort(), list(call = function(request) {
    list(status = 502L, headers = list("Content-Type" = "text/html"), body = "<html>Bad Gateway</html>")
  }), quiet = TRUE)
  on.exit(httpuv::stopServer(proxy))
  client <- system.file("examples", "bandit_client.py", package = "gpbandits")
  out <- tempfile()
  system2("python3", shQuote(c(client, sprintf("http://127.0.0.1:%d", port), "a secret of many letters", "1")), stdout = out, stderr = out,
          wait = FALSE)
  said <- function() if (file.exists(out)) paste(readLines(out, warn = FALSE), collapse = " ") else ""
  for (turn in 1:600) {
    httpuv::service(50)
    if (grepl("Error", said())) break
  }
  expect_match(said(), "RuntimeError: 502: Bad Gateway")
})

test_that("a hostile client gets answers, uses no memory, and blocks nobody", {
  skip_without_service()
  place <- sqlite_location()
  store_makers$ucb(store = store_at(place, seed = 1))
  token <- "a secret of many letters"
  limit <- 3
  service <- start_service(place, token, time_limit = limit, connections = 40)
  on.exit(service$end())
  requests <- by_level(600, 10000, quick = 200)
  memory <- longest <- numeric()
  look <- function(k) {
    began <- proc.time()[["elapsed"]]
    wait_for(identical(curl("-m", "2", paste0(service$url, "/health"))$status, 200L))
    longest <<- c(longest, proc.time()[["elapsed"]] - began)
    if (file.exists("/proc/self/status")) memory <<- c(memory, memory_of(service$pid))
  }
  set.seed(27)
  statuses <- attack(service$port, token, requests, look)
  expect_gt(length(statuses), requests / 3)
  # (503: on a busy machine an answer takes longer than the limit.)
  expect_identical(setdiff(statuses, c(200L, 400L, 401L, 404L, 405L, 411L, 413L, 503L, NA)), integer())
  expect_lt(max(longest), limit + 2)                              # (curl's own two seconds)
  # (R's heap grows once, by some 15 MB, after 9,000 requests; then it stays for the next 30,000.)
  quarter <- ceiling(length(memory) / 4)
  if (length(memory)) expect_lt(max(utils::tail(memory, quarter)), min(memory[quarter + seq_len(quarter)]) + 25)
  # Nothing has changed: no rewards, only the requested reads, and the service continues.
  bandit <- open_bandit(store_at(place))
  expect_true(all(is.na(bandit$history()$reward)))
  answer <- raw_answer(service$port, http_text("POST", "/suggest", paste("Authorization: Bearer", token), "{}"))
  expect_identical(raw_status(answer), 200L)
})

test_that("the nginx configuration of the package keeps a hostile client out", {
  skip_without_service()
  nginx <- c(Sys.which("nginx"), Sys.glob("/usr/sbin/nginx"))
  nginx <- nginx[nzchar(nginx)][1]
  skip_if(is.na(nginx), "nginx is not installed")
  skip_if_not(nzchar(Sys.which("openssl")), "openssl is not installed")
  place <- sqlite_location()
  store_makers$ucb(store = store_at(place, seed = 1))
  service <- start_service(place, "a secret of many letters", max_body = 65536)
  on.exit(service$end())
  home <- tempfile("nginx")
  dir.create(home)
  at <- function(name) file.path(home, name)
  made <- system2("openssl", c("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1", "-keyout", at("key"),
                               "-out", at("pem")), stdout = FALSE, stderr = FALSE)
  expect_identical(made, 0L)
  door <- httpuv::randomPort()
  text <- readLines(system.file("examples", "nginx.conf", package = "gpbandits"))
  put <- function(from, to) {
    expect_true(any(grepl(from, text, fixed = TRUE)), info = from)
    text <<- gsub(from, to, text, fixed = TRUE)
  }
  put("/run/gpbandits-nginx.pid", at("pid"))
  put("/var/log/nginx/gpbandits.log", at("log"))
  put("/etc/ssl/certs/service.pem", at("pem"))
  put("/etc/ssl/private/service.key", at("key"))
  put("listen 8443", sprintf("listen 127.0.0.1:%d", door))
  put("127.0.0.1:8080", sprintf("127.0.0.1:%d", service$port))
  put(" 10s;", " 1s;")                                            # nobody wants to wait here
  put("zone=requests burst=200;", "zone=requests burst=200 nodelay;")
  writeLines(text, at("conf"))
  skip_if(system2(nginx, c("-q", "-c", at("conf")), stdout = FALSE, stderr = FALSE) != 0, "nginx does not start here")
  on.exit(tools::pskill(as.integer(readLines(at("pid"))), tools::SIGTERM), add = TRUE, after = FALSE)
  ask <- function(path, ..., key = "a secret of many letters") {
    curl("-k", "-H", paste("Authorization: Bearer", key), ..., sprintf("https://127.0.0.1:%d%s", door, path))
  }
  expect_identical(ask("/health")$status, 200L)
  expect_identical(ask("/best", key = "nothing that is known")$status, 401L)
  query <- ask("/suggest", "--data-binary", '{"worker": "w"}')
  expect_identical(query$status, 200L)
  token <- jsonlite::parse_json(query$body)$queries[[1]]$token
  expect_identical(ask("/observe", "--data-binary", sprintf('{"id": 1, "reward": 0.5, "token": "%s"}', token))$status, 200L)
  expect_identical(ask("/best", "-I")$status, 200L)
  expect_identical(ask("/suggest", "-H", "Expect:", "--data-binary", strrep(" ", 70000))$status, 413L)
  expect_identical(ask("/suggest", "-H", "Transfer-Encoding: chunked", "--data-binary", "{}")$status, 200L)   # made whole by the proxy
  expect_identical(ask("/health", "-H", paste0("X: ", strrep("x", 40000)))$status, 400L)
  shake <- c("-H", "Connection: Upgrade", "-H", "Upgrade: websocket", "-H", "Sec-WebSocket-Version: 13", "-H", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
  expect_identical(do.call(ask, as.list(c("/health", shake)))$status, 200L)             # an ordinary request
  # A connection on which nothing comes; one that sends less than it says.
  began <- proc.time()[["elapsed"]]
  expect_identical(raw_answer(door, "", seconds = 30), "")
  half <- suppressWarnings(system2("openssl", c("s_client", "-quiet", "-connect", sprintf("127.0.0.1:%d", door)), stdout = TRUE, stderr = FALSE, timeout = 30,
                                   input = c("POST /suggest HTTP/1.1", "Host: here", "Authorization: Bearer a secret of many letters", "Content-Length: 100", "", "{")))
  expect_lt(proc.time()[["elapsed"]] - began, 25)
  # More idle connections than the service itself would bear: others come through.
  idle <- lapply(1:60, function(k) dial(door))
  on.exit(for (one in idle) close(one), add = TRUE, after = FALSE)
  expect_identical(ask("/health")$status, 200L)
  expect_identical(nrow(open_bandit(store_at(place))$history()), 2L)
})

test_that("a service that cannot work is an error", {
  skip_without_service()
  place <- sqlite_location()
  expect_match(refused(bandit_service(store_at(place), 0)), "has no bandit named")
  store_makers$ucb(store = store_at(place))
  expect_match(refused(bandit_service(store_at(place), -1)), "port")
  expect_match(refused(bandit_service(store_at(place), 0, token = "short")), "16 characters")
  for (token in c("a token of\ntwo lines", " a token in spaces ")) {
    expect_match(refused(bandit_service(store_at(place), 0, token = token)), "fits into a header")
  }
  for (limit in list(0, -1, NA, "1", 1e9)) {
    expect_match(refused(bandit_service(store_at(place), 0, time_limit = limit)), "time_limit")
  }
  set.seed(1)
  other <- bandit_service(store_at(place), 0)
  other$stop()
  set.seed(1)
  service <- bandit_service(store_at(place), 0)
  expect_match(service$token, "^[0-9a-f]{32}$")
  expect_false(service$token == other$token)
  expect_match(refused(bandit_service(store_at(place), as.integer(sub(".*:", "", service$url)))), "port")
  expect_output(print(service), "bandit service at")
  service$stop()
})

test_that("a request that its headers have not admitted is refused, whatever it claims", {
  service <- list(token = "a secret of many letters", max_body = 100, doors = gpbandits:::service_doors())
  request <- function(...) list2env(list(PATH_INFO = "/heartbeat", REQUEST_METHOD = "GET", HTTP_ADMITTED = "TRUE", ...))
  stranger <- request()
  expect_identical(gpbandits:::admit(service, stranger)$status, 401L)
  expect_null(stranger$admitted)
  expect_identical(gpbandits:::answer_request(service, stranger)$status, 401L)
  large <- request(HTTP_AUTHORIZATION = "Bearer a secret of many letters", CONTENT_LENGTH = "101")
  expect_identical(gpbandits:::admit(service, large)$status, 413L)
  client <- request(HTTP_AUTHORIZATION = "Bearer a secret of many letters")
  expect_null(gpbandits:::admit(service, client))
  expect_identical(gpbandits:::answer_request(service, client)$status, 405L)             # (a GET of what takes POST)
  client$PATH_INFO <- "/heart"
  expect_identical(gpbandits:::answer_request(service, client)$status, 404L)
})

test_that("query strings are decoded in linear time, only where they are used, up to a limit", {
  decode <- gpbandits:::without_percents
  for (text in c("", "a b", "a%20b", "%2541", "x%c3%A9y%E2%82%ac", "%41%41", "100%25")) expect_identical(decode(text), utils::URLdecode(text))
  expect_identical(decode(strrep("%41", 1e6)), strrep("A", 1e6))
  skip_if_not(store_packages("RSQLite", "httpuv"), "packages are not installed")
  skip_on_os("windows")
  place <- sqlite_location()
  let_go(store_makers$ucb(store = store_at(place)))
  token <- strrep("t", 20)
  service <- start_service(place, token)
  on.exit(service$end())
  long <- strrep("%41", 15000)
  expect_identical(raw_status(raw_answer(service$port, http_text("GET", paste0("/health?", long)))), 200L)
  answer <- raw_answer(service$port, http_text("GET", paste0("/history?", long), paste("Authorization: Bearer", token)))
  expect_identical(raw_status(answer), 400L)
  expect_match(answer, "at most 16384 bytes")
  # (One that is not admitted is not read.)
  expect_identical(raw_status(raw_answer(service$port, http_text("GET", "/history?%zz"))), 401L)
})

test_that("a request whose connection has ended changes nothing, as one of several that were sent without waiting", {
  skip_if_not(store_packages("RSQLite", "httpuv"), "packages are not installed")
  skip_on_os("windows")
  place <- sqlite_location()
  let_go(store_makers$ucb(store = store_at(place)))
  store <- store_at(place)
  listener <- gpbandits:::cpp_listen_local()
  on.exit(gpbandits:::cpp_close_listener(listener$listener))
  service <- list(bandit = open_bandit(store), store = store, port = listener$port, token = strrep("t", 20), max_body = 100,
                  doors = gpbandits:::service_doors())
  request <- list2env(list(admitted = TRUE, PATH_INFO = "/suggest", REQUEST_METHOD = "POST", REMOTE_ADDR = "127.0.0.1", REMOTE_PORT = "1",
                           rook.input = list(read = function() charToRaw("{}"))))
  expect_identical(gpbandits:::answer_request(service, request)$status, 400L)
  expect_identical(nrow(open_bandit(store_at(place))$history()), 0L)
})

test_that("a service with a free port of the system leaves R's random numbers alone", {
  skip_if_not(store_packages("RSQLite", "httpuv"), "packages are not installed")
  store <- store_at(sqlite_location())
  store_makers$ucb(store = store)
  set.seed(1)
  before <- .Random.seed
  service <- bandit_service(store, port = 0)
  service$stop()
  expect_identical(.Random.seed, before)
})

test_that("neither cells nor headings of a CSV file are formulas of a spreadsheet", {
  frame <- data.frame(a = c("=1+1", "@x", "plain", "-5"), check.names = FALSE)
  names(frame) <- "=cmd()"
  lines <- strsplit(gpbandits:::csv_text(frame), "\r\n", fixed = TRUE)[[1]]
  expect_identical(lines, c("\"'=cmd()\"", "\"'=1+1\"", "\"'@x\"", "\"plain\"", "\"-5\""))
})

test_that("the script of the package serves a store, as its container and its systemd unit run it", {
  place <- function(name) system.file("examples", name, package = "gpbandits")
  ini <- grep("^[^#;]", readLines(place("gpbandits.service")), value = TRUE)
  unit <- split(sub("^[^=]*=", "", ini), sub("=.*", "", ini))
  expect_identical(grep("^\\[", ini, value = TRUE), c("[Unit]", "[Service]", "[Install]"))
  for (name in c("DynamicUser", "NoNewPrivileges", "ProtectHome", "PrivateTmp")) expect_identical(unit[[name]], "yes")
  expect_identical(unit$ProtectSystem, "strict")
  if (nzchar(Sys.which("systemd-analyze")) && file.exists("/usr/bin/Rscript")) {
    said <- suppressWarnings(system2("systemd-analyze", c("verify", shQuote(place("gpbandits.service"))), stdout = TRUE, stderr = TRUE))
    expect_identical(grep("gpbandits", said, value = TRUE), character())
  }
  expect_identical(unit$Restart, "on-failure")
  docker <- grep("^[^#]", readLines(place("Dockerfile")), value = TRUE)
  command <- function(word) sub(paste0("^", word, " "), "", grep(paste0("^", word, " "), docker, value = TRUE))
  started <- jsonlite::fromJSON(command("CMD"))
  expect_identical(command("USER"), "gpbandits")
  expect_identical(match("USER gpbandits", docker) < grep("^CMD", docker), TRUE)
  expect_match(command("HEALTHCHECK"), "http://127.0.0.1:8080/health", fixed = TRUE)
  expect_identical(command("EXPOSE"), "8080")
  # Both run the script, and set only what it reads. What holds data is kept.
  expect_identical(sub("^/usr/bin/", "", unit$ExecStart), paste(started, collapse = " "))
  expect_true(paste("COPY serve.R", started[3]) %in% docker)
  read <- unique(unlist(regmatches(readLines(place("serve.R")), gregexpr("GPBANDITS_[A-Z_]+", readLines(place("serve.R"))))))
  set <- unlist(strsplit(c(unit$Environment, command("ENV")), " "))
  expect_true(all(sub("=.*", "", set) %in% read))
  kept <- sub("^GPBANDITS_STORE=", "", grep("^GPBANDITS_STORE=", set, value = TRUE))
  expect_identical(unique(dirname(kept)), command("VOLUME"))
  expect_identical(file.path("/var/lib", unit$StateDirectory), command("VOLUME"))

  skip_without_service()
  skip_on_os("windows")
  store <- sqlite_location()
  let_go(store_makers$ucb(store = store_at(store)))
  secret <- tempfile()
  cat(strrep("t", 20), file = secret)                    # secrets of containers have no line end
  port <- httpuv::randomPort()
  file <- tempfile(fileext = ".R")
  writeLines(c(sprintf(".libPaths(%s)", paste(deparse(.libPaths()), collapse = "")),
               "cat(Sys.getpid(), file = Sys.getenv(\"PID\"))", readLines(place("serve.R"))), file)
  pid <- tempfile()
  on.exit(if (file.exists(pid)) tools::pskill(scan(pid, quiet = TRUE), tools::SIGKILL))
  settings <- c(GPBANDITS_STORE = store$file, GPBANDITS_NAME = "b", GPBANDITS_TOKEN_FILE = secret,
                GPBANDITS_PORT = port, PID = pid)
  system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(file)), env = paste0(names(settings), "=", shQuote(settings)),
          wait = FALSE, stdout = FALSE, stderr = (said <- tempfile()))
  for (k in 1:200) {
    answer <- tryCatch(suppressWarnings(raw_answer(port, http_text("GET", "/history", paste("Authorization: Bearer", strrep("t", 20))))),
                       error = function(e) "")
    if (nzchar(answer)) break
    Sys.sleep(0.1)
  }
  expect_identical(raw_status(answer), 200L)
  expect_match(answer, "\"total\":0", fixed = TRUE)
  expect_false(any(grepl("Warning", readLines(said))))
})

test_that("an export with decimal commas is what a spreadsheet of that locale reads, and the schema lists it", {
  skip_without_service()
  store <- store_at(sqlite_location(), seed = 1)
  bandit <- auto_bandit(list(x = c(0, 1)), store = store)
  bandit$observe(bandit$suggest(2)$id, c(1.5, -0.25), note = c("warm; \"wet\"", "=1+1"))
  service <- list(bandit = bandit, store = store)
  answer <- gpbandits:::serve_export(service, list(format = "csv2"))
  expect_identical(answer$headers[["Content-Type"]], "text/csv; charset=utf-8")
  file <- tempfile()
  writeLines(answer$body, file, sep = "")
  read <- utils::read.csv2(file)
  expect_equal(read$reward, c(1.5, -0.25))
  expect_equal(read$x, bandit$history()$x)
  expect_identical(read$note, c("warm; \"wet\"", "'=1+1"))
  expect_error(gpbandits:::serve_export(service, list(format = "csv3")), "csv2", class = "gpbandits_argument_error")
  schema <- jsonlite::fromJSON(jsonlite::toJSON(gpbandits:::service_schema(), auto_unbox = TRUE, null = "null"), simplifyVector = FALSE)
  format <- schema$paths[["/export"]]$get$parameters[[1]]
  expect_identical(unlist(format$schema$enum), c("csv", "csv2", "json"))
  # Every field that a request takes is in the schema, and no other.
  fields <- function(path) names(schema$paths[[path]]$post$requestBody$content[["application/json"]]$schema$properties)
  expect_true(all(c("size", "sd", "noise_var", "note") %in% fields("/observe")))
  expect_true(all(c("size", "sd", "noise_var", "note") %in% fields("/amend")))
  expect_true(all(c("size", "sd", "noise_var", "note") %in% fields("/add")))
  for (path in c("/observe", "/amend", "/add", "/suggest", "/fail", "/withdraw", "/heartbeat")) {
    for (name in fields(path)) {
      body <- stats::setNames(list(NULL, 1), c(name, "unknown field"))
      door <- gpbandits:::service_doors()[[path]]
      said <- tryCatch(door$answer(service, body), error = conditionMessage)
      expect_match(said, "Unknown argument `unknown field`", fixed = TRUE, info = paste(path, name))
    }
  }
})
