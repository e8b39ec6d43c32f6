/* What the pages do beyond reading: tables that scroll can be reached, print opens the folds, the page of agreement filters. */
(() => {
  // What scrolls has to be reachable with the keyboard, and to have a name.
  function name(box) {
    for (let node = box; node && node.tagName !== "ARTICLE"; node = node.parentElement) {
      for (let before = node.previousElementSibling; before; before = before.previousElementSibling) {
        if (/^H[1-6]$/.test(before.tagName) || before.matches(".rubric, .rung-title")) return before.textContent.replace("¶", "").trim();
      }
    }
    return document.title;
  }

  let count = 0;
  function reach(box) {
    const scrolls = box.scrollWidth > box.clientWidth;
    if (box.matches(".drawing, .stage")) {  // it has a name of its own
      if (scrolls) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
      return;
    }
    if (scrolls && !box.hasAttribute("tabindex")) {
      box.tabIndex = 0;
      box.setAttribute("role", "group");
      box.setAttribute("aria-label", `${box.matches("pre") ? "Listing" : "Table"} ${++count}: ${name(box)}`);
    } else if (!scrolls && box.getAttribute("role") === "group") {
      for (const attribute of ["tabindex", "role", "aria-label"]) box.removeAttribute(attribute);
    }
  }
  const boxes = document.querySelectorAll("div.table-wrapper, div.highlight pre, .drawing");
  if (window.ResizeObserver) {
    const watch = new ResizeObserver((entries) => entries.forEach((entry) => reach(entry.target)));
    boxes.forEach((box) => watch.observe(box));  // a fold that opens is a change of size, too
  }

  // The drawers of a narrow page: their icons are buttons for the keyboard, too, and Escape closes what is open.
  const icons = [];
  for (const [id, name] of [["__navigation", "Site navigation"], ["__toc", "Contents of this page"]]) {
    const toggle = document.getElementById(id);
    for (const icon of document.querySelectorAll(`label[for="${id}"] .icon`)) {
      icons.push([icon, toggle]);
      icon.tabIndex = 0;
      icon.setAttribute("role", "button");
      icon.setAttribute("aria-label", name);
      icon.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        toggle.click();
      });
    }
  }
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    for (const [icon, toggle] of icons) {
      if (!toggle.checked || !icon.offsetParent) continue;
      toggle.checked = false;
      icon.focus();
    }
  });

  // A slash leads to the search.
  addEventListener("keydown", (event) => {
    const field = document.querySelector('input[name="q"]');
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || !field?.offsetParent) return;
    if (event.target.closest?.("input, textarea, select")) return;
    event.preventDefault();
    field.focus();
  });

  // On paper every fold is open.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach((fold) => { fold.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach((fold) => { fold.open = false; }));

  // The page of agreement: only the rows in which simulator and hardware differ.
  const tables = [...document.querySelectorAll("div.agreement")];
  if (tables.length) {
    const label = document.createElement("label");
    label.className = "filter";
    const box = document.createElement("input");
    box.type = "checkbox";
    label.append(box, " Differences only");
    document.querySelector("article h1").after(label);
    const differs = (row) => row.querySelector("td strong") !== null;
    box.addEventListener("change", () => {
      for (const table of tables) {
        let shown = 0;
        for (const row of table.querySelectorAll("tbody tr")) {
          row.hidden = box.checked && !differs(row);
          shown += !row.hidden;
        }
        table.hidden = !shown;
        const heading = table.previousElementSibling;
        if (heading?.matches("h3")) heading.hidden = !shown;
      }
    });
  }
})();
