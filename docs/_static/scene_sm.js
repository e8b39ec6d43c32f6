// How many blocks fit on an SM: they come one after the other until something that they need is used up. The rules are those
// of tools/warp/machinecode/occupancy.py, and a test holds the two together.
"use strict";
(() => {
  const up = (value, unit) => Math.ceil(value / unit) * unit;

  // What the SM has, what a block takes of it, and how many blocks each resource allows.
  function occupancy(limits, threads, registers, sharedBytes) {
    const warps = Math.ceil(threads / 32), ofWarp = up(registers * 32, 256);
    const resident = 4 * Math.floor(16384 / ofWarp), fits = ofWarp * up(warps, 4) <= 65536;
    const shared = up(sharedBytes + limits.reserved, limits.unit);
    const parts = [
      { name: "threads", has: 32 * limits.warps, takes: 32 * warps, allows: Math.floor(limits.warps / warps), unit: 1, of: "" },
      { name: "registers", has: 65536, takes: ofWarp * warps, allows: fits ? Math.floor(resident / warps) : 0, unit: 1, of: "" },
      { name: "shared memory", has: limits.shared, takes: shared, allows: Math.floor(limits.shared / shared), unit: 1024, of: " KiB" },
    ];
    const least = Math.min(...parts.map(({ allows }) => allows), limits.blocks);
    const by = [...parts.filter(({ allows }) => allows === least).map(({ name }) => name)];
    return { blocks: least, by: by.length ? by : [`the most that an SM takes: ${limits.blocks} blocks`], parts, share: (least * warps) / limits.warps };
  }

  const round = (value) => (Number.isInteger(value) ? value.toLocaleString("en") : value.toFixed(1));

  function draw({ limits }, values, placed, wide) {
    const { blocks, parts, share } = occupancy(limits, values.threads, values.registers, 1024 * values.shared);
    const refused = placed > blocks;
    const shown = Math.min(placed, blocks);
    let shapes = "", y = 0;
    for (const { name, has, takes, allows, unit, of } of parts) {
      const scale = wide / has, full = refused && allows === blocks;
      shapes += `<text x="0" y="${y + 14}" font-size="13" fill="var(--draw-foreground)" font-weight="${full ? 700 : 400}">${name}</text>` +
        `<text x="${wide}" y="${y + 14}" font-size="12" text-anchor="end" fill="var(--draw-muted)">${round((shown * takes) / unit)} of ${round(has / unit)}${of}${wide > 480 ? `, ${round(takes / unit)} a block` : ""}</text>` +
        `<rect x="0" y="${y + 20}" width="${wide}" height="24" fill="url(#role-idle)" stroke="${full ? "var(--draw-wasted)" : "var(--draw-line)"}" stroke-width="${full ? 2 : 1}"/>`;
      for (let i = 0; i < shown; i++) {
        shapes += `<rect x="${(i * takes * scale + 1).toFixed(1)}" y="${y + 21}" width="${Math.max(takes * scale - 1.5, 0.6).toFixed(1)}" height="22" fill="url(#role-computing)"/>`;
      }
      if (full) {
        const x = Math.min(shown * takes * scale, wide - 2);
        shapes += `<rect x="${x.toFixed(1)}" y="${y + 20}" width="${Math.max(wide - x, 2).toFixed(1)}" height="24" fill="url(#role-wasted)"/>`;
      }
      y += 58;
    }
    // The occupancy at every size of a block.
    const left = 42, base = y + 92, tall = 70;
    shapes += `<text x="0" y="${y + 12}" font-size="13" fill="var(--draw-foreground)">Occupancy by threads of a block</text>`;
    let line = "";
    for (let threads = 32; threads <= 1024; threads += 32) {
      const at = occupancy(limits, threads, values.registers, 1024 * values.shared).share;
      const x = left + ((wide - left - 8) * (threads - 32)) / 992;
      line += `${line ? "L" : "M"}${x.toFixed(1)} ${(base - tall * at).toFixed(1)}`;
    }
    const x = left + ((wide - left - 8) * (values.threads - 32)) / 992;
    for (const tick of [0, 0.5, 1]) {
      shapes += `<path d="M${left} ${base - tall * tick}H${wide}" stroke="var(--draw-line)"/><text x="${left - 5}" y="${base - tall * tick + 4}" font-size="11.5" text-anchor="end" fill="var(--draw-muted)">${100 * tick} %</text>`;
    }
    for (const tick of [32, 256, 512, 768, 1024]) {
      shapes += `<text x="${(left + ((wide - left - 8) * (tick - 32)) / 992).toFixed(1)}" y="${base + 16}" font-size="11.5" text-anchor="middle" fill="var(--draw-muted)">${tick}</text>`;
    }
    shapes += `<path d="${line}" fill="none" stroke="var(--draw-computing)" stroke-width="2"/><circle cx="${x.toFixed(1)}" cy="${(base - tall * share).toFixed(1)}" r="5" fill="var(--draw-wasted)"/>`;
    return `<svg viewBox="0 0 ${wide + 12} ${base + 22}" style="max-width: ${wide + 12}px" role="img" aria-label="${shown} blocks on the SM">${shapes}</svg>`;
  }

  warpPlayer.scene("sm", (_, told) => ({
    fields: [
      { name: "threads", words: "threads of a block", from: 32, to: 1024, step: 32, value: told.threads },
      { name: "registers", words: "registers of a thread", from: 16, to: 255, value: told.registers },
      { name: "shared", words: "shared memory, KiB", from: 0, to: 227, value: told.shared },
    ],
    kind: told.kind,
    play: (values) => {
      const { blocks, by, parts, share } = occupancy(told.limits, values.threads, values.registers, 1024 * values.shared);
      const counted = (n) => `${n} block${n === 1 ? "" : "s"}`;
      return {
        count: blocks + 2,
        begin: blocks + 1,
        show: (step, stage) => {
          stage.innerHTML = draw(told, values, step, Math.max(300, Math.min(640, (stage.clientWidth || 572) - 12)));
          const left = parts.filter(({ name }) => by.includes(name)).map(({ name, has, takes, unit, of }) =>
            `of the ${name} ${round((has - blocks * takes) / unit)}${of} are left, and a block takes ${round(takes / unit)}${of}`);
          return {
            said: step <= blocks ? `<p>${counted(step)} on the SM.</p>`
              : `<p>No room for ${blocks ? "another one" : "a single block"}: ${left.join("; ") || by[0]}.</p>`,
            numbers: [[blocks, `block${blocks === 1 ? "" : "s"} fit`], [`${Math.round(100 * share)} %`, "occupancy", share < 0.25], [by.join(", "), "used up first"]],
          };
        },
      };
    },
  }));
  warpPlayer.models.sm = occupancy;
})();
