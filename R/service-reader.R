# Answers that are computed in further processes and kept until the log grows. Layer: service.

# Answers of a service whose computation can take long: recommendation, Pareto front, slices, certificate, model check.
# They are kept until the log grows. Further processes, each with a replica, compute them, so that other requests do not
# wait: an answer waits only for others of the same path. Answers that were quick before are computed in this process.
# The file uses `later` and `promises`, which httpuv requires.

# `moment`: the number of seconds for which such an answer may delay other requests.
new_reader <- function(store, time_limit, moment = 0.25) {
  list2env(list(store = store, time_limit = time_limit, moment = moment, version = NULL, kept = list(),
                quick = character(), waiting = list(), asked = list(), last = 0, processes = list(), looks = FALSE,
                failures = 0, alone = is.null(store$connection$connect)), parent = emptyenv())
}

# The state on which an answer depends. The sizes are sufficient because the log only grows.
log_version <- function(bandit) {
  bandit <- as.environment(bandit)
  c(table_size(bandit$queries), known_events(bandit))
}

# An answer, or a `promise` of one.
answer_read <- function(service, door, path, query) {
  reader <- service$reader
  key <- as.character(jsonlite::toJSON(list(path, query[order(names(query))]), auto_unbox = TRUE))
  if (!catches_up(service, otherwise = !is.null(reader$kept[[key]]))) return(reader$kept[[key]])
  version <- log_version(service$bandit)
  if (!identical(reader$version, version)) {
    reader$version <- version
    reader$kept <- list()
  }
  if (!is.null(reader$kept[[key]])) return(reader$kept[[key]])
  if (reader$alone) return(keep_answer(reader, key, checked_reply(door$answer(service, query))))
  if (path %in% reader$quick) {
    answer <- for_a_moment(service, path, checked_reply(door$answer(service, query)))
    if (!is.null(answer)) return(keep_answer(reader, key, answer))
  }
  computed_elsewhere(reader, list(path = path, query = query, key = key))
}

# Adds the events of other processes. `otherwise`: if there is another answer, the store has a moment only, because
# another process may have locked it; FALSE if that was too short.
catches_up <- function(service, otherwise) {
  connection <- service$store$connection
  patience <- connection$patience
  on.exit(connection$patience <- patience)
  if (otherwise) connection$patience <- min(patience, service$reader$moment)
  found <- tryCatch(service$bandit$catch_up(), gpbandits_store_error = identity)
  if (inherits(found, "error") && !otherwise) stop(found)
  !inherits(found, "error")
}

# (The size is limited to some megabytes, because clients choose contexts and the number of questions is unlimited.)
keep_answer <- function(reader, key, answer) {
  if (answer$status == 200L) {
    size <- function(one) nchar(one$body, "bytes")
    if (sum(vapply(reader$kept, size, 0L), size(answer)) > 4e6) reader$kept <- list()
    if (size(answer) <= 4e6) reader$kept[[key]] <- answer
  }
  answer
}

# Computes an answer here. If it takes too long, the result is NULL, and later questions of this path go to another
# process. (R's compiler can lose a time limit that is reached while it compiles. So only paths that were quick before
# are computed here.)
for_a_moment <- function(service, path, answer) {
  reader <- service$reader
  began <- proc.time()[["elapsed"]]
  on.exit(setTimeLimit(elapsed = service$time_limit, transient = TRUE))
  setTimeLimit(elapsed = reader$moment, transient = TRUE)
  found <- answer
  setTimeLimit(elapsed = Inf)
  late <- proc.time()[["elapsed"]] - began >= reader$moment
  if (late) reader$quick <- setdiff(reader$quick, path)
  if (found$status == 200L || !late) found
}

# ---- further processes -------------------------------------------------------------------

# Requests for an answer that is being computed wait for the same result.
computed_elsewhere <- function(reader, question) {
  if (length(reader$waiting) >= 200) return(reply_error(503, "too many answers are being computed: ask again"))
  if (is.null(reader$asked[[question$key]])) {
    reader$asked[[question$key]] <- list(question = question)
    give_out(reader)
  }
  promises::promise(function(resolve, reject) {
    waiter <- list(key = question$key, resolve = resolve, until = Sys.time() + 0.9 * reader$time_limit)
    reader$waiting <- c(reader$waiting, list(waiter))
    receive_answers(reader)
  })
}

# Gives each question to a process that is idle, or to a new one, unless another question of its path is being computed.
# So there are at most as many processes as paths, however many contexts a client asks about.
give_out <- function(reader) {
  for (key in names(reader$asked)) {
    one <- reader$asked[[key]]
    busy <- Filter(function(other) !is.null(other$process), reader$asked)
    if (!is.null(one$process) || one$question$path %in% vapply(busy, function(other) other$question$path, "")) next
    idle <- setdiff(names(reader$processes), vapply(busy, function(other) other$process, ""))
    name <- if (length(idle)) idle[1] else begin_reader(reader)
    reader$last <- reader$last + 1
    file <- file.path(reader$processes[[name]]$home, sprintf("question-%09.0f.rds", reader$last))
    save_whole(one$question, file)
    # (If there is no answer within this time, the process is treated as dead.)
    reader$asked[[key]] <- c(one, list(process = name, file = sub("question-", "answer-", file, fixed = TRUE),
                                       until = Sys.time() + 25 * reader$time_limit + 60))
  }
}

begin_reader <- function(reader) {
  process <- begin_second_process("reader_loop", list(store = reader$store, every = 0,
                                                      time_limit = 20 * reader$time_limit))
  reader$processes[[process$home]] <- process
  process$home
}

# Checks for answers at short intervals while there are open questions.
receive_answers <- function(reader) {
  if (reader$looks) return(invisible())
  reader$looks <- TRUE
  look <- function() {
    reader$looks <- FALSE
    ended <- Filter(function(name) has_ended(reader, name), names(reader$processes))
    for (key in names(reader$asked)) {
      file <- reader$asked[[key]]$file
      if (!is.null(file) && file.exists(file)) take_answer(reader, key, file)
    }
    late <- vapply(reader$waiting, function(one) Sys.time() > one$until, NA)
    end_waiting(reader, late, reply_late(reader$time_limit))
    for (name in ended) give_up_process(reader, name)
    give_out(reader)
    if (length(reader$asked)) receive_answers(reader)
  }
  later::later(look, 0.03)
}

take_answer <- function(reader, key, file) {
  found <- readRDS(file)
  unlink(file)
  path <- reader$asked[[key]]$question$path
  reader$asked[[key]] <- NULL
  reader$failures <- 0
  reader$quick <- if (found$took < reader$moment / 5) union(reader$quick, path) else setdiff(reader$quick, path)
  if (identical(found$version, reader$version)) keep_answer(reader, key, found$answer)
  end_waiting(reader, vapply(reader$waiting, function(one) one$key == key, NA), found$answer)
}

end_waiting <- function(reader, who, answer) {
  ready <- reader$waiting[who]
  reader$waiting <- reader$waiting[!who]
  for (one in ready) one$resolve(answer)
}

has_ended <- function(reader, name) {
  pid <- file.path(name, "pid.rds")
  late <- function(one) identical(one$process, name) && Sys.time() > one$until
  file.exists(file.path(name, "ended")) || any(vapply(reader$asked, late, NA)) ||
    (.Platform$OS.type == "unix" && file.exists(pid) && !tools::pskill(readRDS(pid), 0))
}

# A later question starts a new process, unless three in a row have ended without an answer.
give_up_process <- function(reader, name) {
  reader$failures <- reader$failures + 1
  reader$alone <- reader$failures >= 3
  end_process(reader, name)
}

end_process <- function(reader, name) {
  reader$processes[[name]]$stop()
  reader$processes[[name]] <- NULL
  lost <- Filter(function(key) identical(reader$asked[[key]]$process, name), names(reader$asked))
  reader$asked[lost] <- NULL
  end_waiting(reader, vapply(reader$waiting, function(one) one$key %in% lost, NA),
              reply_error(503, "the computation was ended: ask again"))
}

end_reader <- function(reader) {
  reader$asked <- Filter(function(one) !is.null(one$process), reader$asked)
  for (name in names(reader$processes)) end_process(reader, name)
}
