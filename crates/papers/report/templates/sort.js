// A click on a heading of a table sorts its rows.
(() => {
  const begin = (table) => {
    const headings = [...table.querySelectorAll("th")];
    headings.forEach((heading, column) => {
      heading.querySelector("button").addEventListener("click", () => {
        const down = heading.getAttribute("aria-sort") === "ascending";
        for (const other of headings) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", down ? "descending" : "ascending");
        const key = (row) => row.cells[column].dataset.key ?? row.cells[column].textContent;
        const compare = (a, b) => {
          const [x, y] = [key(a), key(b)];
          if (x === "" || y === "") return (x === "") - (y === "");
          const difference = x - y;
          const order = Number.isNaN(difference) ? x.localeCompare(y) : difference;
          return down ? -order : order;
        };
        const body = table.tBodies[0];
        body.append(...[...body.rows].sort(compare));
      });
    });
  };
  const beginAll = (part) => part.querySelectorAll(".sortable").forEach(begin);
  beginAll(document);
  document.addEventListener("drawn", ({ target }) => beginAll(target));
})();
