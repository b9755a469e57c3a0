# Connections of the HTTP service. Layer: service.

# The connections of a service. httpuv ends no connection automatically and lets clients upgrade any of them. The code
# of this file ends WebSocket requests and connections that last too long. If there are too many connections, it ends
# the oldest first.

# Checks the connections at regular intervals, while R is idle or between requests. All pending requests are processed
# between two checks. A complete request is therefore answered before its connection has been counted often, however
# long R was busy. Returns functions: `alive(request)` counts a connection from the beginning, `stop()` ends the
# checks. `keeps`: may a connection stay open after an answer? (httpuv sends headers and body one after the other. The
# body would wait 40 ms for the client's delayed acknowledgement of the headers, unless the sockets send at once.)
watch_connections <- function(port, time_limit, connections) {
  interval <- min(1, time_limit / 10)
  looks <- ceiling(time_limit / interval)
  keeps <- cpp_send_at_once(port)
  room <- min(connections, cpp_most_files() %/% 2)
  seen <- integer()
  over <- FALSE
  look <- function() {
    if (over) return(invisible())
    there <- unique(cpp_connections(port))
    before <- seen[there]
    seen <<- stats::setNames(ifelse(is.na(before), 0L, before) + 1L, there)
    many <- names(utils::head(sort(seen, decreasing = TRUE), max(0, length(seen) - room)))
    cpp_end_connections(port, union(names(seen)[seen > looks], many), "")
    later::later(look, interval)
  }
  later::later(look, interval)
  list(keeps = keeps, alive = function(request) seen[peer_of(request)] <<- 0L, stop = function() over <<- TRUE)
}

peer_of <- function(request) paste(request$REMOTE_ADDR, request$REMOTE_PORT)

# The connection stays open for further requests, unless this one was an error. (No connection is counted while R
# computes an answer, but others are while another process does.)
for_connection <- function(watch, request, answer) {
  if (is_promised(answer)) {
    return(promises::then(answer, function(value) {
      watch$alive(request)
      for_connection(watch, request, value)
    }))
  }
  if (!watch$keeps || answer$status >= 400L) closing(answer) else answer
}

closing <- function(answer) {
  if (!is.null(answer)) answer$headers[["Connection"]] <- "close"
  answer
}

# Does the request ask for another protocol than HTTP/1.1? (httpuv would continue with a handshake, or not answer.)
is_upgrade <- function(request) !is.null(request$HTTP_UPGRADE) || identical(request$REQUEST_METHOD, "CONNECT")

refuse_upgrade <- function(service, request) {
  answer <- closing(reply_error(400, "there are no WebSockets here, nor anything else than HTTP/1.1"))
  cpp_end_connections(service$port, peer_of(request), on_the_wire(for_method(request, answer), "Bad Request"))
  answer
}

on_the_wire <- function(answer, text) {
  headers <- c(answer$headers, if (is.null(answer$headers[["Content-Length"]])) content_length(answer$body))
  paste0("HTTP/1.1 ", answer$status, " ", text, "\r\n", paste0(names(headers), ": ", headers, "\r\n", collapse = ""),
         "\r\n", answer$body)
}
