# The page of bandit_service(), in headless Chromium, by the keys that a person presses.

skip_without_page <- function() {
  skip_without_store("RSQLite", "httpuv")
  skip_without_browser()
}

place_with_page <- function() {
  skip_without_page()
  sqlite_location()
}

page_token <- "a secret of many letters"

# Signs in as a person does: the token's box has the focus after one Tab beyond the skip link.
sign_in <- function(browser, token) {
  browser$js("document.getElementById('token').focus()")
  type_text(browser, token)
  press_key(browser, "Enter")
}

# A service of the bandit in a store, and a browser at its page (signed in with `token`): both end with the test.
page_of <- function(place, token = page_token, test = parent.frame()) {
  starting <- begin_service(place, page_token)
  browser <- new_page()
  at_end(test, function() browser$close())
  service <- await_service(starting)
  at_end(test, function() service$end())
  open_page(browser, service$url)
  if (!is.null(token)) sign_in(browser, token)
  list(browser = browser, service = service)
}

# The page of a bandit in a store with this number of open queries.
page_with_queries <- function(count, test = parent.frame()) {
  place <- place_with_page()
  bandit <- gp_ucb(list(x = c(0, 1)), kernel_se(0.3), 0.01, width = width_constant(2), store = store_at(place, seed = 1))
  bandit$suggest(count)
  list(bandit = bandit, browser = page_of(place, test = test)$browser)
}

enter_result <- function(browser, id, text) {
  browser$js(sprintf("document.getElementById('result-%d-reward').select()", id))
  type_text(browser, text)
  press_key(browser, "Enter")
}

has_focus <- function(browser, what) browser$js(sprintf("document.activeElement.matches(\"%s\")", what))

press_button <- function(browser, label) {
  browser$js(sprintf("document.querySelector('button[aria-label=\"%s\"]').focus()", label))
  press_key(browser, "Enter")
}

status_of_page <- function(browser) browser$js("document.getElementById('status').textContent")

wait_for_status <- function(browser, text) {
  wait_in_page(browser, sprintf("document.getElementById('status').textContent.includes(\"%s\")", text))
}

# The recommendation comes when it is computed; until then the last one stays.
wait_for_best <- function(browser) wait_in_page(browser, "!document.getElementById('best').hasAttribute('aria-busy')")

# The page reads what others did, as it does every ten seconds.
show_page_again <- function(browser) browser$js("document.dispatchEvent(new Event('visibilitychange')); ''")

# The page does not read what others did until it is let: a hidden page does not.
as_hidden <- function(browser, code) {
  browser$js("Object.defineProperty(document, 'hidden', {value: true, configurable: true}); ''")
  on.exit(browser$js("delete document.hidden; ''"))
  force(code)
}

# What is typed, and not sent.
type_into <- function(browser, id, text) {
  browser$js(sprintf("document.getElementById('%s').focus(); document.getElementById('%s').select(); ''", id, id))
  type_text(browser, text)
}

text_in <- function(browser, id) browser$js(sprintf("document.getElementById('%s').value", id))

# Headings, names of inputs and numbers whose letters lie on more than one line (a break after _ . or - is none).
broken_text <- function(browser) {
  unlist(browser$js("Array.from(document.querySelectorAll('th, dt, td.n, dd.n, button')).filter((e) => e.offsetParent !== null).flatMap((e) => {
    const found = [];
    const walk = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) for (const word of walk.currentNode.textContent.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(walk.currentNode, word.index);
      range.setEnd(walk.currentNode, word.index + word[0].length);
      if (new Set(Array.from(range.getClientRects()).map((r) => Math.round(r.top))).size > 1) found.push(word[0]);
    }
    return found;
  })"))
}

# What went wrong in the page, or was forbidden to it.
faults_of_page <- function(browser) {
  Filter(function(event) event$method %in% c("Runtime.exceptionThrown", "Log.entryAdded") &&
           !identical(event$params$entry$source, "network"), browser$events)
}

open_panel <- function(browser, id) {
  browser$js(sprintf("document.getElementById('%s').open = true; ''", id))
  wait_in_page(browser, sprintf("document.querySelector('#%s .inside').innerText.length > 20", id))
  browser$js(sprintf("document.querySelector('#%s .inside').innerText", id))
}

fits_width <- function(browser, width) {
  browser$run("Emulation.setDeviceMetricsOverride", width = width, height = 800, deviceScaleFactor = 1, mobile = TRUE)
  browser$js("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
}

test_that("the page's files hold no data, load nothing from other sites, and their policy states it", {
  files <- gpbandits:::page_files()
  expect_named(files, c("/", "/page.css", "/page.js"))
  for (file in files) {
    expect_match(file$headers[["Content-Security-Policy"]], "^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
    expect_false(grepl("unsafe", file$headers[["Content-Security-Policy"]]))
    expect_false(grepl("(src|href)=\"(https?:)?//|@import|url\\(|innerHTML|insertAdjacentHTML|document.write|eval\\(|localStorage|cookie",
                       sub("// The page.*?\n\"use strict\"", "", file$body)))
    expect_identical(file$headers[["Cache-Control"]], "no-store")
  }
  expect_false(grepl("style=|onclick=|<script>", files[["/"]]$body))
  expect_lt(sum(nchar(vapply(files, `[[`, "", "body"))), 65000)
})

test_that("a campaign by keyboard works: a wrong token, a corrected entry, a withdrawn query, the results", {
  place <- place_with_page()
  evil <- "<img src=x onerror=\"window.hurt = 1\">"
  space <- search_space(temperature = param_real(20, 90), solvent = param_factor(c("water", evil)))
  truth <- function(p) 5 - ((p$temperature - 60) / 30)^2
  kernel <- kernel_se(20, dims = "temperature") + kernel_categorical(0.9, dims = "solvent")
  bandit <- gp_ucb(space, kernel, 0.01, width = width_constant(2), mean = 3, store = store_at(place, seed = 1))
  for (k in 1:3) {
    query <- bandit$suggest()
    bandit$observe(query$id, truth(query), token = query$token)
  }
  let_go(bandit)
  page <- page_of(place, token = NULL)
  browser <- page$browser

  # A wrong token: a message, nothing is shown, and another try.
  sign_in(browser, "a secret of many lettera")
  wait_in_page(browser, "document.getElementById('alert').textContent.includes('refused')")
  expect_true(browser$js("document.getElementById('campaign').hidden"))
  expect_identical(browser$js("document.getElementById('known').innerText"), "")
  expect_true(has_focus(browser, "#token"))
  expect_identical(browser$js("document.getElementById('token').value"), "")
  sign_in(browser, page_token)
  wait_for_status(browser, "Known: 3")
  expect_identical(browser$js("document.querySelector('h1').textContent"), "b")
  expect_identical(browser$js("document.title"), "b (gpbandits)")

  # The token is in no element or cookie, and in the storage of this tab only.
  expect_identical(browser$js("document.cookie + localStorage.length + sessionStorage.length"), "01")
  expect_false(browser$js(sprintf("document.documentElement.outerHTML.includes('%s')", page_token)))
  expect_false(browser$js(sprintf("Array.from(document.querySelectorAll('input')).some((i) => i.value.includes('%s'))", page_token)))

  # Asking: the number of experiments is checked, then boxes are there, the first with the focus.
  browser$js("document.getElementById('count').select()")
  type_text(browser, "two")
  press_key(browser, "Enter")
  expect_identical(browser$js("document.getElementById('count-fault').textContent"), "Write a whole number.")
  expect_identical(browser$js("document.getElementById('count').getAttribute('aria-invalid')"), "true")
  browser$js("document.getElementById('count').select()")
  type_text(browser, "4")
  press_key(browser, "Enter")
  wait_for_status(browser, "4 experiments are open: 4, 5, 6, 7")
  expect_true(has_focus(browser, "#result-4-reward"))

  # What is no number is not sent; a wrong number is saved, and corrected.
  enter_result(browser, 4, "4 2")
  expect_match(browser$js("document.getElementById('result-4-reward-fault').textContent"), "Write a number such as 1.5")
  enter_result(browser, 4, "42")
  wait_for_status(browser, "42 is saved")
  expect_true(has_focus(browser, "#result-5-reward"))
  press_button(browser, "Correct the result of experiment 4")
  expect_identical(browser$js("document.activeElement.value"), "42")
  type_text(browser, "4.2")
  press_key(browser, "Enter")
  wait_for_status(browser, "corrected from 42 to 4.2")
  expect_true(has_focus(browser, "#correct-4"))

  # One begun in error is left as it was by Escape, one failed, one withdrawn, one answered.
  press_button(browser, "Experiment 5 failed")
  press_key(browser, "Escape")
  expect_identical(browser$js("document.querySelectorAll('#open tbody tr').length"), 3L)
  press_button(browser, "Experiment 5 failed")
  type_text(browser, "broken flask")
  press_key(browser, "Enter")
  wait_for_status(browser, "5 is marked as failed")
  press_button(browser, "Withdraw experiment 6")
  press_key(browser, "Enter")
  wait_for_status(browser, "6 is withdrawn")
  enter_result(browser, 7, "-1.5e-1")
  wait_for_status(browser, "-0.15 is saved")
  expect_false(browser$js("document.getElementById('open-none').hidden"))

  # A different reward that another client gave meanwhile: an error with a message.
  replica <- open_bandit(store_at(place))
  history <- replica$history()
  expect_identical(history$status, c(rep("observed", 4), "failed", "withdrawn", "observed"))
  expect_identical(history$reward[c(4, 7)], c(4.2, -0.15))
  expect_identical(tamper(place, "SELECT reason FROM gpb_lease WHERE query = 5")$reason, "broken flask")
  browser$js("document.getElementById('leave').click(); ''")
  expect_true(browser$js("document.getElementById('campaign').hidden && document.getElementById('known').innerText === ''"))
  sign_in(browser, page_token)
  wait_for_status(browser, "Known: 5")
  # Inputs that are given are not chosen; values that are no numbers are not sent.
  browser$js("document.querySelector('#fixed select').value = 'water'; document.querySelector('#fixed input').focus()")
  type_text(browser, "30 degrees")
  press_key(browser, "Enter")
  expect_match(browser$js("document.querySelector('#fixed .fault').textContent"), "Write a number")
  browser$js("document.querySelector('#fixed input').select()")
  type_text(browser, "33.5")
  press_key(browser, "Enter")
  wait_for_status(browser, "Experiment 8 is open (temperature 33.5, solvent water)")
  replica$catch_up()
  as_hidden(browser, {
    replica$observe(8, 1)
    enter_result(browser, 8, "2")
    wait_in_page(browser, "document.getElementById('alert').textContent.includes('amend')")
    replica$amend(8, 2)
    let_go(replica)
    enter_result(browser, 8, "2")
    wait_for_status(browser, "2 is saved")
  })

  # Data and model in plots with words.
  best <- replica$best()
  wait_for_best(browser)
  said <- browser$js("Array.from(document.querySelectorAll('#best dd')).map((d) => d.textContent).join('|')")
  expect_identical(said, paste(round(best$temperature, 2), best$solvent, sep = "|"))
  expect_match(browser$js("document.querySelector('#progress title').textContent"), "^6 results so far; the best is")
  slices <- open_panel(browser, "slices")
  expect_match(slices, "temperature: predicted best at")
  expect_identical(browser$js("document.querySelectorAll('#slices svg[role=img] > title').length"), 2L)
  gain <- replica$expected_improvement(4)
  expect_match(open_panel(browser, "improvement"), format(signif(gain$mean, 6), digits = 6), fixed = TRUE)
  certificate <- suppressWarnings(replica$certificate(), classes = "gpbandits_model")
  expect_match(open_panel(browser, "certificate"), paste("At most", format(signif(certificate$gap, 6), digits = 6)), fixed = TRUE)
  expect_match(tolower(open_panel(browser, "check")), tolower(check_model(replica)$verdict), fixed = TRUE)

  # Text of the campaign is text; nothing went wrong or was forbidden.
  expect_true(browser$js("document.body.innerText.includes('onerror')"))
  expect_true(browser$js("window.hurt === undefined && document.querySelector('img') === null"))
  expect_identical(faults_of_page(browser), list())

  # For a screen reader: landmarks, one heading of the first level, tables with heads, names for all there is to press.
  names <- accessible_names(browser)
  expect_true(all(c("banner", "main", "contentinfo", "region", "status", "table", "columnheader") %in% names$role))
  for (role in c("button", "textbox", "link", "region", "table", "image", "combobox")) {
    expect_true(all(nzchar(names$name[names$role == role])), info = role)
  }
  expect_true("Correct the result of experiment 4" %in% names$name)
  expect_identical(browser$js("document.querySelectorAll('h1').length"), 1L)
  for (width in c(320, 390, 768)) expect_true(fits_width(browser, width), info = width)

  # Signed out and loaded again, it has no token.
  browser$js("document.getElementById('leave').click(); ''")
  browser$run("Page.reload")
  wait_for_load(browser, "document.getElementById('door') && !document.getElementById('door').hidden")
  expect_true(browser$js("document.getElementById('campaign').hidden"))

  # The service ends while the page is open: it is said what may have happened.
  sign_in(browser, page_token)
  wait_for_status(browser, "Known: 6")
  page$service$end()
  browser$js("document.getElementById('ask').requestSubmit(); ''")
  wait_in_page(browser, "document.getElementById('alert').textContent.includes('does not answer')")
})

test_that("contexts, limits and arms have their fields and plots", {
  skip_without_page()
  skip_if_not(second_level(), "at the second level")
  place <- sqlite_location()
  bandit <- gp_ucb(cbind(dose = 1:4 / 4, time = c(1, 2, 1, 2)), kernel_se(c(0.5, 1, 1)), 0.01, contexts = "age",
                   constraints = constraints_noisy(1, 3, 0.5), store = store_at(place, seed = 1))
  for (k in 1:4) {
    query <- bandit$suggest(context = k / 4)
    bandit$observe(query$id, query$dose, constraints = -0.5, token = query$token)
  }
  let_go(bandit)
  browser <- page_of(place)$browser
  wait_for_status(browser, "Known: 4")
  # Nothing is asked without a context.
  browser$js("document.getElementById('ask').requestSubmit(); ''")
  expect_match(browser$js("document.querySelector('#context .fault').textContent"), "Write a number")
  browser$js("document.querySelector('#context input').focus()")
  type_text(browser, "0.5")
  press_key(browser, "Enter")
  wait_in_page(browser, "document.querySelectorAll('#best dd').length > 0")
  replica <- open_bandit(store_at(place))
  expect_match(browser$js("document.getElementById('best').innerText"), paste0("arm\n", replica$best(context = 0.5)$arm))
  browser$js("document.getElementById('ask').requestSubmit(); ''")
  wait_for_status(browser, "Experiment 5 is open")
  enter_result(browser, 5, "0.7")
  expect_match(browser$js("document.getElementById('result-5-g1-fault').textContent"), "Write a number")
  browser$js("document.getElementById('result-5-g1').focus()")
  type_text(browser, "-0.25")
  press_key(browser, "Enter")
  wait_for_status(browser, "0.7 is saved")
  replica$catch_up()
  expect_identical(unlist(replica$history()[5, c("reward", "g1", "age")]), c(reward = 0.7, g1 = -0.25, age = 0.5))
  expect_match(open_panel(browser, "slices"), "arm: predicted best at")
  expect_identical(faults_of_page(browser), list())
})

test_that("pairwise comparisons work on the page: in pairs, with a tie and a correction", {
  place <- place_with_page()
  recipes <- data.frame(lemon = c(40, 60, 80, 50), sugar = c(30, 60, 45, 50))
  bandit <- gp_bandit(recipes, kernel_se(c(20, 20), variance = 4), policy = policy_duel(2),
                      rewards = rewards_preferences(ties = TRUE), store = store_at(place, seed = 1))
  let_go(bandit)
  browser <- page_of(place)$browser
  wait_for_status(browser, "Known: 0")
  expect_match(browser$js("document.getElementById('duel').innerText"), "Get two suggestions first")
  # Two are asked for unless something else is said; then the first of the two answers has the focus.
  ask_for_two <- function(ids) {
    browser$js("document.getElementById('count').focus()")
    press_key(browser, "Enter")
    wait_for_status(browser, paste("2 experiments are open:", paste(ids, collapse = ", ")))
    browser$js("Array.from(document.querySelectorAll('#choices button')).map((b) => b.textContent).join('|')")
  }
  expect_identical(ask_for_two(1:2), "1 is better|2 is better|A tie")
  expect_true(has_focus(browser, "#choices button"))
  press_key(browser, "Enter")
  wait_for_status(browser, "Experiment 1 is better than 2: saved")
  replica <- open_bandit(store_at(place))
  expect_identical(replica$history()$reward, c(1, 0))
  ask_for_two(3:4)
  press_button(browser, "Experiments 3 and 4 are equally good")
  wait_for_status(browser, "equally good: saved")
  # It was the second glass after all.
  press_button(browser, "Correct the result of experiment 1")
  expect_true(has_focus(browser, "#known .choices button"))
  press_button(browser, "Experiment 2 is better than 1")
  wait_for_status(browser, "Experiment 2 is better than 1: corrected")
  expect_true(has_focus(browser, "#correct-1"))
  replica$catch_up()
  history <- replica$history()
  expect_identical(history$reward, c(0, 1, 0.5, 0.5))
  # The texts on all of it: pairs, recommendation, probabilities against that.
  known <- browser$js("document.getElementById('known').innerText")
  expect_match(known, sprintf("not as good as experiment 2 (arm %d, lemon %g, sugar %g)", history$arm.2[1], history$lemon.2[1],
                              history$sugar.2[1]), fixed = TRUE)
  expect_match(known, "as good as experiment 4", fixed = TRUE)
  wait_for_best(browser)
  expect_match(browser$js("document.getElementById('best').innerText"), paste0("arm\n", replica$best()$arm))
  expect_match(open_panel(browser, "slices"), "most often preferred at")
  expect_match(open_panel(browser, "certificate"), "At most")
  expect_match(open_panel(browser, "check"), "comparisons")
  # Any two: one that has been compared may be met again.
  browser$js("document.getElementById('count').select()")
  type_text(browser, "1")
  press_key(browser, "Enter")
  wait_for_status(browser, "Experiment 5 is open")
  expect_match(browser$js("document.getElementById('second').selectedOptions[0].textContent"), "compared before")
  press_button(browser, "Experiment 5 is better than 4")
  wait_for_status(browser, "Experiment 5 is better than 4: saved")
  replica$catch_up()
  expect_identical(unlist(replica$history()[5, c("reward", "arm.2")]), c(reward = 1, arm.2 = history$arm[4]))
  expect_true(browser$js("document.getElementById('open').hidden"))
  expect_identical(faults_of_page(browser), list())
  names <- accessible_names(browser)
  for (role in c("button", "textbox", "region", "table", "combobox")) expect_true(all(nzchar(names$name[names$role == role])), info = role)
  for (width in c(320, 768)) expect_true(fits_width(browser, width), info = width)
})

test_that("several outcomes have a field each, filled in as they arrive", {
  place <- place_with_page()
  bandit <- gp_ei(list(x = c(0, 1)), kernel_se(0.3), 0.01, pending = pending_hallucinate(), store = store_at(place, seed = 1),
                  outcomes = list(yield = to_maximize(), impurity = at_most(0.5), ph = at_least(2)))
  bandit$add(x = c(0.1, 0.3, 0.9), reward = data.frame(yield = c(1, 2, 3), impurity = c(0.1, 0.3, 0.9), ph = 5))
  let_go(bandit)
  browser <- page_of(place)$browser
  wait_for_status(browser, "Known: 3")
  expect_match(browser$js("document.getElementById('story').textContent"), "yield maximised, impurity at most 0.5, ph at least 2")
  expect_match(browser$js("document.querySelector('#progress title').textContent"), "3 results so far; the best that keeps the limits is 2")
  wait_for_best(browser)
  expect_match(browser$js("document.getElementById('best-note').textContent"), "yield .*impurity .*The limits hold there with probability")
  browser$js("document.getElementById('ask').requestSubmit(); ''")
  wait_for_status(browser, "Experiment 4 is open")
  expect_true(has_focus(browser, "#result-4-yield"))
  # Some of the boxes, one that holds no number, none at all.
  box <- function(name, text) {
    browser$js(sprintf("document.getElementById('result-4-%s').select(); ''", name))
    type_text(browser, text)
    press_key(browser, "Enter")
  }
  press_key(browser, "Enter")
  expect_match(browser$js("document.getElementById('result-4-yield-fault').textContent"), "here or in another box")
  box("impurity", "low")
  expect_match(browser$js("document.getElementById('result-4-impurity-fault').textContent"), "Write a number")
  box("impurity", "0.2")
  wait_for_status(browser, "impurity 0.2 saved. The other outcomes are still open.")
  expect_identical(browser$js("document.getElementById('result-4-impurity')"), NULL)
  expect_match(browser$js("document.getElementById('query-4').textContent"), "impurity 0.2")
  press_button(browser, "Correct the result of experiment 4")
  type_text(browser, "0.25")
  press_key(browser, "Enter")
  wait_for_status(browser, "corrected from impurity 0.2 to impurity 0.25")
  browser$js("document.getElementById('result-4-yield').select(); ''")
  type_text(browser, "2.5")
  browser$js("document.getElementById('result-4-ph').select(); ''")
  type_text(browser, "4")
  press_key(browser, "Enter")
  wait_for_status(browser, "yield 2.5, ph 4 saved.")
  replica <- open_bandit(store_at(place))
  expect_identical(unlist(replica$history()[4, c("yield", "impurity", "ph")]), c(yield = 2.5, impurity = 0.25, ph = 4))
  let_go(replica)
  expect_match(open_panel(browser, "slices"), "x: predicted best at")
  expect_identical(faults_of_page(browser), list())
  expect_true(fits_width(browser, 320))
})

test_that("entries stay when others save results, and the user is informed if a query is gone", {
  page <- page_with_queries(5)
  bandit <- page$bandit
  browser <- page$browser
  wait_for_status(browser, "Open: 5")
  type_into(browser, "result-2-reward", "0.25")
  type_into(browser, "result-3-reward", "0.35")
  press_button(browser, "Withdraw experiment 4")
  type_text(browser, "no more substrate")
  type_into(browser, "count", "7")
  browser$js("window.row2 = document.getElementById('query-2'); ''")
  # One is saved here: the others stay unchanged, and the next empty field has the focus.
  enter_result(browser, 1, "0.1")
  wait_for_status(browser, "0.1 is saved")
  expect_identical(text_in(browser, "result-2-reward"), "0.25")
  expect_identical(text_in(browser, "result-3-reward"), "0.35")
  expect_identical(browser$js("document.querySelector('#query-4 .under-way input').value"), "no more substrate")
  expect_identical(text_in(browser, "count"), "7")
  expect_true(browser$js("window.row2 === document.getElementById('query-2')"))
  expect_true(has_focus(browser, "#result-5-reward"))
  # Somebody else answers one, corrects another and asks for more, while a correction is being typed.
  press_button(browser, "Correct the result of experiment 1")
  type_text(browser, "0.111")
  bandit$observe(5, 0.5)
  bandit$amend(1, 0.15)
  bandit$suggest()
  show_page_again(browser)
  wait_in_page(browser, "document.getElementById('query-6') !== null && document.getElementById('query-5') === null")
  expect_identical(text_in(browser, "result-2-reward"), "0.25")
  expect_identical(browser$js("document.querySelector('#query-4 .under-way input').value"), "no more substrate")
  expect_identical(browser$js("document.activeElement.value"), "0.111")
  expect_match(browser$js("document.getElementById('known').innerText"), "0.15")
  expect_identical(browser$js("document.getElementById('alert').textContent"), "")
  press_key(browser, "Enter")
  wait_for_status(browser, "corrected")
  # Somebody else answers one whose result is being typed: it is removed, with a message.
  bandit$catch_up()
  bandit$observe(3, 0.3)
  show_page_again(browser)
  wait_in_page(browser, "document.getElementById('alert').textContent.includes('Your entry was not sent: 0.35')")
  expect_identical(text_in(browser, "result-2-reward"), "0.25")
  # All of it can still be sent.
  browser$js("document.getElementById('result-2-reward').focus()")
  press_key(browser, "Enter")
  wait_for_status(browser, "0.25 is saved")
  browser$js("document.querySelector('#query-4 .under-way input').focus()")
  press_key(browser, "Enter")
  wait_for_status(browser, "4 is withdrawn")
  bandit$catch_up()
  expect_identical(bandit$history()$reward, c(0.111, 0.25, 0.3, NA, 0.5, NA))
  expect_identical(faults_of_page(browser), list())
})

test_that("the numbers of open and known experiments follow what others do, and other messages stay", {
  page <- page_with_queries(4)
  bandit <- page$bandit
  browser <- page$browser
  wait_for_status(browser, "Open: 4 experiments. Known: 0.")
  bandit$observe(2, 0.5)
  show_page_again(browser)
  wait_for_status(browser, "Open: 3 experiments. Known: 1.")
  enter_result(browser, 1, "0.1")
  wait_for_status(browser, "0.1 is saved")
  bandit$observe(3, 0.5)
  show_page_again(browser)
  wait_in_page(browser, "document.getElementById('query-3') === null")
  expect_match(status_of_page(browser), "0.1 is saved")
})

test_that("with several outcomes, entries stay when another one of the row is saved elsewhere", {
  place <- place_with_page()
  bandit <- gp_ei(list(x = c(0, 1)), kernel_se(0.3), 0.01, store = store_at(place, seed = 1),
                  outcomes = list(yield = to_maximize(), impurity = at_most(0.5)))
  bandit$suggest(2)
  browser <- page_of(place)$browser
  wait_for_status(browser, "Open: 2")
  type_into(browser, "result-2-yield", "5")
  type_into(browser, "result-1-impurity", "0.25")
  type_into(browser, "result-1-yield", "3")
  bandit$observe(1, data.frame(yield = NA, impurity = 0.2))
  show_page_again(browser)
  wait_in_page(browser, "document.getElementById('result-1-impurity') === null")
  expect_true(has_focus(browser, "#result-1-yield"))
  expect_identical(text_in(browser, "result-1-yield"), "3")
  expect_identical(text_in(browser, "result-2-yield"), "5")
  expect_match(browser$js("document.getElementById('alert').textContent"), "Experiment 1 .* not sent: 0.25")
  press_key(browser, "Enter")
  wait_for_status(browser, "yield 3 saved.")
  expect_identical(text_in(browser, "result-2-yield"), "5")
  bandit$catch_up()
  expect_identical(unlist(bandit$history()[1, c("yield", "impurity")]), c(yield = 3, impurity = 0.2))
  expect_identical(faults_of_page(browser), list())
})

test_that("a campaign with many columns works: added rows, a plot for each outcome, export, no broken word", {
  place <- place_with_page()
  space <- search_space(temperature = param_real(20, 90), residence_time = param_real(1, 60), equivalents = param_real(1, 3),
                        concentration = param_real(0.01, 2), pressure = param_integer(1, 40),
                        solvent = param_factor(c("water", "dimethylformamide")), dry = param_logical())
  bandit <- auto_bandit(space, outcomes = list(yield = to_maximize(), impurity = at_most(0.5)), store = store_at(place, seed = 1))
  for (k in 1:4) {
    query <- bandit$suggest()
    bandit$observe(query$id, data.frame(yield = 61.23456 - k, impurity = k / 7))
  }
  bandit$suggest(2)
  browser <- page_of(place)$browser
  wait_for_status(browser, "Known: 4")
  wait_for_best(browser)
  for (width in c(1200, 400)) {
    expect_true(fits_width(browser, width), info = width)
    expect_identical(broken_text(browser), NULL, info = width)
  }
  titles <- unlist(browser$js("Array.from(document.querySelectorAll('#progress svg title')).map((t) => t.textContent)"))
  expect_match(titles[1], "4 results so far; the best that keeps the limits is")
  expect_match(titles[2], "impurity (at most 0.5): 4 results, from 0.142857 to 0.571429", fixed = TRUE)
  expect_length(titles, 2)
  expect_match(open_panel(browser, "certificate"), "There is no bound.*outcomes yield, impurity")

  # An experiment that was not suggested: boxes are checked, then it is there.
  browser$js("document.getElementById('add-part').open = true; ''")
  values <- c(temperature = "55.5", residence_time = "10", equivalents = "1.5", concentration = "0.5", pressure = "7.5")
  k <- 0
  fill_in <- function(values) {
    for (name in names(values)) {
      browser$js(sprintf("const box%s = document.querySelector('#add [data-name=%s]'); box%s.focus(); box%s.select && box%s.select(); ''", k <<- k + 1, name, k, k, k))
      type_text(browser, values[[name]])
    }
  }
  fill_in(values)
  browser$js("document.getElementById('add').requestSubmit(); ''")
  expect_match(browser$js("document.querySelector('#add').innerText"), "Choose one")
  browser$js("document.querySelector('#add [data-name=solvent]').value = 'water'; document.querySelector('#add [data-name=dry]').value = 'FALSE'; ''")
  fill_in(c(yield = "42", impurity = "0.125"))
  press_key(browser, "Enter")
  # (A whole number is asked of the service, which says so.)
  wait_in_page(browser, "document.getElementById('alert').textContent.includes('pressure')")
  expect_identical(text_in(browser, "count"), "1")
  fill_in(c(pressure = "7"))
  press_key(browser, "Enter")
  wait_for_status(browser, "Experiment 7 is added with its result")
  bandit$catch_up()
  added <- bandit$history()[7, ]
  expect_identical(unlist(added[c("temperature", "pressure", "yield", "impurity")]), c(temperature = 55.5, pressure = 7, yield = 42, impurity = 0.125))
  expect_identical(c(as.character(added$solvent), as.character(added$dry), added$status), c("water", "FALSE", "observed"))

  # Downloads equal the service's exports.
  folder <- tempfile("downloads")
  dir.create(folder)
  browser$run("Page.setDownloadBehavior", behavior = "allow", downloadPath = folder)
  for (format in c("csv", "json")) {
    browser$js(sprintf("document.querySelector('[data-export=%s]').click(); ''", format))
    file <- file.path(folder, paste0("b.", format))
    wait_for(file.exists(file) && file.size(file) > 0)
  }
  expect_identical(utils::read.csv(file.path(folder, "b.csv"))$yield, bandit$history()$yield)
  expect_identical(from_json(readLines(file.path(folder, "b.json"), warn = FALSE))$history(), bandit$history())
  expect_identical(faults_of_page(browser), list())
})

test_that("with several objectives the page shows the points that no other dominates", {
  skip_without_page()
  skip_if_not(second_level(), "at the second level")
  place <- sqlite_location()
  bandit <- gp_bandit(list(x = c(0, 1)), kernel_se(0.3), 0.01, policy_ehvi(), store = store_at(place, seed = 1),
                      outcomes = list(speed = to_maximize(), cost = to_minimize()))
  bandit$add(x = c(0.1, 0.3, 0.9), reward = data.frame(speed = c(1, 2, 3), cost = c(0.1, 0.3, 0.9)))
  let_go(bandit)
  browser <- page_of(place)$browser
  wait_for_status(browser, "Known: 3")
  wait_for_best(browser)
  expect_identical(browser$js("document.querySelectorAll('#front tbody tr').length"), nrow(bandit$front()))
  titles <- unlist(browser$js("Array.from(document.querySelectorAll('#progress svg title')).map((t) => t.textContent)"))
  expect_identical(titles[1], "3 results so far.")
  expect_match(titles[2:3], "^(speed|cost) \\((maximised|minimised)\\): 3 results, from")
  expect_identical(faults_of_page(browser), list())
})

test_that("the JSON interface returns the bandit's results", {
  skip_without_store("RSQLite", "httpuv", unix = TRUE)
  place <- sqlite_location()
  space <- search_space(u = param_real(0, 2), rule = param_factor(c("a", "b")), whole = param_logical())
  kernel <- kernel_se(0.5, dims = "u") + kernel_categorical(0.5, dims = c("rule", "whole"))
  bandit <- gp_ucb(space, kernel, 0.01, width = width_constant(2), outputs = scale_outputs(direction = "minimize"),
                   store = store_at(place, seed = 1))
  service <- list(bandit = bandit, store = store_at(place))
  read <- function(answer) jsonlite::parse_json(answer$body, simplifyVector = TRUE)
  door <- function(name, query = "") {
    gpbandits:::checked_reply(gpbandits:::service_doors()[[name]]$answer(service, gpbandits:::query_of(list(QUERY_STRING = query))))
  }
  model <- read(door("/model"))
  expect_identical(model$direction, "minimize")
  expect_identical(model$inputs$name, c("u", "rule", "whole"))
  expect_identical(model$inputs$kind, c("number", "levels", "logical"))
  expect_identical(unlist(model$inputs[1, c("lower", "upper")]), c(lower = 0L, upper = 2L))
  expect_identical(model$requests[["/fail"]], c("id", "reason", "token"))
  # What cannot be said yet is an answer, in words.
  for (path in c("/certificate", "/check")) expect_identical(door(path)$status, 400L, info = path)
  expect_identical(door("/slices", "contxt=1")$status, 400L)
  for (k in 1:5) {
    query <- bandit$suggest()
    bandit$observe(query$id, 0.1 * k + (query$u - 1)^2 + (query$rule == "a"))
  }
  drawn <- gpbandits:::through_best_plot_data(bandit, "slices", NULL, 2, 81)
  slices <- read(door("/slices"))$slices
  expect_equal(slices$mean[[1]], drawn$data$mean[drawn$data$input == "u"])
  expect_equal(slices$lower[[2]], drawn$data$lower[drawn$data$input == "rule"])
  expect_identical(slices$levels[[2]], c("a", "b"))
  expect_equal(read(door("/certificate"))$gap, bandit$certificate()$gap)
  expect_equal(read(door("/improvement", "n=2&at_least=0.1"))[c("mean", "probability")],
               as.list(bandit$expected_improvement(2, 0.1))[c("mean", "probability")])
  expect_identical(door("/improvement", "n=0")$status, 400L)
  check <- check_model(bandit)
  expect_identical(read(door("/check"))[c("rewards", "held", "verdict")], unclass(check)[c("rewards", "held", "verdict")])
})

test_that("until the first refit the page's slices use the refit that is due, as $best() does", {
  skip_without_store("RSQLite")
  bandit <- auto_bandit(list(x = c(0, 1)), store = store_at(sqlite_location()))
  on.exit(let_go(bandit))
  set.seed(3)
  bandit$add(matrix(runif(12)), reward = rnorm(12, 0.25, 0.02))
  answer <- gpbandits:::serve_slices(list(bandit = bandit, store = list(name = "b")), list())
  slice <- jsonlite::parse_json(answer$body, simplifyVector = TRUE)$slices
  expect_equal(slice$mean[[1]], bandit$posterior(data.frame(x = slice$value[[1]]))$mean)
  expect_equal(bandit$best()$x, slice$through, tolerance = 1e-6)
})

test_that("the page gets the kinds of comparison that can be reported, and the other query of each", {
  skip_without_store("RSQLite")
  reported <- function(rewards) {
    bandit <- gp_bandit(1:4, kernel_se(1), policy = policy_uniform(), rewards = rewards, store = store_at(sqlite_location()))
    on.exit(let_go(bandit))
    service <- list(bandit = bandit, store = list(name = "b"))
    q <- bandit$suggest(2)
    bandit$observe(q$id, prefer = q$id[2])
    bandit$suggest()
    read <- function(answer) jsonlite::parse_json(answer$body, simplifyVector = TRUE)
    slices <- read(gpbandits:::serve_slices(service, list()))$slices
    expect_true(all(unlist(slices$lower) >= 0 & unlist(slices$upper) <= 1))
    list(prefer = read(gpbandits:::serve_model(service))$prefer, rows = read(gpbandits:::serve_history(service, list()))$rows)
  }
  duels <- reported(rewards_preferences(ties = TRUE))
  expect_identical(duels$prefer, list(ties = TRUE, again = TRUE))
  expect_identical(duels$rows$id.2, c(2L, 1L, NA))
  rankings <- reported(rewards_preferences("rankings"))
  expect_identical(rankings$prefer, list(ties = FALSE, again = FALSE))
  expect_identical(rankings$rows$ranking, c(1L, 1L, NA))
  expect_null(rankings$rows$id.2)
})

test_that("the JSON interface describes several outcomes, and returns the front", {
  skip_without_store("RSQLite", "httpuv", unix = TRUE)
  store <- store_at(sqlite_location(), seed = 1)
  bandit <- gp_bandit(tiny <- c(0, 0.5, 1), kernel_se(0.3), 0.01, policy_ehvi(), store = store,
                      outcomes = list(speed = to_maximize(), cost = to_minimize(), heat = in_range(0, 2)))
  service <- list(bandit = bandit, store = store)
  read <- function(answer) jsonlite::parse_json(answer$body)
  model <- read(gpbandits:::serve_model(service))
  expect_identical(model$outcomes[[1]], list(name = "speed", title = "maximised", objective = TRUE, lower = NULL, upper = NULL))
  expect_identical(model$outcomes[[3]][c("objective", "lower", "upper")], list(objective = FALSE, lower = 0L, upper = 2L))
  bandit$add(arm = 1:3, reward = data.frame(speed = c(1, 2, 1.5), cost = c(1, 2, 3), heat = 1))
  front <- read(gpbandits:::serve_front(service, list()))$front
  expect_identical(vapply(front, `[[`, 0L, "arm"), bandit$front()$arm)
  expect_equal(front[[1]]$outcomes$cost$mean, bandit$front()$cost_mean[1])
  # No theorem bounds a regret here: that is said, and is no error.
  certificate <- gpbandits:::checked_reply(gpbandits:::serve_certificate(service, list()))
  expect_identical(certificate$status, 200L)
  expect_null(read(certificate)$gap)
  expect_match(unlist(read(certificate)$assumptions), "^none: .*speed, cost, heat")
  gain <- read(gpbandits:::serve_improvement(service, list()))
  expect_gte(gain$mean, 0)
  expect_equal(gain$hypervolume, bandit$expected_improvement(gain$n)$hypervolume)
  expect_null(gain$reason)
  refused <- gpbandits:::checked_reply(gpbandits:::serve_best(service, list()))
  expect_identical(refused$status, 400L)
  plain <- gp_ei(tiny, kernel_se(0.3), 0.01, store = store_at(sqlite_location(), seed = 1))
  expect_identical(read(gpbandits:::serve_model(list(bandit = plain, store = store)))$outcomes, list())
  expect_identical(gpbandits:::checked_reply(gpbandits:::serve_front(list(bandit = plain, store = store), list()))$status, 400L)
})

test_that("the page names the outcome, takes error bars, notes and decimal commas, and asks before it saves a far value", {
  place <- place_with_page()
  set.seed(1)
  data <- data.frame(temp = seq(21, 79, length.out = 10), "Yield (%)" = 60 + 10 * sin(1:10), check.names = FALSE)
  bandit <- auto_bandit(list(temp = c(20, 80)), data, reward = "Yield (%)", store = store_at(place, seed = 1))
  bandit$suggest(2)
  let_go(bandit)
  browser <- page_of(place)$browser
  wait_for_status(browser, "Known: 10")
  expect_match(browser$js("document.getElementById('story').textContent"), "maximising the Yield (%)", fixed = TRUE)
  for (id in c("known", "open", "progress")) {
    expect_match(browser$js(sprintf("document.getElementById('%s').textContent", id)), "Yield (%)", fixed = TRUE)
  }
  # Settings as a person would set them, the exact ones at hand.
  shown <- browser$js("document.querySelector('#query-11 td:nth-child(2)').textContent")
  exact <- browser$js("document.querySelector('#query-11 td:nth-child(2)').title")
  expect_lte(nchar(sub(".*[.]", "", shown)), 2)
  expect_equal(as.double(shown), as.double(exact), tolerance = 0.002)
  save <- function(id, value) {
    browser$js(sprintf("document.querySelector('#query-%d input').value = '%s'", id, value))
    press_button(browser, sprintf("Save the result of experiment %d", id))
  }
  browser$js("document.getElementById('extra-11-sd').value = '0,5'")
  browser$js("document.getElementById('extra-11-note').value = 'stirred by hand'")
  save(11, "69,5")
  wait_for_status(browser, "69.5 is saved")
  # A slip of a digit is asked about once.
  save(12, "6250")
  wait_in_page(browser, "document.querySelector('#query-12 .fault').textContent.includes('far from the prediction')")
  expect_identical(browser$js("document.querySelectorAll('#open tbody tr').length"), 1L)
  save(12, "6250")
  wait_for_status(browser, "6250 is saved")
  seen <- open_bandit(store_at(place))$history()
  expect_identical(seen[["Yield (%)"]][11:12], c(69.5, 6250))
  expect_identical(seen$noise_var[11], 0.25)
  expect_identical(seen$note[11], "stirred by hand")
  # A reloaded page is still open; after signing out it is not.
  browser$run("Page.reload")
  wait_for_load(browser, "document.getElementById('status').textContent.includes('Known: 12')")
  browser$js("document.getElementById('leave').click(); ''")
  expect_identical(browser$js("sessionStorage.length"), 0L)
})

test_that("the JSON interface takes error bars, readings, replicates and notes, and predicts results", {
  skip_if_not(store_packages("RSQLite", "httpuv"))
  place <- sqlite_location()
  set.seed(2)
  data <- data.frame(x = 1:8 / 9, loss = sin(1:8))
  bandit <- auto_bandit(list(x = c(0, 1)), data, "minimize", reward = "loss", store = store_at(place, seed = 1))
  bandit$suggest(3)
  service <- list(bandit = bandit, store = bandit$journal$store)
  body <- function(...) list(...)
  gpbandits:::serve_observe(service, body(id = 9, reward = 0.5, sd = 0.1, note = "a"))
  gpbandits:::serve_observe(service, body(id = 10, reward = list(0.4, 0.6)))
  gpbandits:::serve_amend(service, body(id = 9, reward = 0.55, note = "b"))
  gpbandits:::serve_add(service, body(point = list(x = 0.5), reward = 0.2, size = 3, sd = 0.3))
  seen <- bandit$history()
  expect_equal(seen$noise_var[9], 0.01)
  expect_equal(seen$loss[9:12], c(0.55, 0.5, NA, 0.2))
  expect_equal(seen$size[9:12], c(NA, 2, NA, 3))
  expect_equal(seen$note[9], "b")
  expect_error(gpbandits:::serve_observe(service, body(id = 11, reward = 1, sd = "a")), class = "gpbandits_error")
  told <- jsonlite::fromJSON(gpbandits:::serve_prediction(service, list(id = "11"))$body)
  at <- bandit$posterior(data.frame(x = seen$x[11]))
  expect_equal(told$loss$mean, at$mean)
  expect_gt(told$loss$sd, at$sd)
  # An observed query has its reward, and no prediction that contains it.
  expect_identical(gpbandits:::serve_prediction(service, list(id = "9"))$body, "{}")
  file <- tempfile()
  writeLines(gpbandits:::csv_text(seen, decimal_comma = TRUE), file, sep = "")
  expect_equal(utils::read.csv2(file)$loss, seen$loss)
})
