// Warps over time, as the simulator recorded them: the drawing is there, and a step shows how far the warps have come.
"use strict";
warpPlayer.scene("warp", (host, { panels }) => {
  const escape = (words) => words.replace(/&/g, "&amp;").replace(/</g, "&lt;");
  const count = Math.max(...panels.map(({ frames }) => frames.length));
  const drawings = [...host.querySelectorAll("svg")].map((svg) =>
    panels.map((_, i) => [...svg.querySelectorAll(`[data-panel="${i}"] [data-column]`)]));

  function show(step) {
    for (const drawing of drawings) {
      for (const columns of drawing) {
        columns.forEach((column, i) => {
          column.classList.toggle("ahead", i > step);
          column.classList.toggle("now", i === step && step < count - 1);
        });
      }
    }
    const said = panels.map(({ name, frames, lines }) => {
      const [line, words, issued, used, waves] = frames[Math.min(step, frames.length - 1)];
      const share = used / (issued * 32);
      const now = step < frames.length ? `line ${line}: ${words}<br><code>${escape(lines[line] ?? "")}</code>` : "done";
      return `<div><p class="head">${escape(name)}</p><p class="numbers"><span><b>${issued}</b> steps</span> ` +
        `<span${share < 0.75 ? ' class="bad"' : ""}><b>${Math.round(100 * share)} %</b> of their lanes</span> ` +
        `${waves ? `<span><b>${waves}</b> wavefronts</span>` : ""}</p><p>${now}</p></div>`;
    }).join("");
    return { said: `<div class="beside">${said}</div>` };
  }

  return { play: () => ({ count, show, keeps: "in it" }) };
});
