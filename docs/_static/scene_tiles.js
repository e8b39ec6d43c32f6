// A block's walk over K-tiles: what it loads, what one thread reads of it and keeps, and what bounds it at the sizes of the
// sliders. Sizes are counted by the simulator's rules (rules.js) and by arithmetic; nothing here has a clock.
"use strict";
(() => {
  const SMS = 132, GHZ = 1.98, EDGE = 256, DEPTH = 128; // of an H200; the part of the product that is drawn
  const POWERS = (from, to) => Array.from({ length: Math.log2(to / from) + 1 }, (_, i) => from * 2 ** i);

  // Wavefronts of shared memory for one FMA of a warp: the fragments of four steps along K, as warp 0 reads them. `wide`:
  // as float4, four floats of A along K, and four of B along its row where the thread has as many.
  function perFma({ BM, BN, BK, TM, TN }, wide) {
    const across = BN / TN, lanes = [...Array(32).keys()];
    const row = (lane) => Math.floor(lane / across) % (BM / TM) * TM, col = (lane) => lane % across * TN;
    const cost = (address, size) => warpRules.shared(lanes.map(address), size).wavefronts;
    const wideA = wide && BK % 4 === 0, floats = wide ? Math.min(TN, 4) : 1;
    let waves = 0;
    for (let i = 0; i < TM; i++) {
      waves += (wideA ? 1 : 4) * cost((lane) => 4 * (row(lane) + i) * BK, wideA ? 16 : 4);
    }
    for (let j = 0; j < TN; j += floats) waves += 4 * cost((lane) => 4 * (col(lane) + j), 4 * floats);
    return waves / (4 * TM * TN);
  }

  // What the sizes come to, or why there is no such block.
  function judge(sizes, { wide, peak, roofs, limits }) {
    const { BM, BN, BK, TM, TN } = sizes, threads = (BM / TM) * (BN / TN), shared = 4 * (BM + BN) * BK;
    if (TM > BM || TN > BN || threads < 32) return { wrong: `A warp has 32 lanes, and this block ${Math.floor(threads)} threads.` };
    if (threads > 1024) return { wrong: `A block has at most 1,024 threads, and this one would have ${threads.toLocaleString("en")}.` };
    if (shared > 227 * 1024) return { wrong: `A block may have 227 KiB of shared memory, and these K-tiles take ${shared / 1024}.` };
    const w = perFma(sizes, wide), intensity = (BM * BN) / (2 * (BM + BN));
    const bounds = [["FMA units", peak], ["shared memory", (SMS * GHZ * 64) / w],
      ...roofs.map(([name, rate]) => [name, intensity * rate])];
    const [by, most] = bounds.reduce((a, b) => (b[1] < a[1] ? b : a));
    const blocks = warpPlayer.models.sm(limits, threads, 32, shared);
    return { threads, shared, w, intensity, by, most, blocks: blocks.blocks, sharedBound: bounds[1][1] };
  }

  const HALO = 'stroke="var(--draw-ground)" stroke-width="4" style="paint-order: stroke"';
  const box = (x, y, wide, high, fill, more = "") =>
    `<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${Math.max(wide, 0.5).toFixed(1)}" height="${Math.max(high, 0.5).toFixed(1)}" fill="${fill}" ${more}/>`;
  const words = (x, y, text, size = 12, more = 'fill="var(--draw-muted)"') => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-size="${size}" ${more}>${text}</text>`;

  function matrices({ BM, BN, BK, TM, TN }, tile, phase, count) {
    const scale = 0.75, left = 2, gap = 16, top = 18;
    const right = left + DEPTH * scale + gap, below = top + DEPTH * scale + gap;
    const blockRow = BM < EDGE ? 1 : 0, blockCol = BN < EDGE ? 1 : 0;
    const y0 = below + blockRow * BM * scale, x0 = right + blockCol * BN * scale, k0 = tile * BK * scale;
    let shapes = "";
    for (const [name, x, y, wide, high] of [["A", left, below, DEPTH, EDGE], ["B", right, top, EDGE, DEPTH], ["C", right, below, EDGE, EDGE]]) {
      shapes += box(x, y, wide * scale, high * scale, "none", 'stroke="var(--draw-muted)"') + words(x, y - 5, name, 13, 'fill="var(--draw-foreground)" font-weight="600"');
    }
    let lines = "";
    for (let at = BM; at < EDGE; at += BM) lines += `M${right} ${below + at * scale}h${EDGE * scale}`;
    for (let at = BN; at < EDGE; at += BN) lines += `M${right + at * scale} ${below}v${EDGE * scale}`;
    shapes += `<path d="${lines}" stroke="var(--draw-line)"/>`;
    // What has been used up, and the K-tile of now: on its way, or in shared memory.
    const now = phase === "load" ? "loaded" : "shared";
    for (let i = 0; i <= tile; i++) {
      const fill = i < tile ? "none" : `url(#role-${now})`, more = i < tile ? 'stroke="var(--draw-line)"' : "";
      shapes += box(left + i * BK * scale, y0, BK * scale, BM * scale, fill, more) + box(x0, top + i * BK * scale, BN * scale, BK * scale, fill, more);
    }
    const done = (tile + (phase === "load" ? 0 : 1)) / count;
    shapes += box(x0, y0, BN * scale, BM * scale, "var(--draw-computing)", `fill-opacity="${(0.1 + 0.35 * done).toFixed(2)}"`);
    // One thread: what it reads of the K-tile, and the sums that it keeps.
    const row = Math.floor(BM / TM / 2) * TM * scale, col = Math.floor(BN / TN / 2) * TN * scale;
    const frame = 'stroke="var(--draw-foreground)" stroke-width="1.2"';
    if (phase !== "load") {
      shapes += box(left + k0, y0 + row, BK * scale, TM * scale, "var(--draw-ground)", frame) + box(x0 + col, top + k0, TN * scale, BK * scale, "var(--draw-ground)", frame);
    }
    shapes += box(x0 + col, y0 + row, TN * scale, TM * scale, "var(--draw-computing)", frame);
    return [shapes, right + EDGE * scale, below + EDGE * scale];
  }

  function roofline(judged, { peak, roofs, measured, wide }, x, y) {
    const wideness = 250, high = 200, fromX = Math.log2(0.5), toX = Math.log2(128), fromY = Math.log2(1000), toY = Math.log2(100000);
    const px = (i) => x + (wideness * (Math.log2(i) - fromX)) / (toX - fromX), py = (rate) => y + high - (high * (Math.log2(rate) - fromY)) / (toY - fromY);
    let shapes = box(x, y, wideness, high, "none", 'stroke="var(--draw-line)"');
    for (const tick of [1000, 10000, 100000]) shapes += words(x - 5, py(tick) + 4, tick / 1000, 11.5, 'text-anchor="end" fill="var(--draw-muted)"');
    for (const tick of [0.5, 2, 8, 32, 128]) shapes += words(px(tick), y + high + 16, tick, 11.5, 'text-anchor="middle" fill="var(--draw-muted)"');
    shapes += words(x, y - 8, "TFLOP/s") + words(x + wideness, y + high + 32, "FLOP for each byte loaded", 12, 'text-anchor="end" fill="var(--draw-muted)"');
    shapes += `<path d="M${x} ${py(peak)}H${x + wideness}" stroke="var(--draw-foreground)"/>` + words(x + 4, py(peak) - 4, "FMA units", 11.5);
    for (const [name, rate] of roofs) {
      const low = Math.max(0.5, 1000 / rate), top = Math.min(128, peak / rate);
      shapes += `<path d="M${px(low).toFixed(1)} ${py(low * rate).toFixed(1)}L${px(top).toFixed(1)} ${py(top * rate).toFixed(1)}" stroke="var(--draw-loaded)" stroke-width="1.5" fill="none"/>`;
      const [at, down, anchor] = rate > 6000 ? [1.6, -4, "end"] : [1.1, 15, "start"]; // above its line, or below
      shapes += words(px(at), py(at * rate) + down, name, 11.5, `text-anchor="${anchor}" fill="var(--draw-loaded)"`);
    }
    for (const { name, sizes, rate } of measured) {
      const intensity = (sizes.BM * sizes.BN) / (2 * (sizes.BM + sizes.BN));
      shapes += `<circle cx="${px(intensity).toFixed(1)}" cy="${py(rate).toFixed(1)}" r="4.5" fill="none" stroke="var(--draw-foreground)" stroke-width="1.5"><title>${name}: ${(rate / 1000).toFixed(1)} TFLOP/s, measured</title></circle>` +
        words(px(intensity) - 8, py(rate) + 4, name, 11, `text-anchor="end" class="mono" fill="var(--draw-foreground)" ${HALO}`);
    }
    if (!judged.wrong) {
      if (judged.sharedBound < 1.5 * peak) {
        shapes += `<path d="M${x} ${py(judged.sharedBound).toFixed(1)}H${x + wideness}" stroke="var(--draw-shared)" stroke-width="1.5" stroke-dasharray="5 3"/>` +
          words(x + 4, py(judged.sharedBound) + 14, "shared memory", 11.5, `fill="var(--draw-shared)" ${HALO}`);
      }
      shapes += `<circle cx="${px(judged.intensity).toFixed(1)}" cy="${py(judged.most).toFixed(1)}" r="6.5" fill="var(--draw-wasted)"/>`;
    }
    return shapes;
  }

  warpPlayer.models.tiles = { perFma, judge };
  warpPlayer.scene("tiles", (_, told) => ({
    fields: Object.entries(told.among).map(([name, ends]) => ({ name, words: name, among: POWERS(...ends), value: told.sizes[name] })),
    kind: "Drawn: 256 × 256 elements of C, 128 along K. Dot: what none of the four bounds forbids, by counts and the rates measured on an H200. Rings: what the course measured.",
    play: (values) => {
      const sizes = { ...told.sizes, ...values }, count = DEPTH / sizes.BK, judged = judge(sizes, told);
      return {
        count: judged.wrong ? 1 : 2 * count,
        begin: judged.wrong ? 0 : 2 * Math.floor(count / 2) + 1,
        show: (step, stage) => {
          if (judged.wrong) {
            stage.innerHTML = `<svg viewBox="0 0 620 260" role="img" aria-label="No such block">${roofline(judged, told, 340, 24)}</svg>`;
            return { said: `<p>${judged.wrong}</p>` };
          }
          const tile = Math.floor(step / 2), phase = step % 2 ? "multiply" : "load";
          const [shapes, right, bottom] = matrices(sizes, tile, phase, count);
          const narrow = stage.clientWidth < 480, wide = narrow ? right + 4 : right + 330, high = narrow ? bottom + 280 : bottom + 4;
          const at = narrow ? [34, bottom + 34] : [right + 60, 40];
          stage.innerHTML = `<svg viewBox="0 0 ${wide} ${high}" role="img" aria-label="K-tile ${tile + 1} of ${count}: ${phase}">${shapes}${roofline(judged, told, ...at)}</svg>`;
          const { threads, shared, w, intensity, by, most, blocks } = judged, { TM, TN, BM, BN, BK } = sizes;
          const what = phase === "load"
            ? `the block loads ${(BM * BK).toLocaleString("en")} floats of A and ${(BK * BN).toLocaleString("en")} of B into shared memory, then a barrier`
            : `in each of ${BK} steps the framed thread reads ${TM} + ${TN} floats and does ${TM * TN} FMA${TM * TN > 1 ? "s" : ""}; then a barrier`;
          return {
            said: `<p>K-tile ${tile + 1} of ${count}: ${what}.</p><p>At most ${(most / 1000).toFixed(1)} TFLOP/s, bounded by ${by}.</p>`,
            numbers: [[intensity.toFixed(1), "FLOP a byte loaded"], [w.toFixed(2), "wavefronts an FMA", w > 0.25], [TM * TN, TM * TN > 1 ? "sums a thread" : "sum a thread", TM * TN > 128],
              [threads, "threads"], [`${shared / 1024} KiB`, "of shared memory"], [blocks, "blocks on an SM, registers aside"]],
          };
        },
      };
    },
  }));
})();
