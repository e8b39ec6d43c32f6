// A ring of stages, as a model: the copy of a row begins once its stage has been read, arrives after its latency, and is added in
// its turn. The simulator has no clock; the times here are the sliders'.
"use strict";
(() => {
  const ROWS = 12;

  // When each row's copy begins and arrives, and when the FMAs begin and end.
  function model({ stages, latency, compute }) {
    const rows = [];
    for (let i = 0; i < ROWS; i++) {
      const copy = i < stages ? 0 : rows[i - stages].end, arrive = copy + latency;
      const begin = Math.max(arrive, i ? rows[i - 1].end : 0);
      rows.push({ stage: i % stages, copy, arrive, begin, end: begin + compute });
    }
    return rows;
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
      const rows = model(values), end = rows[ROWS - 1].end, count = end + 1;
      const bars = Array.from({ length: values.stages }, (_, stage) => ({
        name: `stage ${stage}`,
        spans: rows.flatMap((row, i) => (row.stage === stage ? [[row.copy, row.arrive, "loaded", i], [row.arrive, row.begin, "shared"], [row.begin, row.end, "computing", i]] : [])),
      }));
      const busy = rows.map((row, i) => [[i ? rows[i - 1].end : 0, row.begin, "idle"], [row.begin, row.end, "computing", i]]).flat().filter(([from, to]) => to > from);
      bars.push({ name: "FP32 units", spans: busy });
      const steady = ROWS > values.stages ? (end - rows[values.stages - 1].end) / (ROWS - values.stages) : values.compute;
      return {
        count,
        show: (step, stage) => {
          warpPlayer.timeline.draw(stage, bars, step, end, [["loaded", "on its way"], ["shared", "full"], ["computing", "read and added"], ["idle", "idle"]]);
          const way = rows.filter((row) => row.copy <= step && step < row.arrive).length, full = rows.filter((row) => row.arrive <= step && step < row.begin).length;
          const now = rows.findIndex((row) => row.begin <= step && step < row.end);
          return {
            said: `<p>Time ${step}: ${way} ${way === 1 ? "copy is" : "copies are"} on the way, ${full} stage${full === 1 ? " is" : "s are"} full, the FP32 units ${step >= end ? "are done" : now < 0 ? "idle" : `add row ${now}`}.</p>`,
            numbers: [[steady.toFixed(1), "time for each row"], [`${Math.round((100 * (end - ROWS * values.compute)) / end)} %`, "of the time the FP32 units idle", end > 1.5 * ROWS * values.compute],
              [1 + Math.ceil(values.latency / values.compute), "stages would hide the latency"]],
          };
        },
      };
    },
  }));
})();
