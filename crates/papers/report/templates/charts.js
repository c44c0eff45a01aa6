// Charts: views, values under the pointer, zoom along the horizontal axis, keys, hidden lines and saved files.
(() => {
  // How the points of a line are read, by the number in the page.
  const [, WHOLE, ALONG, INSIDE] = [0, 1, 2, 3];
  // Pixels around a point in which the pointer finds it, and of a drag that is no click.
  const [NEAR, DRAG] = [16, 5];
  // The narrowest part of an axis that a chart zooms to, and stops of the keys along a curve.
  const [NARROWEST, STOPS] = [1 / 50, 200];

  const numbers = (text) => (text.match(/-?\d*\.?\d+/g) ?? []).map(Number);
  const tenth = (value) => Math.round(value * 100) / 100;
  const valueAt = ([low, high, log], share) => (log ? low * (high / low) ** share : low + share * (high - low));
  const shareOf = ([low, high, log], value) =>
    log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  // A value of an axis of which a part is shown, to a few hundredths of that.
  const along = (axis, share, part) => {
    if (!axis) return "";
    const [low, high, log, label, unit] = axis;
    const value = valueAt(axis, share);
    const digits = Math.max(2 - Math.floor(Math.log10((high - low) * part)), 0);
    const text = log || digits > 20 ? value.toPrecision(3) : value.toFixed(digits);
    return `${label}: ${Number(text)} ${unit}`.trim();
  };
  const made = (parent, name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  };

  // The parts of a path: the corners of each, and its steps after the first corner as they are written.
  const partsOf = (path) =>
    path.split("M").slice(1).map((text) => {
      const steps = text.search(/[lhva]/);
      const tail = steps < 0 ? "" : text.slice(steps);
      let [x, y] = numbers(steps < 0 ? text : text.slice(0, steps));
      const corners = [[x, y]];
      for (const [, kind, args] of tail.matchAll(/([lhva])([^lhva]*)/g)) {
        const all = numbers(args);
        if (kind === "h") x += all[0];
        else if (kind === "v") y += all[0];
        else [x, y] = [x + all.at(-2), y + all.at(-1)];
        corners.push([x, y]);
      }
      return { corners, tail };
    });
  // A path with every place along the axis mapped; signs keep their shape around their middle.
  const mapped = (parts, sign, map) =>
    parts.map(({ corners, tail }) => {
      if (!sign) return `M${corners.map(([x, y]) => `${tenth(map(x))} ${y}`).join("L")}`;
      const places = corners.map(([x]) => x);
      const middle = (Math.min(...places) + Math.max(...places)) / 2;
      return `M${tenth(places[0] + map(middle) - middle)} ${corners[0][1]}${tail}`;
    }).join("");

  // Ticks of an axis of numbers, about `count`.
  const ticks = ([low, high, log], count) => {
    const decades = Math.log10(high / low);
    if (log && decades > 1) {
      const digits = decades * 3 <= count ? [1, 2, 5] : [1];
      const powers = Array.from({ length: Math.ceil(decades) + 2 }, (_, index) => 10 ** (Math.floor(Math.log10(low)) + index));
      const all = powers.flatMap((power) => digits.map((digit) => digit * power));
      return all.filter((place) => place >= low * 0.999 && place <= high * 1.001);
    }
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map((digit) => digit * power).find((size) => size >= rough * 0.999);
    const first = Math.ceil(low / step - 1e-9);
    const length = Math.floor(high / step + 1e-9) - first + 1;
    return Array.from({ length }, (_, index) => (first + index) * step);
  };
  const tickName = (value) =>
    value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4)
      ? Number(value.toPrecision(6)).toExponential().replace("e+", "e")
      : String(Number(value.toPrecision(8)));

  const reading = document.createElement("div");
  reading.className = "reading";
  reading.setAttribute("role", "status");
  reading.hidden = true;
  document.body.append(reading);
  const say = (text, x, y) => {
    reading.textContent = text;
    reading.hidden = !text;
    const side = x > innerWidth / 2;
    reading.style.left = side ? "auto" : `${x + 14}px`;
    reading.style.right = side ? `${innerWidth - x + 14}px` : "auto";
    reading.style.top = `${Math.min(y + 14, innerHeight - reading.offsetHeight - 4)}px`;
  };

  let clips = 0;
  class Chart {
    constructor(svg, view) {
      const { f, x, y, p } = JSON.parse(svg.dataset.reading);
      [this.left, this.top, this.right, this.bottom] = f;
      Object.assign(this, { svg, view, x, y, lines: p, from: 0, to: 1 });
      const [data, upright, below] = ["z", "u", "x"].map((name) => svg.querySelector(`:scope > .${name}`));
      Object.assign(this, { data, upright, below });
      this.whole = { upright: upright.innerHTML, below: below.innerHTML };
      this.groups = [...data.children].map((group) =>
        [...group.querySelectorAll("path")].map((path) => {
          const d = path.getAttribute("d");
          return { path, d, sign: "s" in path.dataset, parts: partsOf(d) };
        }));
      this.listen();
    }

    get width() { return this.right - this.left; }
    get scale() { return this.svg.getBoundingClientRect().width / this.svg.viewBox.baseVal.width; }
    shareAt(x) { return this.from + ((x - this.left) / this.width) * (this.to - this.from); }
    map(x) { return this.left + (((x - this.left) / this.width - this.from) / (this.to - this.from)) * this.width; }
    back(x) { return this.left + this.shareAt(x) * this.width; }
    isHidden(line) { return this.view.hidden.has(this.lines[line][0]); }
    place(event) {
      const box = this.svg.getBoundingClientRect();
      return [(event.clientX - box.left) / this.scale, (event.clientY - box.top) / this.scale];
    }
    holds([x, y]) { return x >= this.left && x <= this.right && y >= this.top && y <= this.bottom; }

    // Shows the part of the horizontal axis between two shares of it.
    zoom(from, to) {
      [this.from, this.to] = [from, to];
      const all = from <= 0 && to >= 1;
      this.svg.dataset.shown = `${from} ${to}`;
      for (const { path, d, sign, parts } of this.groups.flat()) {
        path.setAttribute("d", all ? d : mapped(parts, sign, (x) => this.map(x)));
      }
      this.clip ??= `clip-${(clips += 1)}`;
      if (!this.svg.querySelector("clipPath")) {
        const { left: x, top: y, width } = this;
        made(made(this.svg, "clipPath", { id: this.clip }), "rect", { x, y, width, height: this.bottom - y });
      }
      this.data.setAttribute("clip-path", all ? "none" : `url(#${this.clip})`);
      this.upright.innerHTML = this.whole.upright;
      this.below.innerHTML = this.whole.below;
      if (all) return;
      if (this.x) this.number();
      else this.name();
    }

    // Ticks of the part that is shown.
    number() {
      const [low, high] = [valueAt(this.x, this.from), valueAt(this.x, this.to)];
      const base = this.below.querySelector("text")?.getAttribute("y");
      const at = (value) => tenth(this.map(this.left + shareOf(this.x, value) * this.width));
      const places = ticks([low, high, this.x[2]], this.width / 38).filter((value) => Number.isFinite(at(value)));
      const lines = (y, height) => places.map((value) => `M${at(value)} ${y}v${height}`).join("");
      const names = places.map((value) => `<text x="${at(value)}" y="${base}">${tickName(value)}</text>`);
      this.upright.innerHTML = `<path class="g" d="${lines(this.top, tenth(this.bottom - this.top))}"/>`;
      this.below.innerHTML = `<path class="a" d="${lines(this.bottom, 3)}"/><g class="m">${names.join("")}</g>`;
    }

    // Names of the places that are shown.
    name() {
      for (const path of this.below.querySelectorAll("path")) {
        const parts = partsOf(path.getAttribute("d")).filter(({ corners }) => corners.every(([x]) => this.shows(x)));
        path.setAttribute("d", mapped(parts, false, (x) => this.map(x)));
      }
      for (const text of this.below.querySelectorAll("text")) {
        const turned = text.getAttribute("transform");
        const x = turned ? numbers(turned)[0] : Number(text.getAttribute("x"));
        const to = tenth(this.map(x));
        if (turned) text.setAttribute("transform", turned.replace(/[-\d.]+/, to));
        else text.setAttribute("x", to);
        text.style.display = this.shows(x) ? "" : "none";
      }
    }
    shows(x) {
      const share = (x - this.left) / this.width;
      return share >= this.from && share <= this.to;
    }

    // Heights of a line at a place along the axis, the one nearest to `y`.
    height(line, x, y) {
      let best;
      // An upright part is found from beside it, too.
      const pixel = (this.to - this.from) / this.scale;
      const add = (height) => {
        if (best === undefined || Math.abs(height - y) < Math.abs(best - y)) best = height;
      };
      for (const { corners } of this.groups[line].flatMap(({ sign, parts }) => (sign ? [] : parts))) {
        for (let index = 1; index < corners.length; index += 1) {
          const [[x1, y1], [x2, y2]] = [corners[index - 1], corners[index]];
          const slack = x1 === x2 ? pixel : 0;
          if (Math.min(x1, x2) > x + slack || Math.max(x1, x2) < x - slack) continue;
          if (x1 !== x2) add(y1 + ((x - x1) / (x2 - x1)) * (y2 - y1));
          else add(Math.min(Math.max(y, Math.min(y1, y2)), Math.max(y1, y2)));
        }
      }
      return best;
    }
    axes(x, y) {
      const texts = [
        along(this.x, this.shareAt(x), this.to - this.from),
        along(this.y, (this.bottom - y) / (this.bottom - this.top), 1),
      ];
      return texts.filter(Boolean).join("\n");
    }

    // The values at a place of the drawing: of a point or a line nearby, else those of the axes.
    read([x, y]) {
      const near = NEAR / this.scale;
      let best = { far: Infinity, text: this.axes(x, y) };
      const offer = (far, text) => { if (far < best.far) best = { far, text }; };
      this.lines.forEach(([label, way, points], line) => {
        if (this.isHidden(line)) return;
        for (const [px, py, text] of points) {
          const far = Math.hypot(this.map(px) - x, py - y);
          if (way === WHOLE || far < near) offer(far, `${label}\n${text}`);
        }
        if (way === ALONG) {
          const height = this.height(line, this.back(x), y);
          if (Math.abs(height - y) < near) offer(Math.abs(height - y), `${label}\n${this.axes(x, height)}`);
        } else if (way === INSIDE && this.groups[line].some(({ path }) => path.isPointInFill(new DOMPoint(x, y)))) {
          offer(near, `${label}\n${this.axes(x, y)}`);
        }
      });
      return best.text.trim();
    }

    // Where the keys stop, line by line; a chart without lines has rows of places.
    tracks() {
      const tracks = this.lines.map(([label, way, points], line) => {
        if (this.isHidden(line)) return [];
        if (way !== ALONG) return points.map(([x, y, text]) => ({ x, y, text: () => `${label}\n${text}` }));
        const corners = this.groups[line].flatMap(({ sign, parts }) => (sign ? [] : parts.flatMap((part) => part.corners)));
        const each = Math.ceil(corners.length / STOPS);
        const stops = corners.filter((_, index) => index % each === 0);
        return stops.map(([x, y]) => ({ x, y, text: () => `${label}\n${this.axes(this.map(x), y)}` }));
      }).filter((track) => track.length > 0);
      if (tracks.length > 0) return tracks;
      const shares = Array.from({ length: 24 }, (_, index) => (index + 0.5) / 24);
      return shares.map((row) => shares.map((column) => {
        const [x, y] = [this.left + column * this.width, this.bottom - row * (this.bottom - this.top)];
        return { x, y, text: () => this.read([this.map(x), y]) };
      }));
    }

    // Goes some lines up and some stops along, and says what is there.
    go(up, on) {
      const tracks = this.tracks();
      if (this.cursor && up !== 0) {
        const { x } = tracks[this.cursor[0]]?.[this.cursor[1]] ?? { x: this.left };
        const track = (this.cursor[0] + up + tracks.length) % tracks.length;
        const far = tracks[track].map((stop) => Math.abs(stop.x - x));
        this.cursor = [track, far.indexOf(Math.min(...far))];
      } else if (this.cursor) {
        const track = Math.min(this.cursor[0], tracks.length - 1);
        this.cursor = [track, Math.min(Math.max(this.cursor[1] + on, 0), tracks[track].length - 1)];
      } else {
        this.cursor = [0, 0];
      }
      const stop = tracks[this.cursor[0]][this.cursor[1]];
      const share = (stop.x - this.left) / this.width;
      const half = (this.to - this.from) / 2;
      if (share < this.from || share > this.to) this.view.zoom(this, share - half, share + half);
      this.mark ??= made(this.svg, "circle", { class: "cursor", r: 3.5 });
      this.mark.setAttribute("cx", this.map(stop.x));
      this.mark.setAttribute("cy", stop.y);
      const box = this.svg.getBoundingClientRect();
      say(stop.text().trim(), box.left + this.map(stop.x) * this.scale, box.top + stop.y * this.scale);
    }
    leave() {
      this.mark?.remove();
      this.mark = this.cursor = undefined;
      reading.hidden = true;
    }
    // The share of the axis around which keys zoom.
    middle() {
      const x = this.mark ? Number(this.mark.getAttribute("cx")) : (this.left + this.right) / 2;
      return this.shareAt(x);
    }

    press(event) {
      const lines = this.tracks();
      const ways = {
        ArrowRight: () => this.go(0, 1),
        ArrowLeft: () => this.go(0, -1),
        ArrowUp: () => this.go(1, 0),
        ArrowDown: () => this.go(-1, 0),
        Home: () => this.go(0, -Infinity),
        End: () => this.go(0, lines[this.cursor?.[0] ?? 0]?.length ?? 0),
        "+": () => this.view.closer(this, this.middle(), 0.6),
        "-": () => this.view.closer(this, this.middle(), 1 / 0.6),
        0: () => this.view.zoom(this, 0, 1),
        Escape: () => this.svg.blur(),
      };
      if (event.ctrlKey || event.metaKey || event.altKey || !ways[event.key]) return;
      event.preventDefault();
      ways[event.key]();
      if ("+-0".includes(event.key) && this.cursor) this.go(0, 0);
    }

    // Zooms to the part that the pointer is dragged over.
    drag(event) {
      const [start] = this.place(event);
      const { top: y, bottom } = this;
      const band = made(this.svg, "rect", { class: "band", x: start, y, width: 0, height: bottom - y });
      const ends = (moved) => {
        const end = Math.min(Math.max(this.place(moved)[0], this.left), this.right);
        return [Math.min(start, end), Math.max(start, end)];
      };
      const move = (moved) => {
        const [low, high] = ends(moved);
        band.setAttribute("x", low);
        band.setAttribute("width", high - low);
      };
      const stop = (last) => {
        for (const [name, heard] of heed) removeEventListener(name, heard);
        band.remove();
        const [low, high] = ends(last);
        if (last.type === "pointerup" && (high - low) * this.scale > DRAG) {
          this.view.zoom(this, this.shareAt(low), this.shareAt(high));
        }
      };
      const heed = [["pointermove", move], ["pointerup", stop], ["pointercancel", stop]];
      for (const [name, heard] of heed) addEventListener(name, heard);
    }

    listen() {
      const { svg } = this;
      svg.addEventListener("pointermove", (event) => {
        const place = this.place(event);
        say(this.holds(place) ? this.read(place) : "", event.clientX, event.clientY);
      });
      svg.addEventListener("pointerleave", () => { reading.hidden = true; });
      svg.addEventListener("pointerdown", (event) => {
        const mouse = event.pointerType !== "touch" && event.button === 0;
        if (mouse && this.holds(this.place(event))) this.drag(event);
      });
      svg.addEventListener("dblclick", () => this.view.zoom(this, 0, 1));
      // A page scrolls under the wheel until a chart is chosen.
      svg.addEventListener("wheel", (event) => {
        const place = this.place(event);
        if (!(document.activeElement === svg || event.ctrlKey) || !this.holds(place)) return;
        event.preventDefault();
        this.view.closer(this, this.shareAt(place[0]), event.deltaY < 0 ? 0.8 : 1.25);
      }, { passive: false });
      svg.addEventListener("keydown", (event) => this.press(event));
      svg.addEventListener("blur", () => this.leave());
    }
  }

  // Panels side by side, which zoom and hide lines together.
  class View {
    constructor(element) {
      this.element = element;
      this.hidden = new Set();
      this.made = new Map();
      for (const svg of element.querySelectorAll("svg[data-reading]")) {
        svg.tabIndex = 0;
        // A page of a hundred charts opens at once: each is read when it is first wanted.
        const once = (event) => {
          const chart = this.chart(svg);
          if (event.type === "focus" && svg.matches(":focus-visible")) chart.go(0, 0);
        };
        for (const name of ["pointerenter", "pointermove", "pointerdown", "focus"]) {
          svg.addEventListener(name, once, { capture: true });
        }
      }
      for (const entry of element.querySelectorAll(".n")) {
        entry.addEventListener("click", () => this.hide(entry.querySelector("text").textContent));
      }
    }
    chart(svg) {
      if (!this.made.has(svg)) this.made.set(svg, new Chart(svg, this));
      return this.made.get(svg);
    }
    get charts() { return [...this.element.querySelectorAll("svg[data-reading]")].map((svg) => this.chart(svg)); }

    closer(chart, around, factor) {
      const width = (chart.to - chart.from) * factor;
      const before = (around - chart.from) / (chart.to - chart.from);
      this.zoom(chart, around - before * width, around + (1 - before) * width);
    }
    zoom(chart, from, to) {
      const width = Math.min(Math.max(to - from, NARROWEST), 1);
      const start = Math.min(Math.max((from + to - width) / 2, 0), 1 - width);
      const same = (other) => JSON.stringify(other.x) === JSON.stringify(chart.x);
      for (const other of this.charts) if (same(other)) other.zoom(start, start + width);
      document.dispatchEvent(new CustomEvent("tailwater:zoom"));
      reading.hidden = true;
    }
    hide(label) {
      if (!this.hidden.delete(label)) this.hidden.add(label);
      for (const entry of this.element.querySelectorAll(".n")) {
        entry.classList.toggle("off", this.hidden.has(entry.querySelector("text").textContent));
      }
      for (const chart of this.charts) {
        chart.lines.forEach(([own], line) => {
          if (own === label) chart.data.children[line].style.display = this.hidden.has(label) ? "none" : "";
        });
      }
    }
  }

  // What is shown of a chart as one file: its panels side by side, in the colours of a light page.
  const drawing = (view) => {
    const svgs = [...view.querySelectorAll("svg")].filter((svg) => !svg.closest(".narrow"));
    const sizes = svgs.map((svg) => svg.viewBox.baseVal);
    const columns = Math.ceil(Math.sqrt(svgs.length));
    const width = Math.max(...sizes.map((size) => size.width));
    const height = Math.max(...sizes.map((size) => size.height)) + 12;
    const parts = svgs.map((svg, index) => {
      const [x, y] = [(index % columns) * width, Math.floor(index / columns) * height];
      const text = document.createElement("b");
      text.textContent = svg.closest(".panel")?.querySelector("h5")?.textContent ?? "";
      return `<g transform="translate(${x} ${y + 12})"><text y="-3">${text.innerHTML}</text>${svg.innerHTML}</g>`;
    });
    const style = "svg{fill:none;color:#1b1f24;background:#fff}text{fill:#1b1f24;font:7.5px sans-serif}" +
      ".t{font-size:8px}.m{text-anchor:middle}.e{text-anchor:end}.off,.cursor{display:none}" +
      ".g{stroke:#d5dae0;stroke-width:.4}.a{stroke:#1b1f24;stroke-width:.6}";
    const [w, h] = [columns * width, Math.ceil(svgs.length / columns) * height];
    const text = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${w} ${h}" width="${w * 2}" ` +
      `height="${h * 2}"><style>${style}</style>${parts.join("").replaceAll("var(--box)", "#ffffff")}</svg>`;
    return new Blob([text], { type: "image/svg+xml" });
  };
  const DENSE = 3;
  const pixels = async (blob) => {
    const image = new Image();
    image.src = URL.createObjectURL(blob);
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.width * DENSE, image.height * DENSE];
    const pen = canvas.getContext("2d");
    pen.fillStyle = "#ffffff";
    pen.fillRect(0, 0, canvas.width, canvas.height);
    pen.drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(image.src);
    return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
  };

  const begin = (chart) => {
    const views = [...chart.querySelectorAll(".view")];
    for (const view of views) new View(view);
    const select = chart.querySelector("select");
    const logs = [...chart.querySelectorAll("[data-log]")];
    const isPressed = (button) => button.getAttribute("aria-pressed") === "true";
    const shown = () => {
      const scale = logs.filter(isPressed).map((button) => button.dataset.log).join("");
      const chosen = views.filter((view) => !select || view.dataset.view === select.value);
      return chosen.find((view) => (view.dataset.scale ?? "") === scale) ?? chosen[0];
    };
    const show = () => {
      for (const view of views) view.classList.toggle("away", view !== shown());
    };
    select?.addEventListener("change", show);
    show();
    for (const button of logs) {
      button.addEventListener("click", () => {
        button.setAttribute("aria-pressed", String(!isPressed(button)));
        show();
      });
    }
    for (const button of chart.querySelectorAll("[data-save]")) {
      button.addEventListener("click", async () => {
        const svg = drawing(shown());
        const link = document.createElement("a");
        link.href = URL.createObjectURL(button.dataset.save === "png" ? await pixels(svg) : svg);
        link.download = `${shown().dataset.view}.${button.dataset.save}`;
        link.click();
        URL.revokeObjectURL(link.href);
      });
    }
  };
  const beginAll = (part) => part.querySelectorAll(".drawn").forEach(begin);
  beginAll(document);
  // A part of the page was drawn anew.
  document.addEventListener("drawn", ({ target }) => beginAll(target));
})();
