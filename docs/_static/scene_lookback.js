// Decoupled look-back, as a model: blocks take tiles in order, load, publish their sums, find the prefix before them, store.
// The simulator has no clock; the times here are made up, by a seed.
"use strict";
(() => {
  const TILES = 32, BLOCKS = 10, WINDOWS = { chained: 0, "look back, 1 lane": 1, "look back, 32 lanes": 32 };

  // What happens to each tile: {begin, sum, prefix, end}, and how many words its block read.
  function model({ way, spread, latency, seed }) {
    const random = warpPlayer.timeline.random(seed), window = WINDOWS[way], tiles = [];
    const free = Array(BLOCKS).fill(0);
    for (let i = 0; i < TILES; i++) {
      const block = free.indexOf(Math.min(...free)), begin = free[block];
      const sum = begin + 1 + spread * random();
      let now = sum, reads = 0, near = i - 1;
      if (!window) {
        if (i) [now, reads] = [Math.max(now, tiles[i - 1].prefix) + latency, 1];
      } else {
        // Each turn reads the words of up to `window` predecessors, once all of them have published something.
        while (near >= 0) {
          const far = Math.max(0, near - window + 1), seen = tiles.slice(far, near + 1);
          now = Math.max(now, ...seen.map((tile) => tile.sum)) + latency;
          reads++;
          if (seen.some((tile) => tile.prefix + latency <= now)) break;
          near = far - 1;
        }
      }
      tiles.push({ begin, sum, prefix: now, end: now + 1, block, reads });
      free[block] = now + 1;
    }
    return tiles;
  }

  warpPlayer.models.lookback = model;
  warpPlayer.scene("lookback", () => ({
    fields: [
      { name: "way", words: "How a block finds the prefix before it", of: Object.keys(WINDOWS), value: "look back, 32 lanes" },
      { name: "latency", words: "latency of a word", among: [0.05, 0.1, 0.2, 0.4, 0.8], value: 0.4 },
      { name: "spread", words: "spread of the loads", among: [0, 0.25, 0.5, 1, 2], value: 0.5 },
      { name: "seed", words: "seed", from: 1, to: 9, value: 1 },
    ],
    kind: "A model with made-up times, not a measurement: the unit is the shortest load. It shows the order of events; the chapter's times are measured.",
    play: (values) => {
      const longest = Math.max(...Object.keys(WINDOWS).map((way) => Math.max(...model({ ...values, way }).map((tile) => tile.end)))); // one axis for all ways
      const tiles = model(values), end = Math.max(...tiles.map((tile) => tile.end)), count = 41;
      const waited = tiles.reduce((all, tile) => all + tile.prefix - tile.sum, 0), held = tiles.reduce((all, tile) => all + tile.end - tile.begin, 0);
      const now = (step) => (end * step) / (count - 1);
      const rows = tiles.map(({ begin, sum, prefix, end: over }, i) => ({
        name: `tile ${i}`,
        spans: [[begin, sum, "loaded"], [sum, prefix, "idle"], [prefix, over, "loaded"]],
        marks: [[sum, "var(--draw-shared)"], [prefix, "var(--draw-computing)"]],
      }));
      return {
        count,
        keeps: "above",
        show: (step, stage) => {
          const at = now(step);
          warpPlayer.timeline.draw(stage, rows, at, longest, [["loaded", "loads, stores"], ["idle", "looks back, waits"],
            ["var(--draw-shared)", "its sum is published"], ["var(--draw-computing)", "its prefix is published"]], "in loads");
          const sums = tiles.filter((tile) => tile.sum <= at && tile.prefix > at).length, prefixes = tiles.filter((tile) => tile.prefix <= at).length;
          return {
            said: `<p>${prefixes} tile${prefixes === 1 ? " has" : "s have"} published a prefix, ${sums} ${sums === 1 ? "has" : "have"} only a sum, and ${TILES - prefixes - sums} nothing yet.</p>`,
            numbers: [[end.toFixed(1), `loads until all ${TILES} tiles are done`], [`${Math.round((100 * waited) / held)} %`, "of the blocks' time is waiting", waited > 0.4 * held],
              [(tiles.reduce((all, tile) => all + tile.reads, 0) / TILES).toFixed(1), "reads, one after the other, for a tile"]],
          };
        },
      };
    },
  }));
})();
