"use strict";
// Filters, copying, and opening what a link points to. Everything can be read without this.
(() => {
  document.documentElement.classList.add("js");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const byId = (id) => document.getElementById(id);

  // Copying
  for (const button of all(".copy")) {
    const label = button.firstChild;
    button.addEventListener("click", async () => {
      const text = byId(button.dataset.copy).textContent;
      let said = "Copied";
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        said = copiedBySelection(button.dataset.copy) ? "Copied" : "Press Ctrl+C";
      }
      label.textContent = said;
      setTimeout(() => { label.textContent = "Copy"; }, 2000);
    });
  }

  // Where a page may not write to the clipboard, the text is selected for the person to copy.
  function copiedBySelection(id) {
    const range = document.createRange();
    range.selectNodeContents(byId(id));
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }

  // What is marked in a long answer is scrolled to, once it can be seen
  function reveal(within) {
    for (const mark of all("pre mark", within)) {
      const pre = mark.closest("pre");
      const [outer, inner] = [pre.getBoundingClientRect(), mark.getBoundingClientRect()];
      if (inner.height && (inner.top < outer.top || inner.bottom > outer.bottom)) {
        pre.scrollTop += inner.top - outer.top - pre.clientHeight / 3;
      }
    }
  }
  reveal(document);
  document.addEventListener("toggle", (event) => { if (event.target.open) reveal(event.target); }, true);

  // Implementations side by side: the rows in which they differ, unless there is none, or a link points to another one
  const differences = byId("differences");
  const rows = all(".matrix .row");
  function differing(only) {
    differences.setAttribute("aria-pressed", String(only));
    for (const row of rows) row.hidden = only && !row.classList.contains("differs");
    for (const part of all(".matrix .part")) part.hidden = all(".row", part).every((row) => row.hidden);
    byId("shown").textContent = only ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} clauses` : "";
  }
  if (differences) {
    differences.addEventListener("click", () => differing(differences.getAttribute("aria-pressed") !== "true"));
    const linked = byId(decodeURIComponent(location.hash.slice(1)));
    differing(rows.some((row) => row.classList.contains("differs")) && !linked?.matches(".row:not(.differs)"));
    linked?.scrollIntoView();
  }

  const search = byId("search");
  if (!search) return;
  const rules = all(".rule");
  const parts = all(".part");
  const chips = all("[data-filter]");
  const clear = byId("clear");
  const unfold = byId("unfold");
  const texts = new Map(rules.map((rule) => [rule, rule.textContent.toLowerCase()]));

  function wanted(kind) {
    const pressed = chips.filter((chip) => chip.dataset.filter === kind && chip.getAttribute("aria-pressed") === "true");
    return pressed.map((chip) => chip.dataset.value);
  }

  function apply() {
    const states = wanted("state");
    const bases = wanted("basis");
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const rule of rules) {
      const fits = (!states.length || states.includes(rule.dataset.state))
        && (!bases.length || bases.includes(rule.dataset.basis))
        && words.every((word) => texts.get(rule).includes(word));
      rule.hidden = !fits;
      if (fits) shown += 1;
    }
    const filtered = states.length + bases.length + words.length > 0;
    for (const part of parts) {
      part.hidden = !all(".rule", part).some((rule) => !rule.hidden);
      part.open = filtered || unfold.getAttribute("aria-pressed") === "true";
    }
    document.querySelector(".nothing").hidden = shown > 0;
    clear.hidden = !filtered;
    byId("shown").textContent = clear.hidden ? "" : `${shown} of ${rules.length} shown`;
  }

  function reset() {
    for (const chip of chips) chip.setAttribute("aria-pressed", "false");
    search.value = "";
    apply();
  }

  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  }
  search.addEventListener("input", apply);
  clear.addEventListener("click", () => { reset(); search.focus(); });
  unfold.addEventListener("click", () => {
    const open = unfold.getAttribute("aria-pressed") !== "true";
    unfold.setAttribute("aria-pressed", String(open));
    for (const fold of [...parts, ...rules]) fold.open = open;
  });

  // Links to a rule open it, whatever the filters say.
  function follow() {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.closest("[hidden]")) reset();
    for (let outer = target.closest("details"); outer; outer = outer.parentElement.closest("details")) outer.open = true;
    target.scrollIntoView();
  }
  addEventListener("hashchange", follow);
  if (location.hash) follow();
})();
