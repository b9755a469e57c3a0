#' Serve a bandit over HTTP
#'
#' A door to a bandit in a store for programs in any language: JSON over HTTP, on package httpuv. `GET /` is a page that describes
#' it, `GET /openapi.json` its OpenAPI 3 schema. Several services, workers and R sessions may work on one store.
#'
#' | request | body or query | answer |
#' |---|---|---|
#' | `POST /suggest` | `{"n": 1, "worker": "w1", "lease": 60, "context": [..]}`, all optional | `{"queries": [{"id", "token", "attempt", "point": {..}}]}` |
#' | `POST /observe` | `{"id": 1, "reward": 0.5, "token": "..", "constraints": [..]}` | `{"id", "status"}` |
#' | `POST /fail` | `{"id": 1, "reason": ".."}` | `{"id", "status"}` |
#' | `POST /heartbeat` | `{"token": ".."}` | `{"renewed": 1}` |
#' | `GET /best` | `?context=..,..` where there are contexts | `{"point": {..}, "mean", "sd"}` |
#' | `GET /history` | `?after=0&limit=1000` | `{"rows": [..], "total"}` |
#' | `GET /health` | | `{"status": "ok"}`, without a token |
#'
#' An error is `{"error": "..", "argument": ".."}` with status 400 (what was asked is wrong), 401 (no or a wrong token), 404, 405, 411, 413 (body too
#' large), 503 (the database does not answer: ask again). `/observe` may be repeated: the same reward again changes nothing.
#'
#' @section Safety: the service listens on this machine only (`host = "127.0.0.1"`) unless you say otherwise; every request but `/health` and
#'   the two descriptions needs the header `Authorization: Bearer <token>`. There is no encryption: over a network put it behind a
#'   proxy that has TLS. Bodies larger than `max_body` bytes are refused before they are read.
#'
#' @param store a [bandit_store()] in which a bandit has been begun.
#' @param port a port number, or 0 for a free one.
#' @param token the secret that clients send, a string of at least 16 characters; `NULL` makes one (see `$token` of the result).
#' @param host the address to listen on.
#' @param max_body largest body of a request in bytes.
#' @return An object of class `bandit_service`, a list with `url`, `token`, `stop()` and `run()`. The service answers while R is idle at
#'   its prompt; in a script `$run()` serves until it is interrupted (or for `$run(seconds)`).
#' @section Errors: a `gpbandits_error` that names the argument.
#' @seealso [bandit_store()].
#' @examplesIf all(vapply(c("RSQLite", "jsonlite", "httpuv"), requireNamespace, NA, quietly = TRUE))
#' store <- bandit_store(tempfile(fileext = ".db"), "demo")
#' gp_ucb(1:20 / 20, kernel_se(0.2), noise_var = 0.01, store = store)
#' service <- bandit_service(store, port = 0)
#' service$url
#' service$stop()
#' @export
bandit_service <- function(store, port, token = NULL, host = "127.0.0.1", max_body = 65536) {
  check_store(store)
  for (package in c("httpuv", "jsonlite")) need_package(package, "store")
  port <- check_count(port, lower = 0, upper = 65535)
  host <- check_string(host)
  max_body <- check_count(max_body)
  if (is.null(token)) token <- sql_rows(store$link, "SELECT ", sql_token(store$link), " AS token")$token
  if (nchar(check_string(token)) < 16) {
    stop_argument("token", sprintf("one of %d characters", nchar(token)), "at least 16 characters")
  }
  service <- list(bandit = open_bandit(store), store = store, token = token, max_body = max_body)
  if (port == 0) port <- httpuv::randomPort(host = host)
  app <- list(onHeaders = function(request) checked_reply(refuse_early(service, request)),
              call = function(request) checked_reply(answer_request(service, request)))
  server <- tryCatch(httpuv::startServer(host, port, app, quiet = TRUE), error = function(e) {
    stop_argument("port", sprintf("%d, which cannot be listened on (%s)", as.integer(port), conditionMessage(e)),
                  "a free port")
  })
  structure(list(url = sprintf("http://%s:%d", host, as.integer(port)), token = token,
                 stop = function() httpuv::stopServer(server), run = function(seconds = Inf) serve_for(seconds)),
            class = "bandit_service")
}

serve_for <- function(seconds) {
  began <- Sys.time()
  while (seconds_since(began) < seconds) httpuv::service(min(100, 1000 * seconds))
}

#' @export
print.bandit_service <- function(x, ...) {
  cat(sprintf("<bandit service at %s>\n", x$url))
  invisible(x)
}

# What can be refused before the body is read; NULL where nothing is wrong.
refuse_early <- function(service, request) {
  size <- suppressWarnings(as.double(if (is.null(request$CONTENT_LENGTH)) "0" else request$CONTENT_LENGTH))
  if (!is.null(request$HTTP_TRANSFER_ENCODING)) return(reply_error(411, "a body needs a Content-Length"))
  if (is.na(size) || size > service$max_body) {
    return(reply_error(413, sprintf("a body may have %d bytes", as.integer(service$max_body))))
  }
  if (!request$PATH_INFO %in% c("/", "/openapi.json", "/health") && !has_token(service, request)) {
    return(reply_error(401, "the header Authorization: Bearer <token> is missing or wrong"))
  }
  NULL
}

# Takes equally long wherever the first difference is.
has_token <- function(service, request) {
  given <- charToRaw(paste0(request$HTTP_AUTHORIZATION, ""))
  wanted <- charToRaw(paste("Bearer", service$token))
  length(given) == length(wanted) && !any(xor(given, wanted) != as.raw(0))
}

answer_request <- function(service, request) {
  early <- refuse_early(service, request)
  if (!is.null(early)) return(early)
  doors <- service_doors()
  if (!request$PATH_INFO %in% names(doors)) return(reply_error(404, "there is nothing here"))
  door <- doors[[request$PATH_INFO]]
  if (!identical(request$REQUEST_METHOD, door$method)) {
    return(reply_error(405, paste("this takes", door$method), list(Allow = door$method)))
  }
  door$answer(service, if (door$method == "POST") body_of(request) else query_of(request))
}

service_doors <- function() {
  list("/suggest" = list(method = "POST", answer = serve_suggest),
       "/observe" = list(method = "POST", answer = serve_observe),
       "/fail" = list(method = "POST", answer = serve_fail),
       "/heartbeat" = list(method = "POST", answer = serve_heartbeat),
       "/best" = list(method = "GET", answer = serve_best), "/history" = list(method = "GET", answer = serve_history),
       "/health" = list(method = "GET", answer = function(service, query) reply(list(status = "ok"))),
       "/openapi.json" = list(method = "GET", answer = function(service, query) reply(service_schema())),
       "/" = list(method = "GET", answer = function(service, query) reply_page(service_page())))
}

# Whatever goes wrong is an answer; what is not ours to tell is told as 500.
checked_reply <- function(code) {
  tryCatch(code, gpbandits_store_error = function(e) reply_error(503, "the store does not answer"),
           gpbandits_error = function(e) reply_error(400, conditionMessage(e), argument = e$argument),
           error = function(e) reply_error(500, "an error in the service"))
}

# On a connection that is kept, what follows the headers waits for the client's delayed acknowledgement: 40 ms.
at_once <- list(Connection = "close")

reply <- function(value, status = 200L, headers = list()) {
  body <- jsonlite::toJSON(value, auto_unbox = TRUE, digits = NA, null = "null", na = "null", dataframe = "rows")
  list(status = status, headers = c(list("Content-Type" = "application/json"), at_once, headers),
       body = as.character(body))
}

reply_error <- function(status, words, headers = list(), argument = NULL) {
  reply(c(list(error = words), if (!is.null(argument) && !is.na(argument)) list(argument = argument)),
        as.integer(status),
        headers)
}

reply_page <- function(text) {
  list(status = 200L, headers = c(list("Content-Type" = "text/html; charset=utf-8"), at_once), body = text)
}

# ---- requests ------------------------------------------------------------------------

body_of <- function(request) {
  bytes <- request$rook.input$read()
  if (any(bytes == as.raw(0))) stop_argument("body", "bytes that are no text", "JSON")
  text <- rawToChar(bytes)
  if (!nzchar(text)) return(list())
  if (!validUTF8(text)) stop_argument("body", "bytes that are not UTF-8", "JSON")
  found <- tryCatch(cpp_json_read(text, vectors = FALSE), error = function(e) {
    stop_argument("body", paste0("text that is no JSON (", conditionMessage(e), ")"), "a JSON object")
  })
  if (!is.list(found) || (length(found) && is.null(names(found)))) {
    stop_argument("body", describe(found), "a JSON object")
  }
  found
}

query_of <- function(request) {
  text <- sub("^\\?", "", paste0(request$QUERY_STRING, ""))
  if (!nzchar(text)) return(list())
  pairs <- regmatches(strsplit(text, "&", fixed = TRUE)[[1]], regexpr("=", strsplit(text, "&", fixed = TRUE)[[1]]),
                      invert = TRUE)
  pairs <- Filter(function(pair) length(pair) == 2, pairs)
  stats::setNames(lapply(pairs, function(pair) decoded(pair[2])), vapply(pairs, `[`, "", 1))
}

decoded <- function(text) {
  whole <- !grepl("%(?![0-9A-Fa-f]{2})|%00", text, perl = TRUE)
  found <- if (whole) utils::URLdecode(text)
  if (is.null(found) || !validUTF8(found)) {
    stop_argument("query", "text that is not encoded as in a URL", "UTF-8, with %xx")
  }
  found
}

check_fields <- function(body, known) {
  strange <- setdiff(names(body), known)
  if (length(strange)) {
    stop_argument(strange[1], "a field that is not known here", paste("one of", paste(known, collapse = ", ")))
  }
}

# A field that holds one number or an array of them.
numbers_field <- function(body, name) {
  value <- body[[name]]
  if (is.null(value)) return(NULL)
  if (is.list(value)) value <- unlist(value)
  if (!is.numeric(value)) stop_argument(name, describe(value), "a number, or an array of numbers")
  as.double(value)
}

context_field <- function(service, value) if (!is.null(value)) matrix(value, 1, length(value))

serve_suggest <- function(service, body) {
  check_fields(body, c("n", "worker", "lease", "context"))
  n <- check_count(if (is.null(body$n)) 1 else body$n, "n", upper = 1000)
  found <- service$bandit$suggest(n, context = context_field(service, numbers_field(body, "context")),
                                  worker = body$worker,
                                  lease = if (is.null(body$lease)) 60 else body$lease)
  inputs <- setdiff(names(found), c("id", "token", "attempt", "arm"))
  reply(list(queries = lapply(seq_len(nrow(found)), function(k) {
    c(list(id = found$id[k], token = found$token[k], attempt = found$attempt[k]),
      if (!is.null(found$arm)) list(arm = found$arm[k]), list(point = as.list(found[k, inputs, drop = FALSE])))
  })))
}

serve_observe <- function(service, body) {
  check_fields(body, c("id", "reward", "token", "constraints"))
  id <- numbers_field(body, "id")
  token <- unlist(body$token)
  service$bandit$observe(id, numbers_field(body, "reward"), constraints = numbers_field(body, "constraints"),
                         token = token)
  reply(list(id = id, status = "known"))
}

serve_fail <- function(service, body) {
  check_fields(body, c("id", "reason"))
  id <- numbers_field(body, "id")
  service$bandit$fail(id, reason = if (is.null(body$reason)) NULL else check_string(body$reason, "reason"))
  reply(list(id = id, status = "failed"))
}

serve_heartbeat <- function(service, body) {
  check_fields(body, "token")
  reply(list(renewed = store_heartbeat(service$store, unlist(body$token))))
}

serve_best <- function(service, query) {
  context <- if (!is.null(query$context)) suppressWarnings(as.double(strsplit(query$context, ",", fixed = TRUE)[[1]]))
  service$bandit$catch_up()
  best <- service$bandit$best(context = context_field(service, context))
  inputs <- setdiff(names(best), c("arm", "mean", "sd"))
  reply(c(if (!is.null(best$arm)) list(arm = best$arm),
          list(point = as.list(best[1, inputs, drop = FALSE]), mean = best$mean, sd = best$sd)))
}

serve_history <- function(service, query) {
  whole <- function(name, default, upper) {
    if (is.null(query[[name]])) return(default)
    check_count(suppressWarnings(as.double(query[[name]])), name, lower = 0, upper = upper)
  }
  service$bandit$catch_up()
  total <- table_size(service$bandit$queries)
  after <- whole("after", 0, .Machine$integer.max)
  last <- min(total, after + whole("limit", 1000, 10000))
  ids <- if (last > after) seq(after + 1, last) else integer()
  reply(list(rows = bandit_history(as.environment(service$bandit), ids), total = total))
}
