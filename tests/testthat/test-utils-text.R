# Values as text: they are restored to the bit, and untrusted text runs nothing.

there_and_back <- function(x, trust = FALSE) gpbandits:::value_from_text(gpbandits:::value_text(x, trust), trust)

bits <- function(x) writeBin(as.double(x), raw(), endian = "big")

test_that("every number is restored to the bit", {
  set.seed(1)
  odd <- c(NA, NaN, Inf, -Inf, 0, -0.0, 5e-324, -5e-324, 2^-1022, .Machine$double.xmax, -.Machine$double.xmax, 0.1, 1 / 3, 1e15,
           2^53 + 2, 123456789012345, 0.123456789012345, -(0 / 0))
  any_bits <- readBin(as.raw(sample(0:255, 8 * 2000, replace = TRUE)), "double", 2000)
  nans <- readBin(as.raw(c(0x7f, 0xf0, 0, 0, 0, 0, 7, 0xa2, 0xff, 0xf8, 1:6, 0x7f, 0xf8, 0, 0, 0, 0, 7, 0xa2)), "double", 3, endian = "big")
  for (x in list(odd, any_bits, nans, stats::rnorm(500), 10^(-320:308), numeric())) {
    expect_identical(bits(there_and_back(x)), bits(x))
    for (one in utils::head(x, 40)) if (!identical(bits(there_and_back(one)), bits(one))) fail(format(one, digits = 17))
  }
  for (x in list(c(1L, NA, -.Machine$integer.max, .Machine$integer.max), 0L, NA_integer_, integer(), 1:1000, c(TRUE, NA, FALSE),
                 NA, TRUE, logical())) {
    expect_identical(there_and_back(x), x)
  }
})

test_that("strings are restored in any encoding, as the same bytes or the same characters", {
  latin1 <- "caf\xe9"
  Encoding(latin1) <- "latin1"
  bytes <- "a\xff\xfe"
  Encoding(bytes) <- "bytes"
  broken <- "a\xc3"                                     # says that it is the locale's, and is not
  plain <- c("", "a;b \" \\ / \n\t\001\177", "caf\u00e9", "\U1F600 \u4e2d", NA, "NA", "null", "[1]", "{\"integer\":3}")
  expect_identical(there_and_back(plain), plain)
  for (x in plain) expect_identical(there_and_back(x), x)
  for (x in list(latin1, c(latin1, "b"))) expect_identical(enc2utf8(there_and_back(x)), enc2utf8(x))
  for (x in list(bytes, broken, c("b", NA, bytes, broken))) {
    expect_identical(lapply(there_and_back(x), charToRaw), lapply(x, charToRaw))
    expect_identical(Encoding(there_and_back(x)), Encoding(x))
  }
  text <- gpbandits:::value_text(c(plain, latin1, bytes, broken))
  expect_true(all(utf8ToInt(text) %in% 32:126))
})

test_that("lists, factors, data frames, dimensions and classes are restored", {
  values <- list(NULL, list(), list(NULL), list(a = NULL, b = list(1L, "x", list(TRUE))), factor(c("b", NA, "\u00e9"), levels = c("\u00e9", "b")),
                 ordered(c("lo", "hi"), c("lo", "hi")), data.frame(a = 1:3, b = c(0.1, NA, 1 / 3), c = factor(c("x", "y", "x"))),
                 data.frame(u = 1, row.names = "r"), matrix(1 / (1:6), 2, dimnames = list(NULL, letters[1:3])),
                 array(1:8, c(2, 2, 2)), c(x = 1, y = NA), structure(list(1), class = c("one", "two"), note = -0.0),
                 as.POSIXct("2026-01-01", tz = "UTC"), as.Date("2026-01-01"), stats::setNames(1:2, c("", "b")))
  for (x in values) expect_identical(there_and_back(x), x)
  expect_identical(there_and_back(values), values)
})

test_that("other values than plain data are errors, and functions need trust", {
  invalid <- list(new.env(), quote(x), quote(f(x)), as.raw(1), 1i, expression(a), gp_ucb(1:3, kernel_se(), 1))
  for (x in invalid) for (value in list(x, list(x), structure(1, a = x))) {
    expect_error(gpbandits:::value_text(value, trust = TRUE), "cannot be written", class = "gpbandits_error")
  }
  for (f in list(sqrt, function(t) t, ~ a < b)) {
    expect_error(gpbandits:::value_text(list(f)), "written only if", class = "gpbandits_error")
    text <- gpbandits:::value_text(list(f), trust = TRUE)
    expect_error(gpbandits:::value_from_text(text), "trust = TRUE")
    expect_identical(deparse(gpbandits:::value_from_text(text, trust = TRUE)[[1]]), deparse(f))
  }
  maker <- function(k, ...) function(t) k * t + length(list(...))
  made <- maker(3, "a")
  made(1)
  compiled <- compiler::cmpfun(maker(4))
  expect_identical(there_and_back(made, trust = TRUE)(2), made(2))
  expect_identical(there_and_back(compiled, trust = TRUE)(2), 8)
  expect_identical(there_and_back(maker(5), trust = TRUE)(2), 10)       # with an argument that nobody has evaluated yet
})

test_that("invalid text is an error that quotes nothing of it", {
  read <- function(text) gpbandits:::value_from_text(text, trust = FALSE)
  secret <- tempfile()
  writeLines("7", secret)
  no_json <- c("", " ", "nul", "nulll", "tru", "'a'", "\"a", "{", "[", "[1", "[1,", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "1 2",
               "01", "+1", ".5", "1.", "1e", "1e999", "-", "--1", "Infinity", "NaN", "0x1p3", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"",
               "\"\\udc00\"", "\"\\u0000\"", "\"\001\"", "[1]]", "{\"a\":1,\"a\":2}", secret, paste0("file://", secret), "http://127.0.0.1/x",
               strrep("[", 100000), paste0(strrep("[", 300), strrep("]", 300)), "\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"")
  no_value <- c("[1,2]", "[]", "{}", "{\"integer\":1.5}", "{\"integer\":\"a\"}", "{\"integer\":3e9}", "{\"type\":\"double\"}", "{\"values\":[1]}",
                "{\"type\":\"closure\",\"values\":[1]}", "{\"type\":\"double\",\"values\":[\"x\"]}", "{\"type\":\"double\",\"values\":[\"0x\"]}",
                "{\"type\":\"double\",\"values\":[\"nan(1)\"]}", "{\"type\":\"double\",\"values\":[\"NaN:7ff0\"]}", "{\"type\":\"double\",\"values\":[true]}",
                "{\"type\":\"double\",\"values\":{\"a\":1}}", "{\"type\":\"integer\",\"values\":[0.5]}", "{\"type\":\"logical\",\"values\":[1]}",
                "{\"type\":\"logical\",\"values\":[\"T\"]}", "{\"type\":\"character\",\"values\":[1]}", "{\"type\":\"character\",\"values\":[{\"bytes\":\"zz\"}]}",
                "{\"type\":\"list\",\"values\":[[1,2]]}", "{\"type\":\"list\",\"values\":[1],\"more\":1}", "{\"code\":\"00\",\"reads\":\"\"}",
                "{\"type\":\"double\",\"values\":[1,2],\"attributes\":{\"dim\":{\"type\":\"integer\",\"values\":[3]}}}",
                "{\"type\":\"double\",\"values\":[1,2],\"attributes\":{\"class\":\"factor\"}}", "{\"bytes\":\"00\",\"encoding\":\"bytes\"}")
  for (text in c(no_json, no_value)) {
    error <- tryCatch(read(text), error = identity)
    if (!inherits(error, "error")) fail(paste("read:", text))
    if (nchar(conditionMessage(error)) > 120 || grepl(secret, conditionMessage(error), fixed = TRUE)) fail(conditionMessage(error))
  }
  expect_identical(read(" { \"type\" : \"list\" ,\n\"values\":[ 1e2 , null,true, \"\\/\\u00e9\\ud83d\\ude00\" ] } "),
                   list(100, NULL, TRUE, "/\u00e9\U1F600"))
})

# ---- streams of R objects ---------------------------------------------------------

looked_at <- function(bytes) gpbandits:::cpp_invalid_in_function(bytes)

test_that("a stream that holds something else than a function is detected without R reading it", {
  witness <- tempfile()
  expect_identical(looked_at(serialize(sqrt, NULL, version = 2)), "")
  streams <- list(promise = promise_stream(witness), "no function" = stream_of(list_item(promise_item(witness))),
                  promise = stream_of(with_attribute(promise_item(witness))),
                  environment = serialize(new.env(), NULL, version = 2), environment = serialize(globalenv(), NULL, version = 2),
                  "no function" = serialize(1:3, NULL, version = 2), "no function" = serialize(list(sqrt), NULL, version = 2),
                  "another version" = serialize(1:3, NULL), "ALTREP" = stream_of(compact_item()),
                  "another form" = serialize(sqrt, NULL, ascii = TRUE), "promise" = stream_of(closure_item(promise_item(witness))),
                  "environment is none" = stream_of(closure_item(quote_item(1), environment = quote_item(2))))
  for (k in seq_along(streams)) expect_match(looked_at(streams[[k]]), names(streams)[k])
  expect_identical(looked_at(stream_of(closure_item(quote_item(quote(x + 1))))), "")
  expect_identical(unserialize(stream_of(closure_item(quote_item(7))))(), 7)      # these bytes are R's own
  expect_false(file.exists(witness))
})

test_that("the check ends for any bytes", {
  set.seed(3)
  maker <- eval(quote(function(k) {
    force(k)                                            # (what waits for its value would bring this whole frame along)
    function(t) k * t
  }), globalenv())
  made <- utils::removeSource(maker(structure(list(a = 1:3, b = letters), class = "x")))
  whole <- serialize(compiler::cmpfun(made), NULL, version = 2)
  expect_identical(looked_at(whole), "")
  for (size in seq(0, length(whole) - 1)) if (!nzchar(looked_at(utils::head(whole, size)))) fail(paste("cut at", size))
  expect_match(looked_at(c(whole, as.raw(0))), "behind")
  found <- vapply(seq_len(by_level(3000, 100000)), function(k) {
    at <- sample.int(length(whole), sample.int(3, 1))
    spoilt <- whole
    spoilt[at] <- as.raw(sample(0:255, length(at), replace = TRUE))
    looked_at(spoilt)
  }, "")
  expect_gt(mean(nzchar(found)), 0.3)
  expect_match(looked_at(stream_of(closure_item(int_bytes(rep(c(19, 1), 100000), 254)))), "nest")
})
