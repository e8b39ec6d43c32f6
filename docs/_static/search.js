/* The search: every word has to be in a section, its heading or its page's title. Headings count most, then how often. */
(() => {
  const idle = new Set("a an and are as at be by can do does for from has have how i in is it of on or that the this to was what when where which who why with you".split(" "));

  // install, installs, installed, installing and installation are one word.
  function stem(word) {
    const plain = word.toLowerCase().replace(/[’']s$/, "");
    if (plain.length < 5) return plain.replace(/([^s])s$/, "$1");
    return plain.replace(/(ational|ations?|ings?|ied|ies|ed|es|s)$/, (end) => (plain.length - end.length >= 3 ? "" : end)).replace(/(.)\1$/, "$1").replace(/[eiy]$/, "");
  }

  const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  const stemsOf = (text) => wordsOf(text).map(stem);

  // How well a list of stems has a stem: whole words before beginnings.
  function hits(stems, wanted) {
    let found = 0;
    for (const one of stems) found += one === wanted ? 1 : wanted.length > 2 && one.startsWith(wanted) ? 0.5 : 0;
    return found;
  }

  function search(query) {
    const asked = wordsOf(query);
    const telling = asked.filter((word) => !idle.has(word));
    const wanted = [...new Set((telling.length ? telling : asked).map(stem))];
    if (!wanted.length) return [];
    const results = [];
    for (const { page, title, entries } of searchIndex) {
      const pageStems = stemsOf(title);
      for (const [anchor, heading, prose] of entries) {
        const headingStems = stemsOf(heading), proseStems = stemsOf(prose);
        let score = 0;
        const all = wanted.every((word) => {
          const inHeading = hits(headingStems, word), inProse = hits(proseStems, word), inPage = hits(pageStems, word);
          score += 12 * Math.min(inHeading, 1) + 3 * Math.min(inPage, 1) + Math.log2(1 + inProse);
          return inHeading || inProse || inPage;
        });
        if (!all || !wanted.some((word) => hits(headingStems, word) || hits(proseStems, word))) continue;
        score += 4 * wanted.filter((word) => hits(headingStems, word)).length / Math.max(headingStems.length, 1);
        if (!anchor) score += 2;
        if (page.startsWith("exercises/") || page.startsWith("notes/")) score -= 4;
        results.push({ page, title, anchor, heading, prose, score });
      }
    }
    return results.sort((a, b) => b.score - a.score);
  }

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
  const wanted = [...new Set(wordsOf(query).filter((word) => !idle.has(word)).map(stem))];
  const results = search(query);
  const most = 40;
  summary.textContent = results.length
    ? `${results.length} ${results.length === 1 ? "section" : "sections"} for “${query}”${results.length > most ? `, the first ${most}` : ""}`
    : `No section has all of “${query}”. Fewer words find more.`;
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
