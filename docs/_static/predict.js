// Gives each question of a page a field. An answer opens what is folded behind it; one switch opens all.
// Guesses and the switch are remembered for the page. Without this file everything can still be opened by hand.
"use strict";
(() => {
  const questions = [...document.querySelectorAll(".prediction[data-prediction]")];
  const folds = [...document.querySelectorAll("details.answer")];
  const page = location.pathname.split("/").pop();

  const remembered = {
    get(key, otherwise) {
      try { return JSON.parse(localStorage.getItem(`warp:${page}:${key}`)) ?? otherwise; } catch { return otherwise; }
    },
    set(key, value) {
      try { localStorage.setItem(`warp:${page}:${key}`, JSON.stringify(value)); } catch { /* not remembered then */ }
    },
  };

  // Reads and judges as tools/warp/chapter/predictions.py does for ./learn predict; tests/course/guesses.json holds both to it.
  // Forms: 1,024, 2.5, 1/32, 2^20, each with the unit or a part of it; 90 % is 90 where the unit is per cent, 0.9 elsewhere.
  function number(text, unit) {
    const typed = text.trim().toLowerCase();
    const found = /^([-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?)(?:([/^])(\d+(?:\.\d+)?))?/.exec(typed);
    if (!found) return null;
    const rest = typed.slice(found[0].length).trim();
    if (!["%", "x", "times"].includes(rest) && !unit.toLowerCase().includes(rest)) return null;
    const part = rest === "%" && !["%", "per cent"].includes(unit);
    const value = Number(found[1].replaceAll(",", "")) / (part ? 100 : 1);
    const result = found[2] === "/" ? value / Number(found[3]) : found[2] === "^" ? value ** Number(found[3]) : value;
    return Number.isFinite(result) ? result : null;
  }

  function isNear(how, guess, answer) {
    if (typeof answer === "string") return guess === answer;
    if (how === "exact") {
      return guess === answer || (!Number.isInteger(answer) && Math.abs(guess - answer) <= 0.005 * Math.abs(answer));
    }
    if (how.startsWith("factor")) {
      const factor = Number(how.split(" ")[1]);
      return guess * answer > 0 && guess / answer >= 1 / factor && guess / answer <= factor;
    }
    return Math.abs(guess - answer) <= (parseFloat(how) / 100) * Math.abs(answer);
  }

  const guesses = remembered.get("guesses", {});
  let all = null;  // the switch

  const asked = new Set(questions.filter((question) => "answer" in JSON.parse(question.dataset.prediction))
    .map((question) => question.dataset.name));

  // The counts of a listing, which wait for the predictions of its section.
  const counts = [...document.querySelectorAll(".counted-listing[data-for]")].map((listing) =>
    [listing.dataset.for.split(" "), listing.querySelector(".counts-switch input")]);
  const answered = (names) =>
    (all && all.checked) || (names.length && names.every((name) => name in guesses || !asked.has(name)));

  // A fold opens when every question that it answers is answered; what nobody has measured yet is not asked.
  function refresh() {
    for (const fold of folds) {
      const names = (fold.dataset.for ?? "").split(" ").filter(Boolean);
      if (answered(names)) fold.open = true;
    }
    for (const [names, box] of counts) box.checked ||= answered(names);
    uncover();
  }

  // The rows of a ladder whose times a question asks for: covered until it is answered, or passed on by opening its answer.
  const ladders = [...document.querySelectorAll("[data-covered]")].map((host) => [host, JSON.parse(host.dataset.covered)]);
  const isPast = (name) =>
    answered([name]) || folds.some((fold) => fold.open && (fold.dataset.for ?? "").split(" ").includes(name));

  function uncover(every = false) {
    for (const [host, rows] of ladders) {
      for (const [name, row] of Object.entries(rows)) {
        if (!every && !row.for.every(isPast)) continue;
        for (const drawing of host.querySelectorAll(".drawing")) {
          drawing.querySelector(`[data-row="${name}"]`).innerHTML = drawing.matches(".only-narrow") ? row.narrow : row.wide;
          if (row.said) drawing.setAttribute("aria-label", drawing.getAttribute("aria-label").replace(...row.said));
        }
        delete rows[name];
      }
    }
  }
  for (const fold of folds) fold.addEventListener("toggle", () => uncover());
  addEventListener("beforeprint", () => uncover(true));  // on paper every answer is open

  for (const question of questions) {
    const data = JSON.parse(question.dataset.prediction);
    const name = question.dataset.name;
    if (!asked.has(name)) continue;
    const form = document.createElement("form");
    const output = document.createElement("output");
    const button = document.createElement("button");
    button.textContent = "Check";
    let read;
    if (data.choices.length) {
      const set = document.createElement("fieldset");
      set.setAttribute("aria-label", `Your guess: ${question.querySelector("p").textContent.trim()}`);
      for (const choice of data.choices) {
        const label = document.createElement("label");
        const radio = document.createElement("input");
        radio.type = "radio";
        radio.name = `predict-${name}`;
        radio.value = choice;
        label.append(radio, ` ${choice.replaceAll("`", "")}`);
        set.append(label);
      }
      form.append(set);
      question.querySelector("ul")?.setAttribute("hidden", "");  // the field shows the choices
      read = () => set.querySelector("input:checked")?.value ?? null;
    } else {
      const label = document.createElement("label");
      const field = document.createElement("input");
      field.type = "text";
      field.inputMode = "decimal";
      field.autocomplete = "off";
      field.setAttribute("aria-label", `Your guess: ${question.querySelector("p").textContent.trim()}`);
      label.append(field, data.unit ? ` ${data.unit}` : "");
      form.append(label);
      read = () => number(field.value, data.unit);
    }
    form.append(button, output);
    const show = (guess) => {
      const near = isNear(data.near, guess, data.answer);
      const shown = data.shown.replaceAll("`", "");
      output.dataset.near = near ? "yes" : "no";
      output.textContent = `Your guess: ${String(guess).replaceAll("`", "")}. The run says: ${shown}` +
        `${data.unit ? ` ${data.unit}` : ""}. ${near ? (data.choices.length || data.near === "exact" ? "Right." : "Near enough.") : "Not so: read why."}`;
    };
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const guess = read();
      if (guess === null) {
        output.dataset.near = "";
        output.textContent = data.choices.length ? "Choose one." : "Write a number, as 32, 1,024, 2.5, 1/32, 2^20 or 90 %.";
        return;
      }
      guesses[name] = guess;
      remembered.set("guesses", guesses);
      show(guess);
      refresh();
    });
    question.append(form);
    if (name in guesses) show(guesses[name]);
  }

  if (folds.length) {
    const label = document.createElement("label");
    label.className = "show-answers";
    all = document.createElement("input");
    all.type = "checkbox";
    all.checked = remembered.get("all", false);
    all.addEventListener("change", () => {
      remembered.set("all", all.checked);
      for (const fold of folds) fold.open = all.checked;
      for (const [, box] of counts) box.checked = all.checked;
      uncover();
    });
    label.append(all, " Show all answers on this page");
    (document.querySelector("article h1") ?? document.querySelector("h1"))?.after(label);
  }

  // A link to something in a fold opens the fold.
  function reveal() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  }

  refresh();
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
