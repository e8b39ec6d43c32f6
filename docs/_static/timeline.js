// What the models of time share: a seeded source of random numbers, and rows of spans up to a moment.
"use strict";
warpPlayer.timeline = (() => {
  // Numbers in [0, 1), the same for the same seed (a linear congruential generator).
  function random(seed) {
    let state = (seed * 2654435761 + 12345) >>> 0;
    return () => (state = (state * 1664525 + 1013904223) >>> 0) / 2 ** 32;
  }

  // rows: [{name, spans: [[from, to, role, words]], marks: [[at, colour]]}], drawn into the stage up to `now` of `end`.
  function draw(stage, rows, now, end, legend, note) {
    const left = 66, wide = Math.max(300, Math.min(700, stage.clientWidth || 620)), pitch = rows.length > 12 ? 13 : 26, high = pitch - 3, scale = (wide - left - 4) / end;
    let shapes = "";
    rows.forEach(({ name, spans, marks = [] }, i) => {
      const y = 4 + i * pitch;
      if (pitch > 20 || i % 4 === 0) shapes += `<text x="0" y="${y + high / 2 + 4}" font-size="12" fill="var(--draw-muted)">${name}</text>`;
      for (const [from, to, role, words] of spans) {
        const until = Math.min(to, now);
        if (until <= from) continue;
        const x = left + from * scale, long = (until - from) * scale;
        shapes += `<rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(long - 0.8, 0.6).toFixed(1)}" height="${high}" fill="url(#role-${role})"${role === "idle" ? ' stroke="var(--draw-line)"' : ""}/>`;
        if (words !== undefined && long > 18 && pitch > 20) {
          shapes += `<text x="${(x + long / 2).toFixed(1)}" y="${y + high / 2 + 4.5}" font-size="12.5" text-anchor="middle" fill="var(--draw-foreground)" stroke="var(--draw-ground)" stroke-width="4" style="paint-order: stroke">${words}</text>`;
        }
      }
      for (const [at, colour] of marks) {
        if (at <= now) shapes += `<path d="M${(left + at * scale).toFixed(1)} ${y - 1}v${high + 2}" stroke="${colour}" stroke-width="2.5"/>`;
      }
    });
    const bottom = 4 + rows.length * pitch;
    shapes += `<path d="M${(left + now * scale).toFixed(1)} 2V${bottom + 2}" stroke="var(--draw-muted)" stroke-dasharray="2 3"/>`;
    shapes += `<text x="${wide}" y="${bottom + 16}" font-size="12" text-anchor="end" fill="var(--draw-muted)">time${note ? `, ${note}` : ""}</text>`;
    let x = left, y = bottom + 28;
    for (const [paint, words] of legend) {
      const long = 32 + 6.8 * words.length;
      if (x + long > wide) [x, y] = [left, y + 20];
      const fill = paint.startsWith("var") ? `<path d="M${x + 6} ${y}v13" stroke="${paint}" stroke-width="3"/>` : `<rect x="${x}" y="${y}" width="13" height="13" fill="url(#role-${paint})" stroke="var(--draw-line)"/>`;
      shapes += `${fill}<text x="${x + 19}" y="${y + 11}" font-size="12" fill="var(--draw-muted)">${words}</text>`;
      x += long;
    }
    stage.innerHTML = `<svg viewBox="0 0 ${wide} ${y + 20}" style="max-width: ${wide}px" role="img" aria-label="Time ${now.toFixed(1)} of ${end.toFixed(1)}">${shapes}</svg>`;
  }

  return { random, draw };
})();
