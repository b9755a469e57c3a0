// The page of a gpbandits service. What comes from the service is data: it is shown as text (textContent), never as
// HTML. The token is a variable of this script and nowhere else.
"use strict";
(() => {
  const state = { token: null, model: null, rows: [], shown: 50, editing: null };
  const el = (id) => document.getElementById(id);

  // ---- elements -----------------------------------------------------------------------

  function make(tag, options, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(options || {})) {
      if (name === "on") for (const [event, f] of Object.entries(value)) node.addEventListener(event, f);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
    }
    node.append(...children.filter((child) => child !== null && child !== undefined));
    return node;
  }

  function draw(tag, attributes, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  function shown(value) {
    if (value === null || value === undefined) return "–";
    return typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value);
  }

  function say(text) {
    el("alert").textContent = "";
    el("status").textContent = text;
  }

  function complain(text) {
    el("status").textContent = "";
    el("alert").textContent = text;
  }

  const button = (text, label, click) => make("button", { type: "button", "aria-label": label, on: { click } }, text);

  // ---- the service --------------------------------------------------------------------

  class Refused extends Error {}

  async function ask(path, body) {
    const request = { method: body ? "POST" : "GET", cache: "no-store", credentials: "omit", redirect: "error",
      headers: { Authorization: "Bearer " + state.token } };
    if (body) request.body = JSON.stringify(body);
    let answer;
    try {
      answer = await fetch(path, request);
    } catch (fault) {
      throw new Refused("The service does not answer. What you sent may or may not have come; it is safe to send it again.");
    }
    let found = {};
    try {
      found = await answer.json();
    } catch (fault) { /* an answer without a body */ }
    if (answer.status === 401) {
      leave();
      throw new Refused("The token was refused. Nothing was sent.");
    }
    if (!answer.ok) throw new Refused(found.error || "The service answered with status " + answer.status + ".");
    return found;
  }

  // One action at a time; whatever is refused is said.
  async function act(pressed, action) {
    if (pressed) pressed.disabled = true;
    document.body.setAttribute("aria-busy", "true");
    try {
      return await action();
    } catch (fault) {
      complain(fault instanceof Refused ? fault.message : "This page went wrong: " + fault.message);
      return undefined;
    } finally {
      document.body.removeAttribute("aria-busy");
      if (pressed) pressed.disabled = false;
    }
  }

  function leave() {
    Object.assign(state, { token: null, model: null, rows: [], shown: 50, editing: null });
    for (const id of ["open", "known", "best", "front", "progress", "first", "second", "choices"]) el(id).replaceChildren();
    for (const box of document.querySelectorAll(".boxes, .inside")) box.replaceChildren();
    for (const part of document.querySelectorAll("details")) part.open = false;
    el("title").textContent = document.title = "gpbandits";
    el("campaign").hidden = el("story").hidden = el("leave").hidden = true;
    el("door").hidden = false;
    for (const id of ["door", "ask", "context"]) el(id).reset();
    fault(el("count"), "");
    el("token").focus();
  }

  async function readHistory() {
    const rows = [];
    for (;;) {
      const page = await ask("history?limit=1000&after=" + rows.length);
      rows.push(...page.rows);
      if (rows.length >= page.total || page.rows.length === 0) return rows;
    }
  }

  // ---- what the campaign is ---------------------------------------------------------------

  const offers = (path, field) => path in state.model.requests && (!field || state.model.requests[path].includes(field));
  const minimises = () => state.model.direction === "minimize";
  const better = (a, b) => (minimises() ? a < b : a > b);
  const names = () => state.model.inputs.map((input) => input.name).concat(state.model.contexts);
  // What the service says of a query besides its place: beside an input of that name it has a dot in front.
  const ours = (row, name) => (names().includes(name) ? ours(row, "." + name) : row[name]);
  const isOpen = (row) => ours(row, "status") === "pending" || ours(row, "status") === "partial";

  const several = () => state.model.outcomes.length > 0;
  const objectives = () => state.model.outcomes.filter((outcome) => outcome.objective);
  // What the page calls the number that is made large or small, and where a row has it.
  const mainName = () => (several() ? objectives()[0].name : "reward");
  const mainOf = (row) => row[mainName()];

  // The boxes of a result: the reward, and a number for each limit; or one for each outcome.
  function results() {
    if (several()) return state.model.outcomes.map(({ name, title }) => ({ name, label: name + " (" + title + ")" }));
    const limits = state.model.constraints.map((name) => ({ name, label: name + " (0 or less is allowed)" }));
    return [{ name: "reward", label: minimises() ? "result (less is better)" : "result (more is better)" }].concat(limits);
  }

  function inputsOf(row) {
    const arm = state.model.arms !== null && row.arm !== undefined && row.arm !== null ? [["arm", row.arm]] : [];
    return arm.concat(names().filter((name) => row[name] !== null && row[name] !== undefined).map((name) => [name, row[name]]));
  }

  const inWords = (row) => inputsOf(row).map(([name, value]) => name + " " + shown(value)).join(", ");

  // ---- boxes ------------------------------------------------------------------------------

  let boxes = 0;

  function labelled(label, box) {
    box.id = box.id || "box-" + ++boxes;
    const fault = make("span", { class: "fault", id: box.id + "-fault" });
    box.setAttribute("aria-describedby", fault.id);
    return make("div", {}, make("label", { for: box.id }, label), box, fault);
  }

  const numberBox = (name) => make("input", { type: "text", inputmode: "decimal", autocomplete: "off", "data-name": name });

  function fault(box, words) {
    const place = el(box.id + "-fault");
    if (place) place.textContent = words;
    if (words) box.setAttribute("aria-invalid", "true");
    else box.removeAttribute("aria-invalid");
    if (words) box.focus();
    return words === "";
  }

  // The number in a box, or undefined after saying what is wrong with it.
  function numberIn(box, whole) {
    const text = box.value.trim().replace("−", "-");
    const pattern = whole ? /^\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
    const value = Number(text);
    if (text === "") fault(box, "Write a number.");
    else if (!pattern.test(text) || !Number.isFinite(value)) {
      fault(box, whole ? "Write a whole number." : "Write a number, with a point before decimals, such as 1.5.");
    } else {
      fault(box, "");
      return value;
    }
    return undefined;
  }

  function contextForm() {
    const names = state.model.contexts;
    el("context").hidden = names.length === 0;
    el("context").querySelector(".boxes").replaceChildren(...names.map((name) => labelled(name, numberBox(name))));
  }

  // The context in the boxes: {} where there are none; undefined where one of them is no number.
  function contextNow() {
    const context = {};
    for (const box of el("context").querySelectorAll("input")) {
      const value = numberIn(box);
      if (value === undefined) return undefined;
      context[box.dataset.name] = value;
    }
    return context;
  }

  function inUrl(context) {
    const parts = Object.keys(context).map((name) => encodeURIComponent("context[" + name + "]") + "=" + context[name]);
    return parts.length ? "?" + parts.join("&") : "";
  }

  function fixedForm() {
    const inputs = offers("/suggest", "fixed") ? state.model.inputs : [];
    el("fixed").hidden = inputs.length === 0;
    el("fixed").querySelector(".boxes").replaceChildren(...inputs.map((input) => {
      if (input.kind === "number") {
        return labelled(input.name + " (" + shown(input.lower) + " to " + shown(input.upper) + ")", numberBox(input.name));
      }
      const empty = make("option", { value: "" }, "chosen by the bandit");
      const levels = input.levels.map((level) => make("option", { value: level }, level));
      return labelled(input.name, make("select", { "data-name": input.name }, empty, ...levels));
    }));
  }

  function fixedNow() {
    const fixed = {};
    for (const input of state.model.inputs) {
      const box = Array.from(el("fixed").querySelectorAll("input, select")).find((one) => one.dataset.name === input.name);
      if (!box || box.value.trim() === "") continue;
      const value = input.kind === "number" ? numberIn(box) : input.kind === "logical" ? box.value === "TRUE" : box.value;
      if (value === undefined) return undefined;
      fixed[input.name] = value;
    }
    return fixed;
  }

  // ---- tables -------------------------------------------------------------------------------

  // Roles are said besides, for on narrow screens rows are drawn as blocks.
  function table(place, heads, rows) {
    const head = make("tr", { role: "row" }, ...heads.map((text) => make("th", { role: "columnheader", scope: "col" }, text)));
    place.setAttribute("role", "table");
    place.replaceChildren(make("thead", { role: "rowgroup" }, head), make("tbody", { role: "rowgroup" }, ...rows));
    place.hidden = rows.length === 0;
  }

  const cell = (label, ...children) => make("td", { role: "cell", "data-label": label || null }, ...children);

  function shareOfRow(row) {
    const found = Object.fromEntries(inputsOf(row));
    return columns().map((name) => cell(name, shown(found[name])));
  }

  const columns = () => (state.model.arms !== null ? ["arm"] : []).concat(names());

  function drawOpen() {
    const open = state.rows.filter(isOpen);
    el("open-none").hidden = open.length > 0;
    table(el("open"), ["experiment", ...columns(), compares() ? "change" : "result"], open.map((row) => make("tr", { role: "row", id: "query-" + row.id },
      cell("experiment", String(row.id)), ...shareOfRow(row),
      cell(compares() || results().length > 1 ? null : "result", resultForm(row)))));
  }

  // Of several outcomes those that are known are shown, the others have boxes, some of which may stay empty.
  function resultForm(row) {
    const give = [button("Failed", "Experiment " + row.id + " failed", () => giveUp(row, "/fail")),
      button("Withdraw", "Withdraw experiment " + row.id, () => giveUp(row, "/withdraw"))];
    if (compares()) return make("div", { class: "choices" }, ...give);
    const wanted = results();
    const fields = wanted.filter((result) => !several() || !isThere(row, result.name)).map((result) => {
      const box = numberBox(result.name);
      box.id = "result-" + row.id + "-" + result.name;
      box.setAttribute("aria-label", result.label + " of experiment " + row.id);
      const note = make("span", { class: "fault", id: box.id + "-fault" });
      box.setAttribute("aria-describedby", note.id);
      const words = wanted.length > 1 ? make("span", { "aria-hidden": "true" }, several() ? result.label : result.name) : null;
      return [words, box, note];
    });
    const known = several() ? knownOf(row).map((name) => make("span", {}, name + " " + shown(row[name]))) : [];
    const save = make("button", { type: "submit", "aria-label": "Save the result of experiment " + row.id }, "Save");
    return make("form", { novalidate: true, on: { submit: (event) => {
      event.preventDefault();
      (several() ? saveOutcomes : saveResult)(row, fields.map((field) => field[1]), save);
    } } }, ...known, ...fields.flat(), save, known.length ? correctButton(row) : null, ...give);
  }

  const isThere = (row, name) => row[name] !== null && row[name] !== undefined;
  const knownOf = (row) => state.model.outcomes.map(({ name }) => name).filter((name) => isThere(row, name));
  const valuesInWords = (values) => Object.entries(values).map(([name, value]) => name + " " + shown(value)).join(", ");

  function saveResult(row, inputs, save) {
    const values = inputs.map((box) => numberIn(box));
    if (values.includes(undefined)) return undefined;
    return act(save, async () => {
      const body = { id: row.id, reward: values[0] };
      if (values.length > 1) body.constraints = values.slice(1);
      await ask("observe", body);
      await refresh();
      say("Experiment " + row.id + " (" + inWords(row) + "): " + shown(values[0]) + " is saved.");
      focusNext();
    });
  }

  // The numbers in the boxes that are filled, by name; undefined where one is none, or nothing is filled.
  function outcomesIn(boxes) {
    boxes.forEach((box) => fault(box, ""));
    const filled = boxes.filter((box) => box.value.trim() !== "");
    if (filled.length === 0) {
      fault(boxes[0], "Write a number, here or in another box.");
      return undefined;
    }
    const values = filled.map((box) => [box.dataset.name, numberIn(box)]);
    return values.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(values);
  }

  function saveOutcomes(row, inputs, save) {
    const outcomes = outcomesIn(inputs);
    if (outcomes === undefined) return undefined;
    return act(save, async () => {
      const found = await ask("observe", { id: row.id, outcomes });
      await refresh();
      say("Experiment " + row.id + " (" + inWords(row) + "): " + valuesInWords(outcomes) + " saved." + (found.status === "partial" ? " The rest is awaited." : ""));
      focusNext();
    });
  }

  // After a row has gone: the next box to fill in, or the form to ask.
  function focusNext() {
    (el("open").querySelector("input") || el("count")).focus();
  }

  // A small form in place of a row's cell: `submit` of its boxes.
  function rowForm(place, labels, boxes, confirm, submit) {
    const before = Array.from(place.childNodes);
    const back = () => {
      place.replaceChildren(...before);
      const again = place.querySelector("button");
      if (again) again.focus();
    };
    const send = make("button", { type: "submit" }, confirm);
    place.replaceChildren(make("form", { novalidate: true, on: {
      submit: (event) => { event.preventDefault(); submit(boxes, send); },
      keydown: (event) => { if (event.key === "Escape") back(); }
    } }, ...boxes.map((box, k) => labelled(labels[k], box)), send, make("button", { type: "button", on: { click: back } }, "Cancel")));
    boxes[0].focus();
  }

  function giveUp(row, path) {
    const failed = path === "/fail";
    const box = make("input", { type: "text", maxlength: 500, autocomplete: "off" });
    const place = el("query-" + row.id).lastElementChild;
    rowForm(place, ["Why (may stay empty)"], [box], failed ? "It failed" : "Withdraw it", ([reason], send) => act(send, async () => {
      const body = { id: row.id };
      if (reason.value.trim()) body.reason = reason.value.trim();
      await ask(path.slice(1), body);
      await refresh();
      say("Experiment " + row.id + (failed ? " is marked as failed." : " is withdrawn."));
      focusNext();
    }));
  }

  function drawKnown() {
    const closed = state.rows.filter((row) => !isOpen(row)).reverse();
    const part = closed.slice(0, state.shown);
    const wanted = results().map((result) => result.name);
    el("known-none").hidden = closed.length > 0;
    el("more").hidden = part.length === closed.length;
    table(el("known"), ["experiment", ...columns(), ...wanted.map((name) => (name === "reward" ? "result" : name)), "state", "change"],
      part.map((row) => make("tr", { role: "row" }, cell("experiment", String(row.id)), ...shareOfRow(row),
        ...wanted.map((name) => compares() ? cell("result", ours(row, "status") === "known" ? verdict(row) : "–")
          : cell(name === "reward" ? "result" : name, several() ? shown(row[name]) : ours(row, "status") === "known" || name !== "reward" ? shown(ours(row, name)) : "–")),
        cell("state", ours(row, "status")), cell(null, ours(row, "status") === "known" && !(compares() && !state.model.prefer.again) ? correctButton(row) : null))));
  }

  function correctButton(row) {
    const right = several() ? knownOf(row) : ["reward"];
    const pressed = button("Correct", "Correct the result of experiment " + row.id, () => {
      if (compares()) {
        correctDuel(row, pressed);
        return;
      }
      const boxes = right.map((name) => numberBox(name));
      boxes.forEach((box, k) => { box.value = String(row[right[k]]); });
      const labels = right.map((name) => "Right " + (several() ? name : "result") + " of experiment " + row.id);
      rowForm(pressed.closest("td"), labels, boxes, "Save", (entries, send) => {
        const values = entries.map((entry) => numberIn(entry));
        if (values.includes(undefined)) return;
        act(send, async () => {
          const outcomes = Object.fromEntries(right.map((name, k) => [name, values[k]]));
          await ask("amend", several() ? { id: row.id, outcomes } : { id: row.id, reward: values[0] });
          await refresh();
          const before = Object.fromEntries(right.map((name) => [name, row[name]]));
          say("Experiment " + row.id + ": corrected from " + (several() ? valuesInWords(before) + " to " + valuesInWords(outcomes)
            : shown(row.reward) + " to " + shown(values[0])) + ".");
          el("known-title").scrollIntoView();
          const again = el("correct-" + row.id);
          if (again) again.focus();
        });
      });
      boxes[0].select();
    });
    pressed.id = "correct-" + row.id;
    return pressed;
  }

  // ---- which of two ---------------------------------------------------------------------------

  const compares = () => state.model.prefer !== null;
  const verb = { 1: "better than", 0: "not as good as", 0.5: "as good as" };

  // The place that a query met: the history's columns with .2.
  function metPlace(row) {
    const met = columns().map((name) => [name, row[name + ".2"]]).filter(([, value]) => value !== null && value !== undefined);
    return met.map(([name, value]) => name + " " + shown(value)).join(", ");
  }

  const verdict = (row) => !state.model.prefer.again ? "stood before " + shown(100 * row.reward) + "% of its ranking (" + ours(row, "ranking") + ")" : verb[row.reward] + " experiment " + row["id.2"] + " (" + metPlace(row) + ")";

  // Buttons that say which of two experiments is better: `tell(id of the better one, null for a tie; in words; button)`.
  function choices(first, second, tell) {
    const better = (id, other) => "Experiment " + id + " is better than " + other;
    const make1 = (id, other) => button(id + " is better", better(id, other), (event) => tell(id, better(id, other), event.currentTarget));
    const tie = state.model.prefer.ties ? button("A tie", "Experiments " + first + " and " + second + " are equally good",
      (event) => tell(null, "Experiments " + first + " and " + second + " are equally good", event.currentTarget)) : null;
    return [make1(first, second), make1(second, first), tie].filter((part) => part !== null);
  }

  function drawDuel() {
    el("duel").hidden = !compares();
    if (!compares()) return;
    const open = state.rows.filter(isOpen);
    const rest = state.model.prefer.again ? state.rows.filter((row) => ours(row, "status") === "known").reverse() : [];
    const boxes = [el("first"), el("second")];
    const chosen = boxes.map((box) => box.value);
    const option = (row) => make("option", { value: row.id }, row.id + ": " + inWords(row) + (isOpen(row) ? "" : " (compared before)"));
    boxes.forEach((box, k) => {
      box.replaceChildren(...open.concat(rest).map(option));
      const wanted = Array.from(box.options).some((one) => one.value === chosen[k]) && open.some((row) => String(row.id) === chosen[k]);
      box.selectedIndex = wanted ? Array.from(box.options).findIndex((one) => one.value === chosen[k]) : Math.min(k, box.options.length - 1);
    });
    if (boxes[0].value === boxes[1].value && boxes[1].options.length > 1) boxes[1].selectedIndex = boxes[0].selectedIndex === 0 ? 1 : 0;
    el("duel").querySelector("form").hidden = open.length === 0 || boxes[0].options.length < 2;
    el("duel-none").hidden = !el("duel").querySelector("form").hidden;
    drawChoices();
  }

  // Those that have just been asked for.
  function chooseTwo(ids) {
    if (ids.length < 2) return;
    el("first").value = ids[0];
    el("second").value = ids[1];
    drawChoices();
  }

  function drawChoices() {
    const [first, second] = [Number(el("first").value), Number(el("second").value)];
    if (first === second) {
      el("choices").replaceChildren(paragraph("Choose two experiments."));
      return;
    }
    el("choices").replaceChildren(...choices(first, second, (id, words, pressed) => act(pressed, async () => {
      await ask("observe", { id: [first, second], prefer: id });
      await refresh();
      say(words + ": saved.");
      (el("choices").querySelector("button") || el("count")).focus();
    })));
  }

  function correctDuel(row, pressed) {
    const other = row["id.2"];
    const place = pressed.parentNode;
    const back = () => { place.replaceChildren(pressed); pressed.focus(); };
    const form = make("div", { class: "choices", on: { keydown: (event) => { if (event.key === "Escape") back(); } } },
      ...choices(row.id, other, (id, words, sent) => act(sent, async () => {
        await ask("amend", { id: [row.id, other], prefer: id });
        await refresh();
        say(words + ": corrected.");
        const again = el("correct-" + row.id);
        if (again) again.focus();
      })), make("button", { type: "button", on: { click: back } }, "Cancel"));
    place.replaceChildren(form);
    form.querySelector("button").focus();
  }

  // ---- what is best --------------------------------------------------------------------------

  async function drawBest() {
    const context = contextNow();
    if (context === undefined) {
      el("best").replaceChildren();
      return;
    }
    const isKnown = (row) => (several() ? objectives().every(({ name }) => isThere(row, name)) : ours(row, "status") === "known");
    if (!state.rows.some(isKnown)) {
      el("best").replaceChildren();
      el("front").hidden = true;
      el("best-note").textContent = "No result is known yet.";
      return;
    }
    if (objectives().length > 1) {
      await drawFront(context);
      return;
    }
    const best = await ask("best" + inUrl(context));
    const entries = (best.arm !== undefined ? [["arm", best.arm]] : []).concat(Object.entries(best.point));
    el("best").replaceChildren(...entries.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, shown(value)))));
    if (best.outcomes) {
      el("best-note").textContent = "Expected there: " + expectedInWords(best.outcomes) + "." + feasibleInWords(best.feasible);
      return;
    }
    el("best-note").textContent = compares() ? "How the others compare with it is below, under pictures." : typeof best.mean === "number"
      ? "Expected there: " + shown(best.mean) + (typeof best.sd === "number" ? ", give or take " + shown(2 * best.sd) + " (two standard deviations)." : ".")
      : "What is expected there is not known yet.";
  }

  const expectedOf = (one) => (typeof one.mean !== "number" ? "not known yet" : shown(one.mean) + (typeof one.sd === "number" ? " ± " + shown(2 * one.sd) : ""));
  const expectedInWords = (outcomes) => Object.entries(outcomes).map(([name, one]) => name + " " + expectedOf(one)).join(", ") +
    " (two standard deviations)";
  const hasLimits = () => state.model.outcomes.some((outcome) => outcome.lower !== null || outcome.upper !== null);
  const feasibleInWords = (p) => (hasLimits() && typeof p === "number" ? " The limits hold there with probability " + shown(Number(p.toFixed(3))) + "." : "");

  // Several objectives: the places that no other beats.
  async function drawFront(context) {
    const front = (await ask("front" + inUrl(context))).front;
    const heads = columns().concat(state.model.outcomes.map(({ name }) => name), hasLimits() ? ["limits hold"] : []);
    table(el("front"), heads, front.map((place) => {
      const found = Object.assign({ arm: place.arm }, place.point);
      return make("tr", { role: "row" }, ...columns().map((name) => cell(name, shown(found[name]))),
        ...state.model.outcomes.map(({ name }) => cell(name, expectedOf(place.outcomes[name]))),
        hasLimits() ? cell("limits hold", shown(Number(place.feasible.toFixed(3)))) : null);
    }));
    el("best-note").textContent = front.length
      ? "None of these places beats another in " + objectives().map(({ name }) => name).join(" and ") + "; expected there, give or take two standard deviations."
      : "No place is known yet where the limits hold.";
  }

  // ---- pictures --------------------------------------------------------------------------------

  const size = { width: 460, height: 260, left: 56, right: 12, top: 12, bottom: 40 };

  function ticks(from, to) {
    const raw = (to - from) / 4;
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= raw);
    const found = [];
    for (let v = Math.ceil(from / step) * step; v <= to + step * 1e-9; v += step) found.push(Math.abs(v) < step * 1e-9 ? 0 : v);
    return found;
  }

  function scale(values, from, to, log) {
    const f = log ? Math.log10 : (v) => v;
    let low = Math.min(...values.map(f));
    let high = Math.max(...values.map(f));
    if (!(high > low)) { low -= 0.5; high += 0.5; }
    const place = (v) => from + ((f(v) - low) / (high - low)) * (to - from);
    place.ticks = log ? ticks(low, high).map((v) => Math.pow(10, v)) : ticks(low, high);
    return place;
  }

  function frameOf(x, y, xName, yName, levels) {
    const bottom = size.height - size.bottom;
    const parts = [draw("line", { class: "axis", x1: size.left, x2: size.width - size.right, y1: bottom, y2: bottom }),
      draw("line", { class: "axis", x1: size.left, x2: size.left, y1: size.top, y2: bottom })];
    const text = (words, attributes) => { const t = draw("text", attributes); t.textContent = words; return t; };
    (levels ? levels.map((_, k) => k + 1) : x.ticks).forEach((v) => parts.push(text(levels ? levels[v - 1].slice(0, 10) : shown(v),
      { x: x(v), y: bottom + 16, "text-anchor": "middle" })));
    y.ticks.forEach((v) => {
      parts.push(draw("line", { class: "axis", x1: size.left, x2: size.width - size.right, y1: y(v), y2: y(v), "stroke-opacity": 0.5 }));
      parts.push(text(shown(v), { x: size.left - 6, y: y(v) + 4, "text-anchor": "end" }));
    });
    parts.push(text(xName, { x: (size.left + size.width - size.right) / 2, y: size.height - 6, "text-anchor": "middle" }));
    if (yName) parts.push(text(yName, { x: size.left, y: size.top - 1, "text-anchor": "start" }));
    return parts;
  }

  let pictures = 0;

  function picture(words, parts) {
    const title = draw("title", { id: "picture-" + ++pictures });
    title.textContent = words;
    const svg = draw("svg", { role: "img", "aria-labelledby": title.id, viewBox: "0 0 " + size.width + " " + size.height,
      width: size.width, height: size.height }, title, ...parts);
    return [svg, make("figcaption", { "aria-hidden": "true" }, words)];
  }

  const keepsLimits = (row) => state.model.outcomes.every(({ name, lower, upper }) => (lower === null && upper === null) ||
    (isThere(row, name) && (lower === null || row[name] >= lower) && (upper === null || row[name] <= upper)));

  function drawProgress() {
    const wanted = several() ? objectives().map(({ name }) => name) : ["reward"];
    const known = state.rows.filter((row) => (several() || ours(row, "status") === "known") && wanted.every((name) => typeof row[name] === "number"));
    el("progress").hidden = known.length < 2 || compares();
    if (el("progress").hidden) return;
    el("progress").replaceChildren(...(wanted.length > 1 ? tradePicture(known, wanted) : progressPicture(known)));
  }

  const circle = (x, y, kept) => draw("circle", { class: kept ? "mark" : "mark pale", cx: x, cy: y, r: 3 });

  // The best so far, of those that keep the limits.
  function progressPicture(known) {
    const x = scale(known.map((row) => row.id), size.left, size.width - size.right);
    const y = scale(known.map(mainOf), size.height - size.bottom, size.top);
    const kept = known.filter(keepsLimits);
    let best = kept[0];
    const steps = kept.map((row) => {
      const before = best;
      if (better(mainOf(row), mainOf(best))) best = row;
      return (row === kept[0] ? "M" : "L" + x(row.id) + " " + y(mainOf(before)) + "L") + x(row.id) + " " + y(mainOf(best));
    });
    const words = known.length + " results so far; " + (!best ? "none keeps the limits."
      : "the best " + (hasLimits() ? "that keeps the limits " : "") + "is " + shown(mainOf(best)) + ", of experiment " + best.id + ".");
    return picture(words, [...frameOf(x, y, "experiment", several() ? mainName() : "result"),
      draw("path", { class: "mean", d: steps.join("") }),
      ...known.map((row) => circle(x(row.id), y(mainOf(row)), keepsLimits(row)))]);
  }

  // Of the first two objectives; pale what breaks a limit.
  function tradePicture(known, wanted) {
    const x = scale(known.map((row) => row[wanted[0]]), size.left, size.width - size.right);
    const y = scale(known.map((row) => row[wanted[1]]), size.height - size.bottom, size.top);
    const kept = known.filter(keepsLimits).length;
    const words = known.length + " results so far" + (hasLimits() ? ", " + kept + " of which keep the limits" : "") + ".";
    return picture(words, [...frameOf(x, y, wanted[0], wanted[1]),
      ...known.map((row) => circle(x(row[wanted[0]]), y(row[wanted[1]]), keepsLimits(row)))]);
  }

  function slicePicture(slice, y) {
    const x = scale(slice.levels ? [0.5, slice.levels.length + 0.5] : slice.value, size.left, size.width - size.right, slice.log);
    const at = slice.value;
    const line = (values) => values.map((v, k) => (k ? "L" : "M") + x(at[k]) + " " + y(v)).join("");
    const parts = frameOf(x, y, slice.input, compares() ? "chance of being preferred to the recommended one" : "expected result", slice.levels);
    if (slice.levels) {
      at.forEach((v, k) => parts.push(draw("line", { class: "mean", x1: x(v), x2: x(v), y1: y(slice.lower[k]), y2: y(slice.upper[k]) }),
        draw("circle", { class: "mark", cx: x(v), cy: y(slice.mean[k]), r: 5 })));
    } else {
      const back = at.map((_, k) => at.length - 1 - k).map((k) => "L" + x(at[k]) + " " + y(slice.lower[k])).join("");
      parts.push(draw("path", { class: "band", d: line(slice.upper) + back + "Z" }), draw("path", { class: "mean", d: line(slice.mean) }),
        draw("line", { class: "at", x1: x(slice.through), x2: x(slice.through), y1: size.top, y2: size.height - size.bottom }));
    }
    const top = slice.mean.reduce((best, v, k) => (better(v, slice.mean[best]) ? k : best), 0);
    return make("figure", {}, ...picture(slice.input + (compares() ? ": most often preferred at " : ": expected to be best at ") + (slice.levels ? slice.levels[top] : shown(at[top])) + ", " +
      shown(slice.mean[top]) + " (" + shown(slice.lower[top]) + " to " + shown(slice.upper[top]) + ").", parts));
  }

  const paragraph = (text, className) => make("p", { class: className || null }, text);

  const panels = {
    slices: async (context) => {
      const slices = (await ask("slices" + inUrl(context))).slices;
      const all = slices.flatMap((slice) => slice.lower.concat(slice.upper)).filter((v) => typeof v === "number");
      if (all.length === 0) return [paragraph("No result is known yet, or not enough of them to draw a picture.")];
      const y = scale(all, size.height - size.bottom, size.top);
      const note = "The mean and two standard deviations around it, along each input while the others stay as recommended (dashed: the recommended value).";
      return [paragraph(note, "note"), ...slices.map((slice) => slicePicture(slice, y))];
    },
    certificate: async (context) => {
      const found = await ask("certificate" + inUrl(context));
      const gap = typeof found.gap === "number" ? "At most " + shown(found.gap) + " from the best" : "Nothing can be said yet";
      const sure = typeof found.probability === "number" ? ", with probability " + shown(found.probability) + " at least" : "";
      return [paragraph(gap + sure + "."), paragraph("This rests on:", "note"),
        make("ul", {}, ...found.assumptions.map((words) => make("li", {}, words)))];
    },
    check: async () => {
      const found = await ask("check");
      const held = found.held + " of " + found.groups + (found.groups === found.rewards ? " results" : " places") +
        " lie within the 95% interval that the others predict for them.";
      return [paragraph(found.verdict.charAt(0).toUpperCase() + found.verdict.slice(1) + "."), paragraph(held),
        make("ul", {}, ...found.advice.map((words) => make("li", {}, words)))];
    }
  };

  async function fill(part) {
    const inside = part.querySelector(".inside");
    const context = contextNow();
    if (context === undefined) {
      inside.replaceChildren(paragraph("Fill in the context above."));
      return;
    }
    inside.replaceChildren(paragraph("Asking …"));
    try {
      inside.replaceChildren(...await panels[part.id](context));
    } catch (fault) {
      if (state.token !== null) inside.replaceChildren(paragraph(fault instanceof Refused ? fault.message : "This page went wrong: " + fault.message));
    }
  }

  // ---- all of it -----------------------------------------------------------------------------

  async function refresh() {
    state.rows = await readHistory();
    drawOpen();
    drawDuel();
    drawKnown();
    drawProgress();
    if (state.model.contexts.length === 0 || contextFilled()) await drawBest();
    for (const part of document.querySelectorAll("details[open]")) await fill(part);
  }

  const contextFilled = () => Array.from(el("context").querySelectorAll("input")).every((box) => box.value.trim() !== "");

  async function enter(token) {
    state.token = token;
    state.model = await ask("model");
    contextForm();
    fixedForm();
    if (compares()) el("count").value = "2";
    await refresh();
    el("door").hidden = true;
    el("campaign").hidden = el("leave").hidden = el("story").hidden = false;
    el("title").textContent = state.model.name;
    document.title = state.model.name + " (gpbandits)";
    el("story").textContent = state.model.policy + " over " + state.model.domain + ", " + (compares() ? "asking which of two is better"
      : several() ? state.model.outcomes.map(({ name, title }) => name + " " + title).join(", ")
        : "looking for the " + (minimises() ? "smallest" : "largest") + " result") + ".";
    const open = state.rows.filter(isOpen).length;
    say("Open: " + open + (open === 1 ? " experiment" : " experiments") + ". Known: " + state.rows.filter((row) => ours(row, "status") === "known").length + ".");
    el("main").focus();
  }

  // A token is in a header of bytes.
  function tokenFault(token) {
    if (token === "") return "Type the token.";
    return /^[\x21-\x7e\xa0-\xff]([\x20-\x7e\xa0-\xff]*[\x21-\x7e\xa0-\xff])?$/.test(token) ? "" : "The token has a character that no token has.";
  }

  el("door").addEventListener("submit", (event) => {
    event.preventDefault();
    const token = el("token").value.trim();
    el("token").value = "";
    const wrong = tokenFault(token);
    if (wrong) complain(wrong);
    else act(event.submitter, async () => {
      try {
        await enter(token);
      } catch (fault) {
        leave();
        throw fault;
      }
    });
  });

  el("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    const count = numberIn(el("count"), true);
    const context = contextNow();
    const fixed = fixedNow();
    if (count === undefined || context === undefined || fixed === undefined) return;
    act(event.submitter, async () => {
      const body = { n: count, lease: null };
      if (Object.keys(context).length) body.context = context;
      if (Object.keys(fixed).length) body.fixed = fixed;
      const found = (await ask("suggest", body)).queries;
      await refresh();
      say(found.length === 1 ? "Experiment " + found[0].id + " is open (" + inWords(Object.assign({ arm: found[0].arm }, context, found[0].point)) + ")." : found.length + " experiments are open: " + found.map((query) => query.id).join(", ") + ".");
      if (found.length) {
        if (compares()) chooseTwo(found.map((query) => query.id));
        const box = compares() ? el("choices").querySelector("button") : el("result-" + found[0].id + "-" + results()[0].name);
        if (box) box.focus();
      }
    });
  });

  el("context").addEventListener("submit", (event) => {
    event.preventDefault();
    if (contextNow() !== undefined) act(event.submitter, refresh);
  });

  for (const id of ["first", "second"]) el(id).addEventListener("change", drawChoices);

  el("leave").addEventListener("click", () => {
    leave();
    say("The token is forgotten.");
  });

  el("more").addEventListener("click", () => {
    state.shown += 50;
    drawKnown();
  });

  for (const part of document.querySelectorAll("details")) {
    part.addEventListener("toggle", () => { if (part.open && state.token !== null) act(null, () => fill(part)); });
  }
})();
