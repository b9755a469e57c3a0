# Leases: who works on what, and rewards that count once. Time passes by moving the leases back, not by waiting.

test_that("a worker that asks again gets its own query, others get others", {
  skip_on_cran()
  on_databases(function(place) {
    core <- store_makers$ucb(store = store_at(place, seed = 2))
    theirs <- open_bandit(store_at(place))
    a <- core$suggest(worker = "a", lease = 60)
    b <- theirs$suggest(2, worker = "b", lease = 60)
    expect_identical(c(a$id, b$id), 1:3)
    expect_identical(core$suggest(worker = "a", lease = 60), a)
    expect_identical(open_bandit(store_at(place))$suggest(2, worker = "b", lease = 60), b)     # a new process
    expect_identical(theirs$suggest(3, worker = "b", lease = 60)$id, c(2L, 3L, 4L))
    expect_identical(core$suggest()$id, 5L)                                       # nobody in particular
    expect_identical(core$suggest()$id, 6L)
    expect_true(all(nchar(c(a$token, b$token)) == 32) && !anyDuplicated(c(a$token, b$token)))
    core$observe(1, 0.1, token = a$token)
    expect_identical(core$suggest(worker = "a", lease = 60)$id, 7L)
  })
})

test_that("a query whose lease has ended is offered again, and a late reward is accepted while the query is open", {
  on_databases(function(place) {
    bandit <- store_makers$ucb(store = store_at(place, attempts = 3))
    a <- bandit$suggest(worker = "a", lease = 60)
    run_out(place)
    b <- open_bandit(store_at(place))$suggest(worker = "b", lease = 60)
    expect_identical(b$id, a$id)
    expect_identical(b$attempt, 2L)
    expect_false(b$token == a$token)
    expect_identical(bandit$suggest(worker = "a", lease = 60)$id, 2L)          # it is no longer a's
    expect_identical(bandit$renew(a$token) + 0, 0)
    expect_identical(bandit$renew(b$token) + 0, 1)
    bandit$observe(1, 0.25, token = a$token)                       # late, but the first
    expect_identical(lease_states(place)$state, c("expired", "done", "open"))
    bandit$observe(1, 0.25, token = b$token)                       # the same value again changes nothing
    expect_match(refused(bandit$observe(1, 0.5, token = b$token)), "already has the result")
    expect_match(refused(bandit$observe(2, 0.5, token = a$token)), "token")
    expect_match(refused(bandit$observe(2, 0.5, token = "made up")), "token")
    expect_identical(bandit$history()$reward, c(0.25, NA))
    rewards <- tamper(place, "SELECT COUNT(*) AS n FROM gpb_event WHERE kind = 'reward'")
    expect_equal(as.double(rewards$n), 1)
  })
})

test_that("a heartbeat renews a lease by the server's clock, whatever the local clock shows", {
  on_databases(function(place) {
    bandit <- store_makers$ucb(store = store_at(place))
    bandit$suggest(worker = "a", lease = 50)
    run_out(place, 40)
    token <- tamper(place, "SELECT token FROM gpb_lease")$token
    bandit$renew(token)
    run_out(place, 40)
    # The clock of this machine goes wrong by an hour, either way.
    for (error in c(-3600, 3600)) {
      other <- with_clock_error(error, open_bandit(store_at(place))$suggest(worker = paste("b", error), lease = 60))
      expect_gt(other$id, 1)
    }
    run_out(place)
    expect_identical(with_clock_error(-3600, open_bandit(store_at(place))$suggest(worker = "c", lease = 60))$id, 1L)
  })
})

test_that("a server's clock that jumps back lengthens leases until renewal; nothing is lost or counted twice", {
  on_databases(function(place) {
    bandit <- store_makers$ucb(store = store_at(place))
    give_budget(place, 3)
    a <- bandit$suggest(worker = "a", lease = 60)
    b <- bandit$suggest(worker = "b", lease = 60)
    # (To a clock that is set back by an hour, all times that are written lie an hour later.)
    tamper(place, "UPDATE gpb_lease SET since = since + 3600, expires = expires + 3600")
    tamper(place, "UPDATE gpb_event SET at = at + 3600")
    run_out(place, 600)
    expect_identical(bandit$suggest(worker = "c", lease = 60)$id, 3L)              # both still hold theirs
    expect_identical(bandit$suggest(worker = "b", lease = 60), b)
    expect_identical(bandit$renew(a$token) + 0, 1)
    run_out(place, 600)
    heir <- bandit$suggest(worker = "c", lease = 60)
    expect_identical(heir$id, 1L)                                                  # the renewed ones use the new time
    bandit$observe(1, 0.5, token = a$token)
    bandit$observe(1, 0.5, token = heir$token)
    expect_match(refused(bandit$observe(1, 0.75, token = heir$token)), "already has the result")
    expect_same_log(open_bandit(store_at(place)), bandit)
    expect_output(print(summary(store_at(place))), "1 observed, 2 pending")
  })
})

test_that("no local time enters the database", {
  on_databases(function(place) {
    clock <- if (place$kind == "sqlite") "(julianday('now') - 2440587.5) * 86400.0" else "EXTRACT(EPOCH FROM clock_timestamp())"
    now <- function() as.double(tamper(place, "SELECT ", clock, " AS now")$now)
    began <- now()
    with_clock_error(-3600, {
      bandit <- store_makers$refits(store = store_at(place))
      for (k in 1:5) {
        query <- bandit$suggest(worker = "a", lease = 100)
        bandit$renew(query$token)
        bandit$observe(query$id, sin(query$x1), token = query$token)
      }
      bandit$suggest(worker = "a", lease = 100)
      bandit$suggest(worker = "a", lease = 100)                     # renewed
      bandit$fail(6)
    })
    times <- tamper(place, "SELECT created AS at FROM gpb_bandit UNION ALL SELECT at FROM gpb_event UNION ALL SELECT since FROM gpb_lease ",
                    "UNION ALL SELECT ended FROM gpb_lease UNION ALL SELECT expires - seconds FROM gpb_lease")$at
    expect_gt(length(times), 20)
    expect_true(all(times >= began - 0.01 & times <= now() + 0.01))
  })
})

test_that("a decision for a visitor is never given to another, and its late reward is accepted", {
  on_databases(function(place) {
    for (name in c("contexts", "open")) {
      bandit <- store_makers[[name]](store = store_at(place, name, attempts = 1))
      ask <- function(context, worker, lease = 60) bandit$suggest(context = context, worker = worker, lease = lease, visitor = TRUE)
      first <- ask(0, "a")
      expect_identical(ask(0, "a")$token, first$token)                                  # an answer was lost on its way
      expect_identical(ask(1, "a")$id, 2L)
      expect_identical(ask(0, "b")$id, 3L)
      expect_identical(bandit$suggest(context = 0)$id, 4L)                              # (nobody's name: a visitor too)
      run_out(place)
      expect_equal(bandit$renew(first$token), 1)
      run_out(place)
      for (worker in list("a", "b", "c", NULL)) {
        expect_gt(ask(0, worker, lease = 1e6)$id, 4L)
        expect_gt(bandit$suggest(context = 0, worker = worker, lease = NULL)$id, 4L)
      }
      # Nor to a worker, who finds nothing to wait for either.
      expect_gt(bandit$suggest(context = 0, worker = "w", lease = 60)$id, 12L)
      replica <- open_bandit(store_at(place, name))
      replica$observe(first$id, 0.5, token = first$token)
      expect_identical(replica$history()$status, c("observed", rep("pending", 12)))
    }
  })
})

test_that("work in a context goes to the next worker in that context, and fails after its attempts", {
  on_databases(function(place) {
    for (name in c("contexts", "open")) {
      bandit <- store_makers[[name]](store = store_at(place, name, attempts = 2))
      first <- bandit$suggest(context = 0, worker = "a", lease = 60)
      bandit$suggest(context = 1, worker = "a", lease = 60)
      kept <- bandit$suggest(context = 0, worker = "a", lease = NULL)
      run_out(place)
      expect_identical(bandit$suggest(context = 0)$id, 4L)                              # a visitor gets something new
      heir <- bandit$suggest(3, context = rbind(0, 1, 0), worker = "b", lease = 60)
      expect_identical(heir$id, c(1L, 2L, 5L))
      expect_identical(heir$z, c(0, 1, 0))
      expect_identical(heir$attempt, c(2L, 2L, 1L))
      bandit$observe(1, 0.25, token = first$token)                                      # (the first one comes back)
      run_out(place)
      expect_identical(bandit$suggest(context = 1, worker = "c", lease = 60)$id, 6L)                # the second has had its two
      expect_identical(bandit$history()$status, c("observed", "failed", "pending", "pending", "pending", "pending"))
      bandit$suggest(context = 0, worker = "c", lease = 60)
      gpbandits:::give_back(as.environment(bandit), "c")                                # interrupted
      expect_identical(bandit$suggest(2, context = rbind(1, 0), worker = "d", lease = 60)$id, c(6L, 5L))
      expect_identical(kept$id, 3L)
    }
  })
})

test_that("a worker that asks for several contexts gets each in its own", {
  on_databases(function(place) {
    for (name in c("contexts", "open")) {
      bandit <- store_makers[[name]](store = store_at(place, name))
      both <- bandit$suggest(2, context = rbind(0, 1), worker = "d", lease = 60)
      mixed <- bandit$suggest(4, context = rbind(1, 1, 0, 0), worker = "d", lease = 60)      # its own two, and two new ones
      expect_identical(mixed$z, c(1, 1, 0, 0))
      expect_identical(mixed$id, c(2L, 3L, 1L, 4L))
      expect_identical(bandit$suggest(1, context = 1, worker = "d", lease = 60)$id, 2L)
    }
  })
})

test_that("people, who take no lease, keep their experiments for any time", {
  on_databases(function(place) {
    bandit <- auto_bandit(list(temp = c(40, 100), acid = c(0, 5)), store = store_at(place, "lab", attempts = 1, seed = 1))
    for (round in 1:3) {
      expect_identical(bandit$suggest(2)$id, 2L * round + -1:0)
      run_out(place, 1e6)                                                          # days
    }
    # Nor does anybody get them who takes leases.
    expect_identical(open_bandit(store_at(place, "lab"))$suggest(worker = "robot", lease = 60)$id, 7L)
    expect_identical(bandit$catch_up()$history()$status, rep("pending", 7))
    expect_identical(summary(store_at(place, "lab"))$working$expires[1:6], rep(Inf, 6))
    bandit$observe(1, 0.5)
    expect_identical(bandit$history()$status[1], "observed")
  })
})

test_that("without a lease a query belongs to its client forever", {
  on_databases(function(place) {
    bandit <- store_makers$ucb(store = store_at(place, attempts = 1))
    leased <- bandit$suggest(worker = "a", lease = 1)
    run_out(place)
    kept <- bandit$suggest(2, worker = "a", lease = NULL)                          # nobody else's, and nothing twice
    expect_identical(kept$id, 2:3)
    expect_identical(bandit$suggest(worker = "a", lease = NULL)$id, 4L)
    expect_identical(bandit$suggest(worker = "b", lease = 60)$id, 5L)                          # (the first has had its one attempt)
    run_out(place)
    expect_identical(bandit$suggest(worker = "b", lease = 60)$id, 6L)
    expect_equal(bandit$renew(kept$token[1]), 0)
    expect_match(refused(bandit$renew(1)), "token")
    expect_match(refused(bandit$copy()$renew(kept$token[1])), "in a store")
    expect_identical(bandit$history()$status, c("failed", rep("pending", 3), "failed", "pending"))
    bandit$observe(2, 0.5, token = kept$token[1])
    bandit$withdraw(3, token = kept$token[2], reason = "gone")
    states <- lease_states(place)
    expect_identical(states$state[states$query %in% 2:4], c("done", "withdrawn", "kept"))
    expect_match(refused(bandit$suggest(lease = 0)), "lease")
  })
})

test_that("tokens come from the system's generator, are independent, and protect every answer", {
  on_databases(function(place) {
    bandit <- store_makers$ucb(store = store_at(place, seed = 1))
    set.seed(1)
    seed <- .Random.seed
    tokens <- bandit$suggest(50)$token
    expect_identical(.Random.seed, seed)
    set.seed(1)
    tokens <- c(tokens, bandit$suggest(50)$token)
    expect_true(all(grepl("^[0-9a-f]{32}$", tokens)))
    # No digit of 100 tokens is the same in all of them, or in most: 6.25 are expected of each of 16.
    for (k in 1:32) expect_lt(max(table(substr(tokens, k, k))), 40)
    expect_identical(anyDuplicated(substr(tokens, 1, 16)), 0L)
    for (record in c(bandit$fail, bandit$withdraw)) expect_match(refused(record(1, token = tokens[2])), "token")
    bandit$observe(1, 0.5, token = tokens[1])
    expect_match(refused(bandit$amend(1, 0.6, token = tokens[2])), "token")
    bandit$amend(1, 0.6, token = tokens[1])
    bandit$fail(2, token = tokens[2])
    expect_identical(bandit$history()$status[1:3], c("observed", "failed", "pending"))
  })
})

test_that("a query is offered again only at an eligible arm", {
  on_databases(function(place) {
    bandit <- store_makers$ucb(store = store_at(place))
    arm <- bandit$suggest(worker = "a", lease = 60)$arm
    run_out(place)
    others <- setdiff(seq_along(store_x), arm)
    expect_true(bandit$suggest(worker = "b", arms = others, lease = 60)$arm %in% others)
    expect_identical(bandit$suggest(worker = "c", arms = arm, lease = 60)$id, 1L)
  })
})

test_that("names are text with any characters, however a server reads backslashes", {
  skip_on_cran()
  on_databases(function(place) {
    connect <- place$connect
    old_style <- function() {
      con <- connect()
      if (inherits(con, "PqConnection")) {
        DBI::dbExecute(con, "SET standard_conforming_strings = off", immediate = TRUE)
        DBI::dbExecute(con, "SET escape_string_warning = off", immediate = TRUE)
      }
      con
    }
    for (name in c("a\\", "\\' OR 1 = 1 --", "it's; \"x\" \u00e9\n\t\\n")) {
      bandit <- store_makers$ucb(store = bandit_store(old_style, name))
      other <- store_makers$ucb(store = bandit_store(old_style, paste(name, "'")))
      query <- bandit$suggest(worker = name, lease = 60)
      expect_identical(bandit$renew(query$token) + 0, 1)
      expect_identical(other$renew(query$token) + 0, 0)
      expect_identical(open_bandit(bandit_store(old_style, name))$suggest(worker = name, lease = 60)$token, query$token)
      bandit$fail(1, reason = name)
      seen <- tamper(place, "SELECT l.worker, l.reason, b.name FROM gpb_lease l JOIN gpb_bandit b ON b.bandit = l.bandit ORDER BY b.bandit")
      expect_identical(enc2utf8(unlist(utils::tail(seen, 1), use.names = FALSE)), enc2utf8(rep(name, 3)))
    }
  })
})

test_that("arguments of a call are evaluated before its transaction", {
  skip_if_not(store_packages("RSQLite"), "packages DBI, RSQLite and jsonlite are not installed")
  place <- sqlite_location()
  bandit <- store_makers$ucb(store = store_at(place))
  replica <- open_bandit(store_at(place))
  bandit$observe(bandit$suggest(worker = "a", lease = 60)$id, replica$suggest(worker = "b", lease = 60)$x1)     # in the middle of it nobody else could ask
  bandit$amend(1, replica$suggest(worker = "c", lease = 60)$x1)
  bandit$add(x = store_x[bandit$suggest(worker = "d", lease = 60)$arm], reward = replica$suggest(worker = "e", lease = 60)$x1)
  bandit$withdraw(bandit$suggest(worker = "f", lease = 60)$id)
  expect_identical(lease_states(place)$worker, letters[1:6])
  expect_identical(lease_states(place)$state, c("done", rep("open", 4), "withdrawn"))
})
