"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
  });

  for (const chart of document.querySelectorAll(".drawn")) {
    const views = [...chart.querySelectorAll(".view")];
    const select = chart.querySelector("select");
    const shown = () => views.find((view) => !select || view.dataset.view === select.value);
    const show = () => {
      for (const view of views) view.classList.toggle("away", view !== shown());
    };
    select?.addEventListener("change", show);
    show();

    // A saved chart is one file: its panels side by side, in the colours of a light page.
    chart.querySelector("[data-save]").addEventListener("click", () => {
      const svgs = [...shown().querySelectorAll("svg")].filter((svg) => !svg.closest(".narrow"));
      const sizes = svgs.map((svg) => svg.viewBox.baseVal);
      const columns = Math.ceil(Math.sqrt(svgs.length));
      const width = Math.max(...sizes.map((size) => size.width));
      const height = Math.max(...sizes.map((size) => size.height));
      const parts = svgs.map((svg, index) => {
        const [x, y] = [(index % columns) * width, Math.floor(index / columns) * (height + 12)];
        const label = svg.closest(".panel")?.querySelector("h5")?.textContent ?? "";
        const text = document.createElement("b");
        text.textContent = label;
        return `<g transform="translate(${x} ${y + 12})"><text y="-3">${text.innerHTML}</text>${svg.innerHTML}</g>`;
      });
      const style = "svg{fill:none;color:#1b1f24;background:#fff}text{fill:#1b1f24;font:7.5px sans-serif}" +
        ".t{font-size:8px}.m{text-anchor:middle}.e{text-anchor:end}" +
        ".g{stroke:#d5dae0;stroke-width:.4}.a{stroke:#1b1f24;stroke-width:.6}";
      const [w, h] = [columns * width, Math.ceil(svgs.length / columns) * (height + 12)];
      const text = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w * 2}" ` +
        `height="${h * 2}"><style>${style}</style>${parts.join("").replaceAll("var(--box)", "#ffffff")}</svg>`;
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
      link.download = `${shown().dataset.view}.svg`;
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }

  // The values under the pointer: those of a point nearby, else those of the axes.
  const reading = document.createElement("div");
  reading.className = "reading";
  reading.hidden = true;
  document.body.append(reading);
  const number = (value) => Number(value.toPrecision(3)).toString();
  const along = (axis, share) => {
    if (!axis) return "";
    const [low, high, log, label, unit] = axis;
    const value = log ? low * (high / low) ** share : low + share * (high - low);
    return `${label}: ${number(value)} ${unit}`.trim();
  };
  const read = (svg, event) => {
    const { f: [left, top, right, bottom], x, y, p } = JSON.parse(svg.dataset.reading);
    const box = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / box.width;
    const [at, height] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    if (at < left || at > right || height < top || height > bottom) return "";
    let best;
    for (const [label, whole, points] of p) {
      for (const [px, py, text] of points) {
        const far = Math.hypot(px - at, py - height);
        if (far < (best?.far ?? Infinity) && (whole || far < 16 * scale)) best = { far, text: `${label}\n${text}` };
      }
    }
    const axes = [along(x, (at - left) / (right - left)), along(y, (bottom - height) / (bottom - top))];
    return best?.text ?? axes.filter(Boolean).join("\n");
  };
  for (const svg of document.querySelectorAll(".drawn svg[data-reading]")) {
    svg.addEventListener("pointermove", (event) => {
      reading.textContent = read(svg, event);
      reading.hidden = !reading.textContent;
      const side = event.clientX > innerWidth / 2;
      reading.style.left = side ? "auto" : `${event.clientX + 14}px`;
      reading.style.right = side ? `${innerWidth - event.clientX + 14}px` : "auto";
      reading.style.top = `${event.clientY + 14}px`;
    });
    svg.addEventListener("pointerleave", () => { reading.hidden = true; });
  }

  // Paper is white, and shows what is folded.
  let before;
  addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
  });
})();
