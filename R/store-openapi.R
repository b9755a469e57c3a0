# What bandit_service() says about itself: an OpenAPI 3 schema, and a page made of it.

service_schema <- function() {
  number <- list(type = "number")
  text <- list(type = "string")
  whole <- list(type = "integer", minimum = 1)
  object <- function(..., required = NULL) {
    c(list(type = "object", properties = list(...)), if (!is.null(required)) list(required = I(required)))
  }
  point <- list(type = "object", description = "a value per input", additionalProperties = TRUE)
  query <- object(id = whole, token = text, attempt = whole, arm = whole, point = point)
  post <- function(summary, body, answer) service_path("post", summary, answer, body = body)
  get <- function(summary, answer, ...) service_path("get", summary, answer, parameters = list(...))
  list(
    openapi = "3.0.3",
    info = list(title = "gpbandits", version = "1", description = "Ask a bandit for queries and tell it rewards."),
    components = list(securitySchemes = list(token = list(type = "http", scheme = "bearer"))),
    security = list(list(token = list())),
    paths = list(
      "/suggest" = post("The next queries, leased to a worker.",
                        object(n = whole, worker = text, lease = number,
                               context = list(type = "array", items = number)),
                        object(queries = list(type = "array", items = query))),
      "/observe" = post("The reward of a query; the same one again changes nothing.",
                        object(id = whole, reward = number, token = text,
                               constraints = list(type = "array", items = number),
                               required = c("id", "reward")), object(id = whole, status = text)),
      "/fail" = post("A query that will never be answered.", object(id = whole, reason = text, required = "id"),
                     object(id = whole, status = text)),
      "/heartbeat" = post("Renews the lease of a query.", object(token = text, required = "token"),
                          object(renewed = list(type = "integer"))),
      "/best" = get("The point with the largest posterior mean.", object(point = point, mean = number, sd = number),
                    service_parameter("context", text)),
      "/history" = get("One row per query.", object(rows = list(type = "array", items = list(type = "object")),
                                                    total = number),
                       service_parameter("after", number), service_parameter("limit", number)),
      "/health" = get("Is the service up? Needs no token.", object(status = text))
    )
  )
}

service_parameter <- function(name, schema) list(name = name, `in` = "query", required = FALSE, schema = schema)

service_path <- function(method, summary, answer, body = NULL, parameters = list()) {
  json <- function(schema) list("application/json" = list(schema = schema))
  path <- list(summary = summary,
               responses = list("200" = list(description = "done", content = json(answer)),
                                "400" = list(description = "what was asked is wrong"),
                                "401" = list(description = "no token, or a wrong one"),
                                "503" = list(description = "the store does not answer")))
  if (!is.null(body)) path$requestBody <- list(required = TRUE, content = json(body))
  if (length(parameters)) path$parameters <- parameters
  stats::setNames(list(path), method)
}

service_page <- function() {
  paths <- service_schema()$paths
  rows <- vapply(names(paths), function(path) {
    method <- names(paths[[path]])
    sprintf("<tr><td><code>%s %s</code></td><td>%s</td></tr>", toupper(method), path, paths[[path]][[method]]$summary)
  }, "")
  paste0("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>gpbandits</title><h1>gpbandits</h1>",
         "<p>JSON over HTTP; every request but <code>/health</code> needs ",
         "<code>Authorization: Bearer &lt;token&gt;</code>. ",
         "Schema: <a href=\"openapi.json\">openapi.json</a>.</p><table>", paste(rows, collapse = ""), "</table></html>")
}
