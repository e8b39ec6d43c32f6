// A term's meaning beside it: when the pointer rests on it, when the keyboard is on it, and at the first touch; Escape and a
// touch elsewhere close it. Without this file the meaning is a tooltip of the browser, and the link leads to the glossary.
"use strict";
(() => {
  const note = document.createElement("div");
  note.className = "term-note";
  note.id = "term-note";
  note.setAttribute("role", "tooltip");
  note.hidden = true;
  document.body.append(note);
  let open = null, closes = 0, touched = false;

  function show(link) {
    clearTimeout(closes);
    if (open === link) return;
    hide();
    open = link;
    const more = document.createElement("a");
    more.href = link.href;
    more.textContent = "glossary";
    more.tabIndex = -1;  // the link itself leads there
    note.replaceChildren(link.dataset.meaning, " ", more);
    note.hidden = false;
    link.setAttribute("aria-describedby", note.id);
    const box = link.getClientRects()[0], room = document.documentElement.clientWidth;
    const left = Math.max(8, Math.min(box.left, room - note.offsetWidth - 8));
    const below = box.bottom + note.offsetHeight + 12 < innerHeight;
    note.style.left = `${left + scrollX}px`;
    note.style.top = `${scrollY + (below ? box.bottom + 6 : box.top - note.offsetHeight - 6)}px`;
  }

  function hide() {
    clearTimeout(closes);
    open?.removeAttribute("aria-describedby");
    open = null;
    note.hidden = true;
  }
  const soon = () => { closes = setTimeout(hide, 250); };

  for (const link of document.querySelectorAll("a.term[title]")) {
    link.dataset.meaning = link.title;
    link.removeAttribute("title");
    link.addEventListener("pointerdown", (event) => { touched = event.pointerType !== "mouse"; });
    link.addEventListener("pointerenter", (event) => { if (event.pointerType === "mouse") show(link); });
    link.addEventListener("pointerleave", soon);
    link.addEventListener("focus", () => { if (!touched) show(link); });
    link.addEventListener("blur", soon);
    link.addEventListener("click", (event) => {
      if (!touched) return;
      touched = false;
      event.preventDefault();  // a finger reads first; the note has the way to the glossary
      open === link ? hide() : show(link);
    });
  }
  note.addEventListener("pointerenter", () => clearTimeout(closes));
  note.addEventListener("pointerleave", soon);
  addEventListener("keydown", (event) => { if (event.key === "Escape" && open) hide(); });
  addEventListener("pointerdown", (event) => { if (open && !note.contains(event.target) && event.target.closest("a.term") !== open) hide(); });
})();
