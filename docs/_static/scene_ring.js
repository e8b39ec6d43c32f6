// A ring of stages, as a model: a copy begins once its stage has been read, arrives after its latency, and is computed with in
// turn. The simulator has no clock; the times here are the sliders'.
"use strict";
(() => {
  const TILES = 12;

  // When each K-tile's copy begins and arrives, and when the FMAs begin and end with it.
  function model({ stages, latency, compute }) {
    const tiles = [];
    for (let i = 0; i < TILES; i++) {
      const copy = i < stages ? 0 : tiles[i - stages].end, arrive = copy + latency;
      const begin = Math.max(arrive, i ? tiles[i - 1].end : 0);
      tiles.push({ stage: i % stages, copy, arrive, begin, end: begin + compute });
    }
    return tiles;
  }

  warpPlayer.models.ring = model;
  warpPlayer.scene("ring", () => ({
    fields: [
      { name: "stages", words: "stages", from: 1, to: 6, value: 4 },
      { name: "latency", words: "latency of a copy", from: 1, to: 10, value: 5 },
      { name: "compute", words: "time to compute", from: 1, to: 5, value: 2 },
    ],
    kind: "A model with made-up times, not a measurement. Copies do not slow each other down in it.",
    play: (values) => {
      const tiles = model(values), end = tiles[TILES - 1].end, count = end + 1;
      const rows = Array.from({ length: values.stages }, (_, stage) => ({
        name: `stage ${stage}`,
        spans: tiles.flatMap((tile, i) => (tile.stage === stage ? [[tile.copy, tile.arrive, "loaded", i], [tile.arrive, tile.begin, "shared"], [tile.begin, tile.end, "computing", i]] : [])),
      }));
      const busy = tiles.map((tile, i) => [[i ? tiles[i - 1].end : 0, tile.begin, "idle"], [tile.begin, tile.end, "computing", i]]).flat().filter(([from, to]) => to > from);
      rows.push({ name: "FMA units", spans: busy });
      const steady = TILES > values.stages ? (end - tiles[values.stages - 1].end) / (TILES - values.stages) : values.compute;
      return {
        count,
        show: (step, stage) => {
          warpPlayer.timeline.draw(stage, rows, step, end, [["loaded", "on its way"], ["shared", "full"], ["computing", "read, computed with"], ["idle", "idle"]]);
          const way = tiles.filter((tile) => tile.copy <= step && step < tile.arrive).length, full = tiles.filter((tile) => tile.arrive <= step && step < tile.begin).length;
          const now = tiles.findIndex((tile) => tile.begin <= step && step < tile.end);
          return {
            said: `<p>Time ${step}: ${way} ${way === 1 ? "copy is" : "copies are"} on the way, ${full} stage${full === 1 ? " is" : "s are"} full, the FMA units ${step >= end ? "are done" : now < 0 ? "idle" : `compute with K-tile ${now}`}.</p>`,
            numbers: [[steady.toFixed(1), "time for each K-tile"], [`${Math.round((100 * (end - TILES * values.compute)) / end)} %`, "of the time the FMA units idle", end > 1.5 * TILES * values.compute],
              [1 + Math.ceil(values.latency / values.compute), "stages would hide the latency"]],
          };
        },
      };
    },
  }));
})();
