// The figure of an exercise that asks for counts: a field for each of its accesses. What an access costs is counted when a guess
// is given, by the simulator's own rules (access.js), and then its picture is drawn. Nothing here knows an answer before.
"use strict";
(() => {
  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  function start(host) {
    const picture = make("div", { class: "picture" }), shown = make("p", { class: "code" });
    const below = make("div", { class: "side" }, shown, picture);
    below.hidden = true;
    const rows = JSON.parse(host.dataset.asked).map(([name, state]) => {
      const { space, sides: [side] } = warpAccess.parse(`${state}:float*1`);
      const unit = space === "shared" ? "wavefronts" : "sectors", code = warpAccess.source(space, side);
      const field = make("input", { type: "text", inputmode: "numeric", autocomplete: "off", size: 4, "aria-label": `${name}: ${unit} of ${code}` });
      const said = make("output", {});
      const form = make("form", { class: "asked" }, make("span", { class: "what" }, make("b", {}, name), " ", make("code", {}, code)),
        make("span", { class: "guess" }, field, ` ${unit} `, make("button", {}, "Check"), " ", said));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        if (!/^\s*\d+\s*$/.test(field.value)) {
          said.removeAttribute("data-near");
          said.textContent = "Write a whole number.";
          return;
        }
        const cost = warpAccess.judge(space, side), right = Number(field.value) === cost.big;
        said.dataset.near = right ? "yes" : "no";
        said.textContent = right ? "Right." : `It takes ${cost.big}.`;
        shown.replaceChildren(make("b", {}, name), ` ${cost.big} ${cost.unit}; ${cost.note}`);
        picture.innerHTML = cost.picture;
        below.hidden = false;
      });
      return form;
    });
    host.replaceChildren(...rows, below);
  }

  document.querySelectorAll(".ask[data-asked]").forEach(start);
})();
