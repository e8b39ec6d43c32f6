// How far a reader has come: the chapters whose end was reached get a tick wherever they are listed, and the start page says where
// to go on. Kept in this browser alone. Exercises that ./learn has passed get theirs from learned.js, which ./learn writes.
"use strict";
(() => {
  const key = "warp:progress";
  let kept = {};
  try { kept = JSON.parse(localStorage.getItem(key)) ?? {}; } catch { /* a new reader, or storage is off */ }
  kept.read ??= {};
  const keep = () => { try { localStorage.setItem(key, JSON.stringify(kept)); } catch { /* not remembered then */ } };

  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
  const nameOf = (address) => {
    const url = new URL(address, location.href);
    return url.href.startsWith(root.href) ? url.pathname.slice(root.pathname.length) : "";
  };
  const here = nameOf(location.href), isChapter = /^chapters\/\d\d_\w+\.html$/.test(here);
  const titleOf = (heading) => heading.textContent.replace(/[¶#]\s*$/, "").trim();

  if (isChapter) {
    // Where the reader is: the last heading that went past the upper third of the window.
    const headings = [...document.querySelectorAll("article h1, article section[id] > h2, article section[id] > h3")];
    const note = () => {
      const passed = headings.filter((heading) => heading.getBoundingClientRect().top < innerHeight / 3).pop() ?? headings[0];
      kept.last = { page: here, anchor: passed.tagName === "H1" ? "" : passed.parentElement.id, title: titleOf(headings[0]),
                    section: passed.tagName === "H1" ? "" : titleOf(passed) };
      keep();
    };
    let waits = 0;
    addEventListener("scroll", () => { clearTimeout(waits); waits = setTimeout(note, 400); }, { passive: true });
    note();
    // The end: what comes next is in sight.
    const end = document.querySelector("#what-next, #what-now");
    if (end && window.IntersectionObserver) {
      new IntersectionObserver((entries, watch) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        watch.disconnect();
        kept.read[here] = true;
        keep();
        tick();
      }).observe(end);
    }
  }

  function tick() {
    const passed = new Set(globalThis.learned?.passed ?? []);
    for (const link of document.querySelectorAll(".sidebar-tree a, .cards a, .chapter-cards a, #the-chapters h2 a")) {
      const name = nameOf(link.getAttribute("href") || here);
      const exercise = /^exercises\/(\w+\/\w+)\.html$/.exec(name)?.[1];
      const done = exercise ? passed.has(exercise) : kept.read[name];
      if (!done || link.querySelector(".done")) continue;
      const mark = document.createElement("span");
      mark.className = "done";
      mark.setAttribute("role", "img");
      mark.setAttribute("aria-label", exercise ? "passed" : "read");
      mark.textContent = "✓";
      link.append(" ", mark);
    }
  }
  tick();

  const start = document.querySelector(".landing .start");
  if (start && kept.last) {
    const line = document.createElement("p"), link = document.createElement("a");
    line.className = "go-on";
    link.href = new URL(kept.last.page + (kept.last.anchor ? `#${kept.last.anchor}` : ""), root);
    link.textContent = kept.last.title + (kept.last.section ? `, ${kept.last.section}` : "");
    line.append("Go on where you were: ", link);
    start.before(line);
  }
})();
