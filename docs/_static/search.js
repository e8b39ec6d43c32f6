/* The search. A word of the query stands for what means the same here (docs/_static/search-words.js), or, if no section
   has it, for words that differ from it by a letter or two. Sections that have all come first, then those that lack
   least. Headings count most, then how often. */
(async () => {
  const idle = new Set("a an and are as at be by available can do does example explain explained for from has have how i in is it many me mine much my need of on or should than that the this to was what when where which who why with you your".split(" "));

  // install, installs, installed, installing and installation are one word.
  function stem(word) {
    const plain = word.toLowerCase().replace(/[’']s$/, "");
    if (plain.length < 5) return plain.replace(/([^s])s$/, "$1");
    return plain.replace(/(ational|ations?|ings?|ied|ies|ed|es|s)$/, (end) => (plain.length - end.length >= 3 ? "" : end)).replace(/(.)\1$/, "$1").replace(/[eiy]$/, "");
  }

  const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  // `__launch_bounds__` is found as launch_bounds, too.
  const stemsOf = (text) => wordsOf(text).map((word) => stem(word.replace(/^_+|_+$/g, "") || word));

  // How well a list of stems has a stem: whole words before beginnings.
  function hits(stems, wanted) {
    let found = 0;
    for (const one of stems) found += one === wanted ? 1 : wanted.length > 2 && one.startsWith(wanted) ? 0.5 : 0;
    return found;
  }

  // The index is packed: a third of its bytes, on a host that does not compress and in a folder.
  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
  }

  let sections; // of all pages, with the stems of what they have; made by the first search
  const vocabulary = new Set();
  function read(index) {
    sections = [];
    for (const { page, title, entries } of index) {
      for (const [anchor, heading, prose, names] of entries) {
        if (page === "glossary.html" && !anchor) continue; // its terms are entries
        const stems = { heading: stemsOf(heading), prose: stemsOf(prose), page: stemsOf(title), names: names ? stemsOf(names) : [] };
        for (const list of Object.values(stems)) for (const one of list) vocabulary.add(one);
        sections.push({ page, title, anchor, heading, prose, stems });
      }
    }
  }

  // Letters to insert, to leave out, to replace or to swap with the next; `most` or more are not told apart.
  function distance(a, b, most) {
    if (Math.abs(a.length - b.length) >= most) return most;
    let before = [], row = [...Array(b.length + 1).keys()];
    for (let i = 1; i <= a.length; ++i) {
      const next = [i];
      for (let j = 1; j <= b.length; ++j) {
        next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] !== b[j - 1]));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) next[j] = Math.min(next[j], before[j - 2] + 1);
      }
      before = row;
      row = next;
    }
    return Math.min(row[b.length], most);
  }

  // What a query asks for: for each of its words or phrases the alternatives, each a list of stems.
  function alternatives(query) {
    let rest = ` ${wordsOf(query).join(" ")} `;
    const wanted = [];
    for (const [asked, meant] of searchWords) {
      for (const phrase of asked) {
        if (!rest.includes(` ${phrase} `)) continue;
        rest = rest.replace(` ${phrase} `, " ");
        wanted.push([phrase, ...meant].map(stemsOf));
        break;
      }
    }
    const words = wordsOf(rest), telling = words.filter((word) => !idle.has(word));
    for (const word of new Set(stemsOf((telling.length || wanted.length ? telling : words).join(" ")))) {
      const most = word.length < 5 ? 1 : word.length < 9 ? 2 : 3;
      const known = vocabulary.has(word) || [...vocabulary].some((one) => word.length > 2 && one.startsWith(word));
      const near = known ? [] : [...vocabulary].filter((one) => distance(word, one, most) < most);
      wanted.push([[word], ...near.map((one) => [one])]);
    }
    return wanted;
  }

  // How well a section has a list of stems, all of them.
  function scoreOf({ heading, prose, page, names }, stems) {
    let least = stems.length ? Infinity : 0;
    for (const one of stems) {
      const inHeading = hits(heading, one), inProse = hits(prose, one) + hits(names, one), inPage = hits(page, one);
      const own = inHeading || inProse ? 3 * Math.min(inPage, 1) : 0;
      least = Math.min(least, 12 * Math.min(inHeading, 1) + own + Math.log2(1 + inProse) + (inHeading ? 4 / heading.length : 0));
    }
    if (heading.length === stems.length && heading.every((one, i) => one === stems[i])) least += 8; // it is called so
    return least;
  }

  // What kind of page comes first: chapters and the glossary; what only repeats their words, and solutions, last.
  const worth = [[/^chapters\/index/, 0.7], [/^reference\b|^agreement\.html#./, 0.7], [/^exercises\b/, 0.6], [/^notes\b/, 0.45]];

  function search(query) {
    const asksForTerm = /^\s*(what('s| is| are| does)|define|meaning of)\b/i.test(query);
    const results = sections.map((section) => ({ ...section, score: 0, found: 0 }));
    const wanted = alternatives(query);
    for (const ways of wanted) {
      const scores = sections.map(({ stems }) => Math.max(...ways.map((one, rank) => (rank ? 0.9 : 1) * scoreOf(stems, one))));
      const weight = Math.log2(1 + sections.length / (1 + scores.filter((one) => one > 0).length)); // of a rare word more
      for (const [i, score] of scores.entries()) {
        if (score <= 0) continue;
        ++results[i].found;
        results[i].score += weight * (score + 6);
      }
    }
    for (const one of results) {
      if (!one.anchor) one.score += 6;
      for (const [page, factor] of worth) if (page.test(`${one.page}#${one.anchor}`)) one.score *= factor;
      if (asksForTerm && /^term-/.test(one.anchor)) one.score *= 2;
      if (/^Solution/.test(one.heading)) one.score *= 0.5;
      one.missing = wanted.length - one.found;
    }
    return results.filter((one) => one.found).sort((a, b) => b.score - a.score);
  }
  globalThis.search = async (query) => {
    if (!sections) read(await unpacked(searchIndex));
    return search(query);
  };
  if (typeof document === "undefined") return; // a test

  // The part of the prose that has the words, whole words at both ends, with them marked.
  function excerpt(prose, wanted) {
    const pieces = prose.split(/(\s+)/);
    const at = pieces.findIndex((piece) => stemsOf(piece).some((one) => wanted.some((word) => hits([one], word))));
    const first = Math.max(0, (at < 0 ? 0 : at) - 24), last = first + 64;
    const shown = document.createElement("p");
    if (first) shown.append("... ");
    for (const piece of pieces.slice(first, last)) {
      if (stemsOf(piece).some((one) => wanted.some((word) => hits([one], word)))) {
        const mark = document.createElement("mark");
        mark.textContent = piece;
        shown.append(mark);
      } else shown.append(piece);
    }
    if (last < pieces.length) shown.append(" ...");
    return shown;
  }

  const query = new URLSearchParams(location.search).get("q") ?? "";
  const list = document.getElementById("search-results");
  const summary = document.getElementById("search-summary");
  for (const field of document.querySelectorAll('input[name="q"]')) field.value = query;
  if (!query.trim()) return;
  if (!globalThis.DecompressionStream) {
    summary.textContent = "This browser is too old for the search; the index of names and the glossary need none.";
    return;
  }
  const results = await globalThis.search(query);
  const wanted = alternatives(query).flat(2);
  const most = 40, whole = results.filter((one) => !one.missing).length, lacking = !whole;
  summary.textContent = !results.length
    ? `No section has “${query}”, nor a word like it.`
    : lacking
      ? `No section has all of “${query}”. These have some of it:`
      : `${whole} section${whole === 1 ? "" : "s"} for “${query}”${whole > most ? `, the first ${most}` : results.length > whole ? ", then those with a part of it" : ""}`;
  for (const { page, title, anchor, heading, prose } of results.slice(0, most)) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = page + (anchor ? `#${anchor}` : "");
    link.textContent = heading;
    item.append(link);
    if (anchor) {
      const where = document.createElement("span");
      where.className = "where";
      where.textContent = ` ${title}`;
      item.append(where);
    }
    if (prose) item.append(excerpt(prose, wanted));
    list.append(item);
  }
})();
