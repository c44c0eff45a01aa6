"use strict";
(() => {
  const buttons = [...document.querySelectorAll(".filters [data-verdict]")];
  const select = document.getElementById("of-figure");
  const rows = [...document.querySelectorAll("#all-claims tbody tr")];
  const figures = [...document.querySelectorAll(".figure")];
  const shown = document.getElementById("shown");
  let verdict = "";

  const fits = (wanted, own) => wanted === "" || wanted === own;
  const filter = () => {
    for (const button of buttons) {
      button.setAttribute("aria-pressed", String(button.dataset.verdict === verdict));
    }
    for (const row of rows) {
      row.hidden = !(fits(verdict, row.dataset.verdict) && fits(select.value, row.dataset.figure));
    }
    for (const figure of figures) {
      const claims = [...figure.querySelectorAll(".claim")];
      for (const claim of claims) claim.hidden = !fits(verdict, claim.dataset.verdict);
      const empty = verdict !== "" && claims.every((claim) => claim.hidden);
      figure.hidden = empty || !fits(select.value, figure.dataset.figure);
    }
    const count = rows.filter((row) => !row.hidden).length;
    shown.textContent = count === rows.length ? "" : `${count} of ${rows.length} shown`;
  };

  for (const button of buttons) {
    button.addEventListener("click", () => {
      verdict = button.dataset.verdict;
      filter();
    });
  }
  select.addEventListener("change", filter);

  // Whoever follows a link to what a filter hides wants to see it.
  addEventListener("hashchange", () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.closest("[hidden]")) return;
    verdict = "";
    select.value = "";
    filter();
    target.scrollIntoView();
  });
  // Browsers keep what was selected when a page is loaded again.
  filter();
})();
