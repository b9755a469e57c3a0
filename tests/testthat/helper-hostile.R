# A client that means harm, on this machine only. What it sends is drawn from R's generator, so a seed gives one attack.

any_of <- function(x) x[[sample.int(length(x), 1)]]

random_bytes <- function(n) as.raw(sample.int(256, n, replace = TRUE) - 1)

# Some of a request's bytes changed, left out or doubled.
mutated <- function(bytes) {
  for (at in sample.int(length(bytes), min(length(bytes), sample.int(4, 1)))) {
    bytes <- switch(sample.int(3, 1), replace(bytes, min(at, length(bytes)), random_bytes(1)), bytes[-min(at, length(bytes))],
                    append(bytes, random_bytes(1), at))
  }
  bytes
}

hostile_bodies <- function() {
  list("", "{", "[]", "3", "null", "\"x\"", strrep("[", 3000), paste0(strrep("{\"a\":", 600), "1", strrep("}", 600)),
       paste0("{\"id\":", strrep("9", 3000), "}"), "{\"id\": 1e400, \"reward\": 1}", "{\"id\": -0.0, \"reward\": 1e-400}",
       "{\"id\": 99, \"reward\": 1, \"reward\": 2}", "{\"id\": 99, \"reward\": [1, null]}", "{\"id\": {\"id\": 1}}",
       "{\"worker\": \"a\\u0000b\"}", "{\"worker\": \"\\ud800\"}", "{\"n\": 1e9}", "{\"n\": \"1\"}", "{\"n\": true}",
       "{\"lease\": -1}", "{\"lease\": \"null\"}", "{\"arms\": [0]}", "{\"arms\": \"x\"}", "{\"context\": {\"a\": 1}}",
       "{\"token\": [1, 2]}", paste0("{\"token\": [", paste(rep("\"x\"", 900), collapse = ","), "]}"), "/etc/passwd", "file:///etc/passwd",
       "http://127.0.0.1:9/x", "{\"id\": 99, \"reward\": 1} trailing", "// {}", "{\"__proto__\": 1}", strrep(" ", 4000),
       paste0("{\"reason\": \"", strrep("\\\"", 1500), "\"}"), as.raw(c(0x7b, 0x00, 0x7d)), as.raw(c(0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d)),
       charToRaw("\xef\xbb\xbf{}"))
}

hostile_paths <- function() {
  c("/", "//", "/suggest/", "/../suggest", "/%73uggest", "/suggest%00", "/suggest;x=1", "*", "http://elsewhere/suggest", "/history?limit=%zz",
    "/history?limit=1e400", "/history?limit=1&limit=2", "/history?after=-1", "/best?context[", "/best?context[a]=1&context[a]=2", "/best?x",
    "/history?draws=1e9", paste0("/history?", strrep("a=1&", 3000)), paste0("/", strrep("a", 30000)), "/.git/config", "/%ff", "/?#/health")
}

# A request, and may its answer be waited for? (What is not whole is not answered.)
hostile_request <- function(token) {
  key <- paste("Authorization: Bearer", token)
  post <- function(...) http_text("POST", any_of(c("/suggest", "/observe", "/amend", "/fail", "/withdraw", "/heartbeat")), ...)
  whole <- function(bytes) list(bytes = as_bytes(bytes), wait = TRUE)
  open <- function(bytes) list(bytes = as_bytes(bytes), wait = FALSE)
  any_of(list(
    function() whole(post(key, any_of(hostile_bodies()))),
    function() whole(http_text(any_of(c("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH")), any_of(hostile_paths()), key)),
    function() whole(http_text("GET", any_of(c("/best", "/history")), c(character(), any_of(list("Authorization: Bearer ", "Authorization: Basic eDp5",
      paste0(key, "x"), toupper(key), sub(".$", "", key), paste0("Authorization: ", strrep("x", 20000))))))),
    function() whole(http_text("GET", "/health", sprintf("X-%d: %s", 1:300, strrep("x", 100)))),
    function() whole(post(c(key, "Transfer-Encoding: chunked"))),
    function() whole(http_text("GET", "/best", c(key, "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="))),
    function() whole(http_text("CONNECT", "/best", key)),
    function() whole(post(c(key, "Content-Length: 99999999999"))),
    function() open(mutated(post(key, any_of(hostile_bodies())))),
    function() open(random_bytes(sample.int(2000, 1))),
    function() open(utils::head(post(key, "{\"id\": 1, \"reward\": 1}"), sample.int(100, 1))),
    function() open(rep(http_text("GET", "/best", key), 20)),
    function() open(post(c(key, "Content-Length: 4000"))),
    function() open(rep(charToRaw("A"), 90000)),
    function() open(raw())
  ))()
}

# That number of requests; `each`, called now and then, checks the service. Returns the statuses of the answers.
attack <- function(port, token, requests, each, every = 100) {
  held <- list()
  on.exit(for (one in held) close(one))
  statuses <- integer()
  for (k in seq_len(requests)) {
    request <- hostile_request(token)
    # (A service that is full may reject requests of the attacker.)
    connection <- tryCatch(suppressWarnings(dial(port)), error = function(e) NULL)
    if (is.null(connection)) next
    suppressWarnings(try(writeBin(request$bytes, connection), silent = TRUE))
    if (request$wait) {
      statuses <- c(statuses, raw_status(read_all(connection)))
      close(connection)
    } else {
      # Held as long as this process can.
      held <- c(held, list(connection))
      if (length(held) > 80) {
        close(held[[1]])
        held <- held[-1]
      }
    }
    if (k %% every == 0) each(k)
  }
  statuses
}
