// The live figure: what one access of a warp costs, two states side by side. The rules are the simulator's, compiled to
// WebAssembly (rules.js); this file makes addresses and draws. The state stands in the page's address.
"use strict";
(() => {
  const bytes = Uint8Array.from(atob(rulesModule), (letter) => letter.charCodeAt(0));
  const machine = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports;
  const LANES = 32, BANKS = 32, SECTOR = 32, WORD = 4;
  const SIZES = { float: 4, double: 8, float2: 8, float4: 16 };

  // Writes the lanes' addresses where the rules read them; returns the mask of the active lanes, those that have one.
  function put(addresses) {
    const at = new BigUint64Array(machine.memory.buffer, machine.addresses(), LANES);
    let active = 0;
    addresses.forEach((address, lane) => {
      at[lane] = BigInt(address ?? 0);
      if (address !== null) active |= 1 << lane;
    });
    return active;
  }

  // {wavefronts, phases, ideal, phaseLanes} of one access to shared memory.
  function shared(addresses, size, store = false) {
    machine.wavefronts(put(addresses), size, store ? 1 : 0);
    const [wavefronts, phases, ideal, phaseLanes] = new Uint32Array(machine.memory.buffer, machine.cost(), 4);
    return { wavefronts, phases, ideal, phaseLanes };
  }

  const sectors = (addresses, size) => machine.sectors(put(addresses), size);

  // {word: its lanes}, in the order of the words.
  function wordsOf(addresses, size, from = 0, to = LANES) {
    const words = new Map();
    for (let lane = from; lane < to; lane++) {
      if (addresses[lane] === null) continue;
      const last = Math.floor((addresses[lane] + size - 1) / WORD);
      for (let word = Math.floor(addresses[lane] / WORD); word <= last; word++) {
        if (!words.has(word)) words.set(word, []);
        words.get(word).push(lane);
      }
    }
    return new Map([...words].sort((a, b) => a[0] - b[0]));
  }

  const PITCH = 12, CELL = 10.5;
  const group = (lanes) => `lane${lanes.length > 1 ? "s" : ""} ${lanes.join(", ")}`;

  function svg(shapes, height, words) {
    return `<svg viewBox="0 0 ${BANKS * PITCH} ${height}" role="img" aria-label="${words}">${shapes}</svg>`;
  }

  // A column for each bank, a row for each wavefront: what it serves. Round: what waits for a wavefront of its own because
  // another word was in its bank.
  function drawBanks(addresses, size, cost) {
    let shapes = "", y = 15, wavefront = 0;
    for (const bank of [0, 8, 16, 24, 31]) {
      const [x, anchor] = bank === 31 ? [BANKS * PITCH - 1, "end"] : [bank * PITCH, "start"];
      shapes += `<text x="${x}" y="10" text-anchor="${anchor}" class="note">${bank ? "" : "bank "}${bank}</text>`;
    }
    for (let first = 0; first < LANES; first += cost.phaseLanes) {
      const stacks = Array.from({ length: BANKS }, () => []);
      for (const entry of wordsOf(addresses, size, first, first + cost.phaseLanes)) stacks[entry[0] % BANKS].push(entry);
      const rows = Math.max(...stacks.map((stack) => stack.length));
      if (rows && cost.phaseLanes < LANES) {
        shapes += `<text x="0" y="${y + 12}" class="note">lanes ${first} to ${first + cost.phaseLanes - 1}</text>`;
        y += 17;
      }
      for (let row = 0; row < rows; row++, y += PITCH) {
        wavefront++;
        let idle = "";
        stacks.forEach((stack, bank) => {
          if (!stack[row]) {
            idle += `M${bank * PITCH + 3.5} ${y + 3.5}h4v4h-4z`;
            return;
          }
          const [word, lanes] = stack[row];
          shapes += `<rect x="${bank * PITCH}" y="${y}" width="${CELL}" height="${CELL}" rx="${row ? 5 : 1.5}" class="${row ? "extra" : "used"}" ` +
            `data-step="${wavefront}" data-lanes="${lanes.join(" ")}" data-says="word ${word}, bank ${bank}, wavefront ${wavefront}">` +
            `<title>word ${word}: ${group(lanes)}</title></rect>`;
        });
        shapes += `<path d="${idle}" class="idle"/>`;
      }
      y += rows ? 4 : 0;
    }
    return svg(shapes, y, `The 32 banks: ${cost.wavefronts} wavefront${cost.wavefronts > 1 ? "s" : ""}.`);
  }

  // The sectors that move, four in a row: eight words each. Filled: wanted; a ring: moved, not wanted.
  function drawSectors(addresses, size) {
    const words = wordsOf(addresses, size), moved = [...new Set([...words.keys()].map((word) => Math.floor(word / 8)))];
    let shapes = "";
    moved.forEach((sector, i) => {
      const y = Math.floor(i / 4) * (PITCH + 3);
      for (let place = 0; place < 8; place++) {
        const word = sector * 8 + place, lanes = words.get(word), x = (i % 4) * 97 + place * 11.4;
        shapes += lanes
          ? `<rect x="${x}" y="${y}" width="${CELL}" height="${CELL}" rx="1.5" class="moved" data-step="${i + 1}" data-lanes="${lanes.join(" ")}" ` +
            `data-says="word ${word}, sector ${sector}"><title>word ${word}: ${group(lanes)}</title></rect>`
          : `<rect x="${x + 1}" y="${y + 1}" width="8.5" height="8.5" rx="4" class="ring" data-step="${i + 1}"/>`;
      }
    });
    const height = Math.ceil(moved.length / 4) * (PITCH + 3);
    return svg(shapes, height, `${moved.length} sector${moved.length > 1 ? "s" : ""} of 32 bytes.`);
  }

  // ---- what the figure is made of: two accesses, written as shared:float*32:float*32+1 ----
  // A side is a stride, float*32+1^@2; an index, float[lane*3]; or a place in a tile of 32 x 32, float[lane][0]+1. A store ends in =.

  const PART = /^(float[24]?|double)(?:\*(\d+)(?:\+(\d+))?(\^)?(?:@(\d+))?|\[([^\][]*)\](?:\[([^\][]*)\](?:\+(\d+)|(\^))?)?)(=)?$/;

  // Throws an Error that says what is wrong with an index; null for what is no state at all.
  function parse(state) {
    const [space, ...parts] = state.replaceAll(" ", "").split(":");
    const found = parts.map((part) => PART.exec(part));
    if (!["shared", "global"].includes(space) || found.length !== 2 || !found.every(Boolean)) return null;
    const sides = found.map(([, element, stride, pad, swizzled, first, index, column, tilePad, tileSwizzled, store]) => {
      const kind = stride !== undefined ? "stride" : column === undefined ? "index" : "tile";
      return { element, kind, stride: +(stride ?? 1), pad: +(pad ?? tilePad ?? 0), swizzled: Boolean(swizzled ?? tileSwizzled),
               first: +(first ?? 0), index: kind === "index" ? index : "lane", row: kind === "tile" ? index : "lane",
               column: column ?? "0", store: Boolean(store) };
    });
    if (!sides.every((side) => side.stride <= 64 && side.pad <= 8 && side.first <= 8 && (side.kind !== "tile" || space === "shared"))) return null;
    sides.forEach(addressesOf);
    return { space, sides };
  }

  function written({ space, sides }) {
    return [space, ...sides.map(({ element, kind, stride, pad, swizzled, first, index, row, column, store }) => {
      const layout = `${pad ? `+${pad}` : ""}${swizzled ? "^" : ""}`;
      const place = { stride: `*${stride}${layout}${first ? `@${first}` : ""}`, index: `[${index}]`, tile: `[${row}][${column}]${layout}` }[kind];
      return `${element}${place}${store ? "=" : ""}`;
    })].join(":").replaceAll(" ", "");
  }

  const canSwizzle = ({ stride }) => stride > 1 && (stride & (stride - 1)) === 0;

  function addressesOf({ element, kind, stride, pad, swizzled, first, index, row, column }) {
    const lanes = Array.from({ length: LANES }, (_, lane) => lane);
    let at = lanes.map((lane) => lane * (stride + pad) + (swizzled ? lane & (stride - 1) : 0) + first);
    if (kind === "index") at = warpIndex(index);
    if (kind === "tile") {
      const rows = warpIndex(row, 31, "a row"), columns = warpIndex(column, 31, "a column");
      at = lanes.map((lane) => rows[lane] * (32 + pad) + (swizzled ? rows[lane] ^ columns[lane] : columns[lane]));
    }
    return at.map((place) => SIZES[element] * place);
  }

  // A part of an index: in parentheses, unless it is a name or a number.
  const part = (text) => (/^\w+$/.test(text) ? text : `(${text})`);

  function source(space, { element, kind, stride, pad, swizzled, first, index, row, column, store }) {
    const step = stride === 1 ? "lane" : stride ? `lane * ${stride}` : "0", stored = store ? " = …" : "";
    if (kind === "index") return `${space === "global" ? (store ? "out" : "in") : "words"}[${index}]${stored}${space === "global" ? "" : `  of ${element}`}`;
    if (kind === "tile") return `tile[${row}][${swizzled ? `${part(column)} ^ ${part(row)}` : column}]${stored}  of ${element} tile[32][32${pad ? ` + ${pad}` : ""}]`;
    if (space === "global") return `${store ? "out" : "in"}[${step}${first ? ` + ${first}` : ""}]${stored}`;
    if (pad || swizzled || stride === 32) return `tile[lane][${swizzled ? "0 ^ lane" : "0"}]${stored}  of ${element} tile[32][${stride}${pad ? ` + ${pad}` : ""}]`;
    return `words[${step}]${stored}  of ${element}`;
  }

  // The same indices in the other memory. What only one of the two has, a tile, a pad, an offset, becomes an index.
  function inMemory(space, { sides }) {
    return { space, sides: sides.map((side) => {
      const { kind, stride, pad, swizzled, first, row, column } = side, next = { ...side, pad: 0, swizzled: false, first: 0 };
      if (kind === "index" || (kind === "stride" && !pad && !swizzled && !first)) return next;
      const [from, width, behind] = kind === "tile" ? [part(row), 32 + pad, swizzled ? `(${part(column)} ^ ${part(row)})` : part(column)]
        : ["lane", stride + pad, swizzled ? `(lane & ${stride - 1})` : String(first)];
      return { ...next, kind: "index", index: `${from} * ${width}${behind === "0" ? "" : ` + ${behind}`}` };
    }) };
  }

  const round = (value) => (Math.abs(value - Math.round(value)) < 0.005 ? String(Math.round(value)) : value.toFixed(2));

  // The cost of a side, its picture, and how many bytes it gets for its cost.
  function judge(space, side) {
    const addresses = addressesOf(side), size = SIZES[side.element];
    if (space === "shared") {
      const cost = shared(addresses, size, side.store);
      const worst = Math.max(...Array.from({ length: LANES / cost.phaseLanes }, (_, phase) => {
        const load = Array(BANKS).fill(0);
        const words = wordsOf(addresses, size, phase * cost.phaseLanes, (phase + 1) * cost.phaseLanes);
        for (const word of words.keys()) load[word % BANKS]++;
        return Math.max(...load);
      }));
      return {
        picture: drawBanks(addresses, size, cost), big: cost.wavefronts, unit: cost.wavefronts > 1 ? "wavefronts" : "wavefront",
        note: `${cost.phases} without conflicts`, per: (LANES * size) / cost.wavefronts,
        worst,
      };
    }
    const count = sectors(addresses, size), wanted = wordsOf(addresses, size).size * WORD;
    return {
      picture: drawSectors(addresses, size), big: count, unit: count > 1 ? "sectors" : "sector",
      note: `${(count * SECTOR).toLocaleString("en")} bytes moved, ${wanted} wanted`, per: wanted / count,
    };
  }

  // How many banks a stride reaches: those that the common factors of it and of 32 leave. 0 of what is no stride of floats.
  function reach({ kind, element, stride, pad, swizzled }) {
    let [rest, common] = [stride + pad, BANKS];
    if (kind !== "stride" || element !== "float" || swizzled || !rest) return 0;
    while (rest) [common, rest] = [rest, common % rest];
    return BANKS / common;
  }

  // Why one stride has conflicts and the other has not, or fewer.
  function why([a, b]) {
    const [far, near] = [reach(a), reach(b)], of = ({ stride, pad }) => stride + pad;
    const said = (banks) => (banks === BANKS ? `all ${BANKS} banks, as it has no factor in common with ${BANKS}`
      : `${banks} of ${BANKS} banks, as ${BANKS / banks} divides it and ${BANKS}`);
    return far && near && far !== near ? ` A stride of ${of(a)} reaches ${said(far)}; one of ${of(b)} reaches ${said(near)}.` : "";
  }

  function verdict(space, [a, b], sides) {
    const ratio = Math.max(a.per, b.per) / Math.min(a.per, b.per);
    const conflict = ({ worst }) => (worst > 1 ? `a${[8, 11, 18].includes(worst) ? "n" : ""} ${worst}-way bank conflict` : "no bank conflict");
    if (space === "shared") {
      if (ratio < 1.005) return `The same cost for each byte: ${a.worst === b.worst ? `${conflict(a)}, in A and in B` : `A: ${conflict(a)}; B: ${conflict(b)}`}.`;
      const [best, worse, good, bad] = a.per > b.per ? ["A", "B", a, b] : ["B", "A", b, a];
      return `${worse} takes ${round(ratio)} × the wavefronts of ${best} for the same bytes: ${conflict(bad)}; ${best}: ${conflict(good)}.${why(sides)}`;
    }
    const share = ({ per }) => `${Math.round((1000 * per) / SECTOR) / 10} %`;
    if (ratio < 1.005) return `The same traffic for each byte: ${share(a)} of what moves is wanted.`;
    const [best, worse, good, bad] = a.per > b.per ? ["A", "B", a, b] : ["B", "A", b, a];
    return `${worse} moves ${round(ratio)} × the bytes of ${best} for each byte wanted: ${share(bad)} of them are wanted; ${best}: ${share(good)}.`;
  }

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }

  function start(figure) {
    const id = figure.parentElement.id, examples = JSON.parse(figure.dataset.examples);
    let state = parse(examples[0][1]), lane = 0;
    const buttons = examples.map(([words, example]) =>
      make("button", { type: "button", onclick: () => set(parse(example)) }, words));
    const said = make("output", { class: "verdict" });
    const sides = ["A", "B"].map((name, i) => {
      const fields = make("div", { class: "fields" }), code = make("code", {}), big = make("p", { class: "big" });
      const picture = make("div", { class: "picture" }), followed = make("span", {});
      return { name, fields, code, big, picture, followed, node: make("div", { class: "side", role: "group", "aria-label": `Access ${name}` },
        make("p", { class: "code" }, make("b", {}, name), " ", code), fields, big, picture), i };
    });
    const slider = make("input", { type: "range", min: 0, max: LANES - 1, value: 0, oninput: () => follow(+slider.value) });
    const number = make("output", {});
    const line = make("p", { class: "follow" }, make("label", {}, "Follow lane ", slider), " ", number, ": ",
      sides[0].followed, " · ", sides[1].followed);
    // Wavefronts, or sectors, one after the other.
    const order = make("input", { type: "range", min: 1, max: 1, value: 1, oninput: () => { stop(); reveal(+order.value); } });
    const reached = make("output", {}), play = make("button", { type: "button", onclick: () => (timer ? stop() : begin()) }, "Play");
    play.hidden = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const steps = make("p", { class: "order" }, make("label", {}, "One after the other ", order), " ", reached, " ", play);
    let timer = 0;

    function stop() {
      clearInterval(timer);
      timer = 0;
      play.textContent = "Play";
    }

    function begin() {
      const most = +order.max;
      reveal(+order.value < most ? +order.value : 1);
      play.textContent = "Stop";
      timer = setInterval(() => (+order.value < most ? reveal(+order.value + 1) : stop()), Math.max(80, Math.min(700, 6000 / most)));
    }

    function reveal(count) {
      order.value = count;
      reached.textContent = `${count} of ${order.max}`;
      for (const cell of figure.querySelectorAll("[data-step]")) cell.classList.toggle("later", +cell.dataset.step > count);
    }

    const memory = make("select", { "data-field": "memory", onchange: () => set(inMemory(memory.value, state)) },
      make("option", {}, "shared"), make("option", {}, "global"));
    figure.replaceChildren(make("div", { class: "examples", role: "group", "aria-label": "Examples" }, ...buttons),
      make("p", { class: "memory" }, make("label", {}, "memory ", memory)), said, make("div", { class: "sides" }, ...sides.map(({ node }) => node)), steps, line);

    function field(side, name, words, most) {
      const shown = make("output", {}, String(side[name]));
      const input = make("input", { type: "range", min: 0, max: most, value: side[name], "data-field": name,
        oninput: () => { side[name] = +input.value; shown.textContent = input.value; changed(); } });
      return make("label", {}, words, input, shown);
    }

    function choice(words, options, value, act) {
      const choose = make("select", { onchange: () => act(choose.value) },
        ...options.map((option) => make("option", option === value ? { selected: "" } : {}, option)));
      return make("label", {}, words, choose);
    }

    // A field for an index: what is wrong with it stands below, and the picture stays as it was.
    function typed(side, name, words) {
      const problem = make("output", { class: "problem" });
      const input = make("input", { type: "text", value: side[name], "data-field": name, spellcheck: "false", autocomplete: "off",
        autocapitalize: "off", maxlength: 80, oninput: () => {
          let wrong = "";
          try { addressesOf({ ...side, [name]: input.value }); } catch (error) { wrong = error.message; }
          problem.textContent = wrong;
          input.setAttribute("aria-invalid", String(Boolean(wrong)));
          input.closest(".side").classList.toggle("before", Boolean(wrong));
          if (wrong) return;
          side[name] = warpIndex.bare(input.value);
          changed();
        } });
      return make("div", { class: name === "index" ? "typed whole" : "typed" }, make("label", {}, words, input), problem);
    }

    // An index begins as the stride that it follows.
    function become(side, kind) {
      if (kind === "index") {
        side.index = side.kind === "stride" ? `lane * ${side.stride + side.pad}${side.first ? ` + ${side.first}` : ""}` : "lane";
      }
      Object.assign(side, { kind, swizzled: false, pad: kind === "tile" ? side.pad : 0, first: 0 });
      rebuild();
      changed();
    }

    function rebuild() {
      memory.value = state.space;
      for (const { fields, i } of sides) {
        fields.closest(".side")?.classList.remove("before");  // the fields say what the picture shows again
        const side = state.sides[i], kinds = state.space === "shared" ? ["stride", "index", "tile"] : ["stride", "index"];
        const parts = [
          choice("type ", Object.keys(SIZES), side.element, (value) => { side.element = value; changed(); }),
          choice("access ", ["load", "store"], side.store ? "store" : "load", (value) => { side.store = value === "store"; changed(); }),
          choice("by ", kinds, side.kind, (kind) => become(side, kind)),
        ];
        if (side.kind === "stride") parts.push(field(side, "stride", "stride ", 64));
        if (side.kind === "index") parts.push(typed(side, "index", "index "));
        if (side.kind === "tile") {
          const layout = side.swizzled ? "swizzle" : side.pad ? "pad" : "none";
          parts.push(choice("layout ", ["none", "pad", "swizzle"], layout, (value) => {
            Object.assign(side, { pad: value === "pad" ? 1 : 0, swizzled: value === "swizzle" });
            changed();
          }), typed(side, "row", "row "), typed(side, "column", "column "));
        } else if (side.kind === "stride" && state.space === "shared") {
          const swizzle = make("input", { type: "checkbox", onchange: () => { side.swizzled = swizzle.checked; changed(); } });
          parts.push(field(side, "pad", "pad ", 8), make("label", { class: "swizzle" }, swizzle, " swizzle"));
        } else if (side.kind === "stride") parts.push(field(side, "first", "offset ", 8));
        fields.replaceChildren(...parts);
      }
    }

    function show() {
      const judged = state.sides.map((side) => judge(state.space, side));
      judged.forEach((cost, i) => {
        const { code, big, picture, fields } = sides[i], side = state.sides[i];
        code.textContent = source(state.space, side);
        big.replaceChildren(make("b", {}, String(cost.big)), ` ${cost.unit}`, make("span", {}, cost.note));
        big.classList.toggle("bad", cost.per < judged[1 - i].per * 0.995);
        picture.innerHTML = cost.picture;
        const swizzle = fields.querySelector("[type=checkbox]");
        if (swizzle) [swizzle.checked, swizzle.disabled] = [side.swizzled, !canSwizzle(side)];
      });
      stop();
      order.max = Math.max(...judged.map(({ big: count }) => count));
      steps.hidden = +order.max < 2;
      reveal(+order.max);
      said.textContent = verdict(state.space, judged, state.sides);
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(examples[i][1] === written(state))));
      follow(lane);
    }

    function changed() {
      for (const side of state.sides) side.swizzled &&= side.kind === "tile" || canSwizzle(side);
      show();
      history.replaceState(null, "", `#${id}=${written(state).replaceAll("%", "%25")}`);
    }

    function set(next) {
      state = next;
      rebuild();
      changed();
    }

    // Frames a lane's words in both pictures, and says where they are.
    function follow(which) {
      lane = which;
      slider.value = lane;
      number.textContent = String(lane);
      for (const { picture, followed } of sides) {
        let says = [];
        for (const cell of picture.querySelectorAll("[data-lanes]")) {
          const has = cell.dataset.lanes.split(" ").includes(String(lane));
          cell.classList.toggle("on", has);
          if (has) says.push(cell.dataset.says);
        }
        followed.textContent = says.length > 1 ? `${says[0]} and ${says.length - 1} more` : says[0] ?? "";
      }
    }

    figure.addEventListener("click", (event) => {
      const lanes = event.target.dataset?.lanes;
      if (lanes) follow(+lanes.split(" ")[0]);
    });

    // A state in the address: of this figure, or of nothing that there is.
    function arrive() {
      let hash = location.hash;
      try { hash = decodeURIComponent(hash); } catch { /* a % that stands for itself */ }
      const found = hash.match(/^#([\w-]+)=(.*)$/);
      if (!found || found[1] !== id) return;
      let next = null, wrong = "a state is like shared:float*32:float*32+1, with strides to 64, and pads and offsets to 8.";
      try { next = parse(found[2]); } catch (error) { wrong = error.message; }
      if (next) [state, lane] = [next, 0];
      rebuild();
      show();
      if (!next) said.textContent = `The address asks for '${found[2]}'; ${wrong}`;
      figure.parentElement.scrollIntoView({ behavior: "instant" });
    }

    rebuild();
    show();
    arrive();
    addEventListener("hashchange", arrive);
  }

  document.querySelectorAll(".live[data-examples]").forEach(start);
  window.warpRules = { shared, sectors, drawBanks, drawSectors };
  window.warpAccess = { parse, source, judge };
})();
