// The player of all figures that have steps. A scene (scene_NAME.js) says what there is to choose and draws a step; this
// file has the buttons, the slider and the keys. Without JavaScript, and in print, the figure is the drawing inside it.
"use strict";
window.warpPlayer = (() => {
  const scenes = {};
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }

  // scene(still, told) returns {fields, kind, play(values)}: `fields` are sliders and choices, {name, words, from, to, step,
  // value} or {name, words, of: [...]}; play(values) returns {count, show(step, stage), keeps}, which draws a step into the stage and
  // returns {said, numbers}: what happens, as HTML, and [[number, unit, whether it is bad]]. `keeps` says where the still drawing
  // stays: "in it", in the stage, or "above" all else.
  function start(host) {
    const scene = scenes[host.dataset.scene];
    if (!scene) return;
    const still = [...host.children];
    const { fields = [], kind = "", play } = scene(host, JSON.parse(host.dataset.told));
    const values = Object.fromEntries(fields.map((field) => [field.name, field.value ?? field.of[0]]));
    let film = play(values), at = film.begin ?? film.count - 1, timer = 0;

    const stage = make("div", { class: "stage" }), said = make("div", { class: "said", "aria-live": "polite" });
    const numbers = make("div", { class: "numbers" });
    const slider = make("input", { type: "range", min: 0, max: 0, value: 0, "aria-label": "Step", oninput: () => go(+slider.value) });
    const button = (words, name, act) => make("button", { type: "button", "aria-label": name, title: name, onclick: act }, words);
    const back = button("◀", "One step back", () => go(at - 1)), on = button("▶", "One step on", () => go(at + 1));
    const run = button("Play", "Play", () => (timer ? stop() : begin()));
    run.hidden = calm.matches;
    const transport = make("div", { class: "transport" }, back, on, slider, run);

    function stop() {
      clearInterval(timer);
      timer = 0;
      run.textContent = "Play";
    }

    function begin() {
      if (at >= film.count - 1) show(0);
      run.textContent = "Stop";
      timer = setInterval(() => (at < film.count - 1 ? show(at + 1) : stop()), Math.max(120, Math.min(900, 14000 / film.count)));
    }

    function go(step) {
      stop();
      show(Math.max(0, Math.min(film.count - 1, step)));
    }

    function show(step) {
      at = step;
      const { said: words, numbers: counted = [] } = film.show(step, stage);
      slider.value = step;
      slider.setAttribute("aria-valuetext", `step ${step + 1} of ${film.count}`);
      back.disabled = step === 0;
      on.disabled = step === film.count - 1;
      said.innerHTML = words;
      numbers.replaceChildren(...counted.map(([value, unit, bad]) =>
        make("span", bad ? { class: "bad" } : {}, make("b", {}, String(value)), unit)));
    }

    // Another film: its own number of steps, and as far on as the one before.
    function anew() {
      stop();
      const share = film.count > 1 ? at / (film.count - 1) : 1;
      film = play(values);
      slider.max = film.count - 1;
      transport.hidden = film.count < 2;
      show(Math.round(share * (film.count - 1)));
    }

    function control(field) {
      if (field.of) {
        const choices = field.of.map((one) => make("button", { type: "button", "aria-pressed": String(one === values[field.name]), onclick: () => {
          values[field.name] = one;
          choices.forEach((choice, i) => choice.setAttribute("aria-pressed", String(field.of[i] === one)));
          anew();
        } }, one));
        return make("div", { class: "choices", role: "group", "aria-label": field.words }, ...choices);
      }
      const shown = make("output", {}, String(field.value));
      const input = make("input", { type: "range", min: field.from ?? 0, max: field.to, step: field.step ?? 1, value: field.at ?? field.value,
        oninput: () => {
          values[field.name] = field.among ? field.among[+input.value] : +input.value;
          shown.textContent = String(values[field.name]);
          anew();
        } });
      if (field.among) [input.max, input.value] = [field.among.length - 1, field.among.indexOf(field.value)];
      return make("label", {}, field.words, input, shown);
    }

    const groups = fields.map(control);
    const rows = [...groups.filter((one) => one.className === "choices"),
      make("div", { class: "fields" }, ...groups.filter((one) => one.className !== "choices"))].filter((row) => row.children.length);
    if (film.keeps === "in it") stage.append(...still);
    host.replaceChildren(...(film.keeps === "above" ? still : []), ...rows, stage, transport, said, numbers, ...(kind ? [make("p", { class: "kind" }, kind)] : []));
    slider.max = film.count - 1;
    transport.hidden = film.count < 2;
    show(at);
    addEventListener("beforeprint", () => go(film.begin ?? film.count - 1));
  }

  addEventListener("DOMContentLoaded", () => document.querySelectorAll(".player[data-scene]").forEach(start));
  return { scene: (name, made) => (scenes[name] = made), make, models: {} };
})();
