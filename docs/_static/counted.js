// The numbers beside the lines of a listing: pressing one draws the banks or sectors of the line's requests, with the addresses
// that the simulator saw. The arrows go from number to number.
"use strict";
(() => {
  const LANES = 32;
  const addressesOf = (at) => (at.length === 2 ? Array.from({ length: LANES }, (_, lane) => at[0] + lane * at[1]) : at);

  function picture([space, store, size, at]) {
    const addresses = addressesOf(at), active = addresses.filter((address) => address !== null).length;
    const box = document.createElement("figure"), words = document.createElement("figcaption");
    const lanes = active === LANES ? "" : `, ${active} lane${active > 1 ? "s" : ""} active`;
    if (space === "s") {
      const cost = warpRules.shared(addresses, size, Boolean(store));
      box.innerHTML = warpRules.drawBanks(addresses, size, cost);
      words.textContent = `${cost.wavefronts} wavefront${cost.wavefronts > 1 ? "s" : ""}`;
    } else {
      const count = warpRules.sectors(addresses, size);
      box.innerHTML = warpRules.drawSectors(addresses, size);
      words.textContent = `${count} sector${count > 1 ? "s" : ""}`;
    }
    words.textContent += `: ${size} byte${size > 1 ? "s" : ""} a lane${lanes}`;
    box.prepend(words);
    return box;
  }

  for (const listing of document.querySelectorAll(".counted-listing[data-costs]")) {
    const costs = JSON.parse(listing.dataset.costs);
    const buttons = [...listing.querySelectorAll("button.cost")];
    const detail = document.createElement("div");
    detail.className = "cost-detail";
    detail.setAttribute("role", "group");
    detail.setAttribute("aria-label", "Requests of the line");
    detail.setAttribute("aria-live", "polite");
    listing.append(detail);
    let open = null;

    function show(button) {
      open?.setAttribute("aria-expanded", "false");
      open = open === button ? null : button;
      detail.replaceChildren();
      detail.tabIndex = open ? 0 : -1;  // it scrolls
      if (!open) return;
      open.setAttribute("aria-expanded", "true");
      const says = open.title.split("; ");  // one for each kind of access
      costs[open.dataset.line].forEach((patterns, i) => {
        const words = document.createElement("p");
        words.textContent = `${says[i][0].toUpperCase()}${says[i].slice(1)}.`;
        // Addresses that differ may look the same.
        const seen = new Map(patterns.map(picture).map((figure) => [figure.outerHTML.replace(/ data-says="[^"]*"|<title>.*?<\/title>/g, ""), figure]));
        detail.append(words, ...seen.values());
      });
    }

    buttons.forEach((button, i) => {
      button.tabIndex = i ? -1 : 0;
      button.setAttribute("aria-expanded", "false");
      button.addEventListener("click", () => show(button));
      button.addEventListener("keydown", (event) => {
        const next = buttons[i + { ArrowDown: 1, ArrowUp: -1 }[event.key]];
        if (event.key === "Escape" && open) show(open);
        if (!next) return;
        event.preventDefault();
        [button.tabIndex, next.tabIndex] = [-1, 0];
        next.focus();
      });
    });
  }
})();
