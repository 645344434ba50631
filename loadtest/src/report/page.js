
// The values of a plot at the place of the pointer, or at one that the arrow keys reach. They are those of the table behind the plot.
for (const plot of document.querySelectorAll(".plot")) {
  const [head, ...rows] = plot.querySelectorAll("tr");
  const drawing = plot.querySelector(".drawing");
  const cursor = plot.querySelector(".cursor");
  let at = 0;
  const show = (place) => {
    at = Math.min(Math.max(place, 0), rows.length - 1);
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, rows[at].dataset.at);
    plot.querySelector(".values").textContent = [...rows[at].cells].map((cell, column) => (column ? `${head.cells[column].textContent}: ` : "") + cell.textContent).join(" · ");
  };
  drawing.tabIndex = 0;
  drawing.addEventListener("focus", () => show(at));
  drawing.addEventListener("pointermove", ({ clientX }) => {
    const { left, width } = drawing.getBoundingClientRect();
    const distance = (row) => Math.abs(row.dataset.at - ((clientX - left) / width) * 1000);
    show(rows.reduce((nearest, row, place) => (distance(row) < distance(rows[nearest]) ? place : nearest), 0));
  });
  drawing.addEventListener("keydown", (event) => {
    const place = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: rows.length - 1 }[event.key];
    if (place === undefined) return;
    event.preventDefault();
    show(place);
  });
}
