"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const figures = new Map(
    JSON.parse(document.getElementById("figures").textContent).map((figure) => [figure.name, figure]),
  );
  const charts = [...document.querySelectorAll(".chart")];
  const system = matchMedia("(prefers-color-scheme: dark)");
  const touch = matchMedia("(pointer: coarse)");
  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

  const LIGHT = { text: "#1b1f24", grid: "#e6e9ed", line: "#6b7580", back: "#ffffff" };
  const DARK = { text: "#e4e8ec", grid: "#2d333b", line: "#8d98a5", back: "#1b1f25" };
  const FONT = 'system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif';

  // The figure that a chart shows now, with its axes as the reader switched them.
  const shown = (chart) => {
    const select = chart.querySelector("select");
    const name = select ? select.value : chart.querySelector("figcaption").dataset.view;
    const { data, layout } = structuredClone(figures.get(name));
    for (const button of chart.querySelectorAll("[data-log]")) {
      const axis = layout[button.dataset.log];
      if (chart.scales?.[button.dataset.log]) {
        axis.type = chart.scales[button.dataset.log];
        axis.rangemode = axis.type === "log" ? "normal" : "tozero";
      }
      button.setAttribute("aria-pressed", String(axis.type === "log"));
    }
    return { name, data, layout };
  };

  const dressed = ({ data, layout }, colours) => {
    for (const trace of data) {
      if (trace.error_y && !trace.error_y.color) trace.error_y.color = colours.text;
      if (trace.line && trace.line.color === null) trace.line.color = colours.text;
      if (trace.marker && !trace.marker.color) {
        trace.marker.color = colours.text;
        trace.marker.line.color = colours.text;
      }
    }
    const axis = (own) => ({
      ...own,
      automargin: true,
      gridcolor: colours.grid,
      linecolor: colours.line,
      zerolinecolor: colours.grid,
      tickcolor: colours.line,
      ticks: "outside",
      ticklen: 4,
      showline: true,
      minor: own.type === "log" ? { ticks: "outside", ticklen: 2, tickcolor: colours.line } : undefined,
      dtick: own.type === "log" ? undefined : own.dtick,
      exponentformat: own.type === "log" ? "power" : "none",
      title: { ...own.title, standoff: 8, font: { size: 13 } },
    });
    return {
      data,
      layout: {
        ...layout,
        xaxis: axis(layout.xaxis),
        yaxis: axis(layout.yaxis),
        paper_bgcolor: colours.back,
        plot_bgcolor: colours.back,
        font: { family: FONT, size: 12.5, color: colours.text },
        legend: { orientation: "h", x: 0, y: 1.02, xanchor: "left", yanchor: "bottom" },
        margin: { l: 10, r: 14, t: 10, b: 10 },
        dragmode: touch.matches ? false : "zoom",
        hoverlabel: { namelength: -1 },
      },
    };
  };

  // Dragging zooms and a double click shows everything again: no need for a bar of tools.
  const config = { responsive: true, displayModeBar: false };

  const draw = (chart) => {
    const figure = shown(chart);
    const { data, layout } = dressed(figure, isDark() ? DARK : LIGHT);
    for (const caption of chart.querySelectorAll("figcaption")) {
      caption.hidden = caption.dataset.view !== figure.name;
    }
    return Plotly.react(chart.querySelector(".plot"), data, layout, config);
  };
  const drawAll = () => charts.forEach(draw);

  // A page of many charts can be read while they are drawn, from the top. Each turn stops the last.
  let turn = 0;
  const drawEach = (index = 0, mine = ++turn) => {
    if (mine !== turn || index === charts.length) return;
    draw(charts[index]);
    setTimeout(drawEach, 0, index + 1, mine);
  };

  // Saved charts are for papers and slides: light, with their title, whatever the page looks like.
  const save = (chart, format) => {
    const figure = shown(chart);
    const { data, layout } = dressed(figure, LIGHT);
    const select = chart.querySelector("select");
    const choice = select ? `: ${select.selectedOptions[0].textContent}` : "";
    const text = (chart.querySelector("h3").textContent + choice).replaceAll("<", "&lt;");
    layout.title = { text, font: { size: 15 }, x: 0.02, xanchor: "left" };
    layout.margin.t = 60;
    const scale = format === "png" ? 3 : 1;
    const options = { format, filename: figure.name, width: 760, height: 460, scale };
    return Plotly.downloadImage({ data, layout }, options);
  };

  for (const chart of charts) {
    chart.scales = {};
    chart.querySelector("select")?.addEventListener("change", () => draw(chart));
    for (const button of chart.querySelectorAll("[data-log]")) {
      button.addEventListener("click", () => {
        const pressed = button.getAttribute("aria-pressed") === "true";
        chart.scales[button.dataset.log] = pressed ? "linear" : "log";
        draw(chart);
      });
    }
    chart.querySelector("[data-all]").addEventListener("click", () => draw(chart));
    for (const button of chart.querySelectorAll("[data-save]")) {
      button.addEventListener("click", () => save(chart, button.dataset.save));
    }
  }

  // The window is not all that changes the width of a chart.
  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) if (target.layout) Plotly.Plots.resize(target);
  });
  for (const plot of document.querySelectorAll(".plot")) resized.observe(plot);

  document.getElementById("theme").addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    drawEach();
  });
  system.addEventListener("change", () => drawEach());
  touch.addEventListener("change", () => drawEach());

  // Paper is white.
  let before;
  addEventListener("beforeprint", () => {
    turn += 1;
    before = root.dataset.theme;
    root.dataset.theme = "light";
    drawAll();
  });
  addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before;
    else delete root.dataset.theme;
    drawEach();
  });

  drawEach();
})();
