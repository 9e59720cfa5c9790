"use strict";
function value(cell) {
  const text = cell.textContent.trim();
  const number = text === "nan" || text === "inf" ? Infinity : Number(text);
  return Number.isNaN(number) ? text : number;
}
function order(x, y) {
  if (typeof x === typeof y) return typeof x === "number" ? (x === y ? 0 : x - y) : x.localeCompare(y);
  return typeof x === "number" ? -1 : 1;
}
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.querySelectorAll("th")];
  heads.forEach((head, column) => {
    head.classList.add("sorts");
    head.tabIndex = 0;
    const sort = () => {
      const up = head.getAttribute("aria-sort") === "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const rows = [...table.tBodies[0].rows].map((row) => [value(row.cells[column]), row]);
      rows.sort((x, y) => (up ? order(x[0], y[0]) : order(y[0], x[0])));
      table.tBodies[0].append(...rows.map((row) => row[1]));
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => event.key === "Enter" && sort());
  });
  const tools = table.closest(".card").querySelector(".tools");
  if (!tools) continue;
  const text = tools.querySelector("input[type=search]");
  const failed = tools.querySelector("input[type=checkbox]");
  const filter = () => {
    const wanted = text.value.toLowerCase();
    for (const row of table.tBodies[0].rows) {
      const fits = row.querySelector(".name").textContent.toLowerCase().includes(wanted);
      row.hidden = !fits || (failed.checked && !row.classList.contains("failed"));
    }
  };
  text.addEventListener("input", filter);
  failed.addEventListener("change", filter);
  tools.hidden = false;
}
const reveal = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target && target.tagName === "DETAILS") target.open = true;
};
addEventListener("hashchange", reveal);
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((item) => (item.open = true)));
reveal();
