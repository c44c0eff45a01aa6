// The theatre: what happened at a port from before its first loss to the end of the repair, packet by packet. `unpack` and
// `stateAt` need no page; `mount` shows a scene in an element.
(() => {
  // Flags of packets, and what senders wait for.
  const [MARKED, DROPPED, AGAIN, RECOVERING] = [1, 2, 4, 8];
  const WAITS = [
    "nothing to send", "an ACK: the congestion window is full", "an ACK: the advertised window is full",
    "an ACK: everything is sent", "its turn to send",
  ];
  const SPEEDS = [1, 5, 20, 50, 100, 500, 2000, 10000];
  // Real seconds that a dropped packet falls for; simulated nanoseconds before a moment that one jumps to.
  const [FALL, BEFORE] = [0.7, 2000];

  const sums = (steps) => {
    let sum = 0;
    return steps.map((step) => { sum += step; return sum; });
  };
  // The columns of a scene as records, in the order of time. Times are nanoseconds since the scene began.
  const unpack = (data) => {
    const { packets: p, states: s, decisions: d } = data;
    const times = { packets: sums(p.t), states: sums(s.t), decisions: sums(d.t) };
    // A packet had left so much later than the one before; it begins so much behind it.
    let before = 0;
    const ends = new Map();
    const packets = times.packets.map((at, index) => {
      const wire = ((p.l[index] + data.header) * 8e9) / data.bps;
      const isDropped = (p.k[index] & DROPPED) > 0;
      if (!isDropped) before += p.d[index];
      const left = isDropped ? at + p.d[index] : p.d[index] ? before : Infinity;
      const seq = (ends.get(p.f[index]) ?? 0) + p.s[index];
      ends.set(p.f[index], seq + p.l[index]);
      // When its first bit leaves.
      const goes = isDropped ? left : Math.max(left - data.delay - wire, at);
      return { at, goes, gone: isDropped ? left : goes + wire, left, isDropped, flow: p.f[index], seq,
        bytes: p.l[index] + data.header, payload: p.l[index], flags: p.k[index] };
    });
    const states = times.states.map((at, index) => ({ at, flow: s.f[index], cwnd: s.c[index], inFlight: s.i[index],
      granted: s.g[index], waits: s.w[index], timer: s.r[index] ? at + s.r[index] * 1000 : 0 }));
    const decisions = times.decisions.map((at, index) => {
      const [name, place, text] = data.clauses[d.c[index]];
      return { at, flow: d.f[index], name, place, text };
    });
    const all = [...times.packets, ...packets.map((packet) => packet.goes), ...packets.map((packet) => packet.left),
      ...times.states, ...times.decisions];
    const moments = [...new Set(all.filter((at) => at <= data.end))].sort((a, b) => a - b);
    return { ...data, packets, states, decisions, moments };
  };
  // What is so at a time: the packets that wait, the one that leaves, the bytes of the queue, and each sender's state.
  // Without records of that time `isKnown` is false.
  const stateAt = (scene, at) => {
    const waiting = [];
    let [leaving, queue, dropped] = [undefined, 0, 0];
    for (const packet of scene.packets) {
      if (packet.at > at) break;
      if (packet.isDropped && packet.left <= at) dropped += 1;
      if (packet.goes > at) {
        waiting.push(packet);
        queue += packet.bytes;
      } else if (packet.gone > at) leaving = packet;
    }
    const senders = new Map();
    for (const state of scene.states) {
      if (state.at > at) break;
      senders.set(state.flow, state);
    }
    return { isKnown: scene.spans.some(([from, to]) => at >= from && at <= to), waiting, leaving, queue, dropped, senders };
  };

  const time = (ns, step = 1000) => {
    const [size, unit] = Math.abs(ns) < 1e6 ? [1e3, "us"] : [1e6, "ms"];
    return `${(ns / size).toFixed(Math.max(Math.ceil(Math.log10(size / step)), 1))} ${unit}`;
  };
  const bytes = (count) => (count < 0 ? "none" : count < 1e4 ? `${count} B` : `${(count / 1e3).toFixed(1)} KB`);
  const waits = (state, at) => {
    const timer = state.timer > at ? `, or its timer in ${time(state.timer - at, 1e5)}` : "";
    return WAITS[state.waits & ~RECOVERING] + timer + (state.waits & RECOVERING ? "; in fast recovery" : "");
  };
  const make = (parent, name, text = "", attributes = {}) => {
    const element = document.createElement(name);
    element.textContent = text;
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    parent.append(element);
    return element;
  };
  const colour = (flow) => `hsl(${(flow * 137.5) % 360} 62% ${48 + (flow % 3) * 8}%)`;

  class Theatre {
    // `start`: nanoseconds of simulated time at which charts begin; `slow`: the flow that was complete last.
    constructor(element, data, { start = data.begin, slow } = {}) {
      Object.assign(this, { element, scene: unpack(data), shift: data.begin - start, at: 0, speed: 50 });
      this.most = 1;
      for (const packet of this.scene.packets) {
        if (packet.at === packet.goes && !packet.isDropped) continue;
        this.most = Math.max(this.most, this.count(packet.at));
      }
      this.still = matchMedia("(prefers-reduced-motion: reduce)");
      // Whatever listens outside of the element, until another theatre takes the place of this one.
      this.outside = new AbortController();
      this.build();
      const place = this.scene.flows.findIndex(([flow]) => flow === slow);
      const reason = this.scene.decisions.find(({ flow, name }) => flow === place && name === "timeout");
      const first = this.scene.packets.find((packet) => packet.isDropped);
      this.timeout = this.scene.timeout ?? undefined;
      const cause = reason ?? this.scene.decisions.find(({ at, name }) => at === this.timeout && name === "timeout");
      this.chosen = cause?.flow ?? first?.flow ?? 0;
      this.select.value = this.chosen;
      this.seek((cause?.at ?? this.scene.loss) - (cause ? 0 : BEFORE));
    }
    // Packets that wait when one has come: the queue is drawn for the longest.
    count(at) {
      let count = 0;
      for (const packet of this.scene.packets) {
        if (packet.at > at) break;
        if (packet.goes > at) count += 1;
      }
      return count;
    }
    name(place) { return `flow ${this.scene.flows[place][0]}`; }

    build() {
      const { element, scene } = this;
      element.replaceChildren();
      const bar = make(element, "div", "", { class: "controls" });
      const button = (text, title, act) => {
        const made = make(bar, "button", text, { type: "button", title });
        made.addEventListener("click", act);
        return made;
      };
      button("\u25c0", "The event before (left arrow)", () => this.step(-1)).setAttribute("aria-label", "One event back");
      this.play = button("Play", "Play and pause (space)", () => this.toggle());
      button("\u25b6", "The next event (right arrow)", () => this.step(1)).setAttribute("aria-label", "One event on");
      const label = make(bar, "label", "Speed ");
      this.pace = make(label, "select");
      for (const speed of SPEEDS) {
        make(this.pace, "option", speed < 1000 ? `${speed} us/s` : `${speed / 1000} ms/s`, { value: speed });
      }
      this.pace.value = this.speed;
      this.pace.addEventListener("change", () => { this.speed = Number(this.pace.value); });
      const back = make(bar, "label", "");
      this.back = make(back, "input", "", { type: "checkbox" });
      back.append(" backwards");
      const skip = make(bar, "label", "");
      this.skip = make(skip, "input", "", { type: "checkbox" });
      this.skip.checked = true;
      skip.append(" skip pauses");
      button("First loss", "Key L", () => this.seek(scene.loss - BEFORE));
      if (scene.timeout !== null) button("First timeout", "Key T", () => this.seek(scene.timeout));
      const flow = make(bar, "label", "Follow ");
      this.select = make(flow, "select");
      scene.flows.forEach(([number], place) => make(this.select, "option", `flow ${number}`, { value: place }));
      this.select.addEventListener("change", () => { this.chosen = Number(this.select.value); this.show(); });
      this.range = make(element, "input", "", { type: "range", min: 0, max: scene.end, step: 1, "aria-label": "Time" });
      this.range.addEventListener("input", () => this.seek(Number(this.range.value)));
      this.canvas = make(element, "canvas", "", { tabindex: 0, role: "img" });
      const both = make(element, "div", "", { class: "beside" });
      this.said = make(both, "p", "", { role: "status", class: "note said" });
      const table = make(make(both, "div", "", { class: "scroll" }), "table");
      const head = make(make(table, "thead"), "tr");
      for (const name of ["Sender", "Window", "In flight", "Advertised", "Waits for"]) make(head, "th", name);
      this.body = make(table, "tbody");
      this.list = make(both, "ol", "", { class: "decisions", "aria-label": "Decisions of senders and their clauses" });
      this.canvas.addEventListener("keydown", (event) => this.press(event));
      this.canvas.addEventListener("click", (event) => this.pick(event));
      const { signal } = this.outside;
      const observer = new ResizeObserver(() => this.draw());
      observer.observe(this.canvas);
      signal.addEventListener("abort", () => observer.disconnect());
      for (const query of [matchMedia("(prefers-color-scheme: dark)"), this.still]) {
        query.addEventListener("change", () => this.draw(), { signal });
      }
      const theme = document.getElementById("theme");
      theme?.addEventListener("click", () => requestAnimationFrame(() => this.draw()), { signal });
    }
    // Stops, and hears nothing more.
    close() {
      this.playing = false;
      this.outside.abort();
    }
    press(event) {
      const far = (by) => {
        const place = SPEEDS.indexOf(this.speed) + by;
        this.speed = SPEEDS[Math.min(Math.max(place, 0), SPEEDS.length - 1)];
        this.pace.value = this.speed;
      };
      const ways = { " ": () => this.toggle(), ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1),
        Home: () => this.seek(0), End: () => this.seek(this.scene.end), "+": () => far(1), "-": () => far(-1),
        l: () => this.seek(this.scene.loss - BEFORE), t: () => this.seek(this.scene.timeout ?? this.at) };
      if (event.ctrlKey || event.metaKey || event.altKey || !ways[event.key]) return;
      event.preventDefault();
      ways[event.key]();
    }
    // The sender whose lane was clicked is followed.
    pick(event) {
      const lane = Math.floor((event.offsetY / this.canvas.clientHeight) * this.lanes);
      const place = Math.ceil((lane * this.scene.flows.length) / this.lanes);
      if (event.offsetX > this.canvas.clientWidth * 0.3 || place >= this.scene.flows.length) return;
      this.chosen = place;
      this.select.value = place;
      this.show();
    }

    toggle() {
      this.playing = !this.playing;
      this.play.textContent = this.playing ? "Pause" : "Play";
      if (!this.playing) { this.show(); return; }
      if (!this.back.checked && this.at >= this.scene.end) this.at = 0;
      this.last = undefined;
      requestAnimationFrame((now) => this.frame(now));
    }
    frame(now) {
      if (!this.playing) return;
      const passed = this.last === undefined ? 0 : Math.min(now - this.last, 100);
      // Without motion: an event each half second.
      if (this.still.matches) {
        if (this.last === undefined || now - this.last > 500) { this.last = now; this.step(this.back.checked ? -1 : 1); }
      } else {
        this.last = now;
        this.advance(passed);
      }
      requestAnimationFrame((next) => this.frame(next));
    }
    // Plays so many milliseconds.
    advance(passed) {
      const way = this.back.checked ? -1 : 1;
      let at = this.at + way * passed * this.speed;
      if (this.skip.checked) {
        const next = this.near(way);
        const pause = this.speed * 1000;
        if (Math.abs(next - at) > pause && !this.isFalling(at)) at = next - way * pause * 0.2;
      }
      this.at = Math.min(Math.max(at, 0), this.scene.end);
      this.draw();
      if (!(this.shown > performance.now() - 100)) this.show();
      if (this.at === (way > 0 ? this.scene.end : 0)) this.toggle();
    }
    isFalling(at) {
      const until = this.speed * FALL * 1000;
      return this.scene.packets.some((packet) => packet.isDropped && packet.left <= at && packet.left > at - until);
    }
    // The time of the next event, or of the one before.
    near(way) {
      const { moments } = this.scene;
      if (way < 0) return moments.findLast((moment) => moment < this.at) ?? 0;
      let [low, high] = [0, moments.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (moments[middle] > this.at) high = middle;
        else low = middle + 1;
      }
      return moments[low] ?? this.scene.end;
    }
    step(way) { this.seek(this.near(way)); }
    seek(at) {
      this.at = Math.min(Math.max(at, 0), this.scene.end);
      this.show();
    }

    // Everything of this instant: the drawing, the table, the decisions and the cursor in the charts.
    show() {
      this.shown = performance.now();
      this.draw();
      const { scene, at } = this;
      const now = stateAt(scene, at);
      this.range.value = at;
      const clock = time(at + this.shift, 100);
      this.range.setAttribute("aria-valuetext", clock);
      const waiting = `${now.waiting.length} packets (${bytes(now.queue)}) wait, ${now.dropped} dropped so far`;
      const text = now.isKnown ? waiting : "packets are not recorded at this time: only decisions";
      this.said.textContent = `${clock} after the first start, port ${scene.name}: ${text}.`;
      this.canvas.setAttribute("aria-label", `${this.said.textContent} Keys: space plays, arrows step, L and T jump.`);
      const before = scene.decisions.filter((decision) => decision.at <= at);
      const latest = [...new Set([this.chosen, ...before.toReversed().map(({ flow }) => flow), ...now.senders.keys()])];
      this.body.replaceChildren(...latest.slice(0, 6).map((place) => this.row(place, now.senders.get(place), now.isKnown)));
      this.list.replaceChildren(...before.slice(-5).toReversed().map((decision) => this.item(decision)));
      document.dispatchEvent(new CustomEvent("tailwater:time", { detail: (at + this.shift) / 1000 }));
    }
    row(place, state, isKnown) {
      const row = document.createElement("tr");
      const name = make(row, "td");
      make(name, "span", "", { class: "swatch", style: `background:${colour(place)}` });
      name.append(this.name(place));
      const cells = state && isKnown
        ? [bytes(state.cwnd), bytes(state.inFlight), bytes(state.granted), waits(state, this.at)]
        : ["", "", "", "not recorded"];
      for (const cell of cells) make(row, "td", cell);
      return row;
    }
    item({ at, flow, name, place, text }) {
      const item = document.createElement("li");
      const jump = make(item, "button", time(at + this.shift, 100), { type: "button", title: "Show this moment" });
      jump.addEventListener("click", () => this.seek(at));
      item.append(` ${this.name(flow)}: ${name}`);
      if (place) make(item, "span", ` ${place}: ${text}`, { class: "clause" });
      return item;
    }

    draw() {
      const { canvas, scene, at } = this;
      const { clientWidth: width, clientHeight: height } = canvas;
      if (!width) return;
      const dense = devicePixelRatio || 1;
      if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
        [canvas.width, canvas.height] = [Math.round(width * dense), Math.round(height * dense)];
      }
      const pen = canvas.getContext("2d");
      pen.setTransform(dense, 0, 0, dense, 0, 0);
      const style = getComputedStyle(canvas);
      const ink = style.color;
      const warn = style.getPropertyValue("--warn");
      pen.clearRect(0, 0, width, height);
      pen.font = "12px system-ui, sans-serif";
      this.lanes = Math.min(scene.flows.length, Math.floor((height - 10) / 9));
      const laneOf = (place) => Math.floor((place * this.lanes) / scene.flows.length);
      const laneY = (place) => 8 + ((laneOf(place) + 0.5) * (height - 16)) / this.lanes;
      const [from, tail, head, to] = [Math.min(90, width * 0.16), width * 0.36, width * 0.78, width - 16];
      const middle = height * 0.42;
      const size = Math.min(16, (head - tail) / this.most);
      const tall = Math.max(14, Math.min(26, size * 1.6));
      const place = (index) => head - (index + 1) * size;
      const box = (x, y, packet, alpha = 1) => {
        const [w, h] = packet.payload ? [Math.max(size - 1, 2.5), tall] : [Math.max(size / 3, 2), tall * 0.6];
        pen.globalAlpha = alpha;
        pen.fillStyle = colour(packet.flow);
        pen.fillRect(x, y - h / 2, w, h);
        if (packet.flags & MARKED) { pen.fillStyle = ink; pen.fillRect(x, y + h / 2 - 3, w, 3); }
        if (packet.flags & AGAIN) { pen.strokeStyle = ink; pen.lineWidth = 1.5; pen.strokeRect(x, y - h / 2, w, h); }
        if (packet.flow === this.chosen) { pen.fillStyle = warn; pen.fillRect(x, y - h / 2 - 5, w, 3); }
        pen.globalAlpha = 1;
      };
      const now = stateAt(scene, at);
      // Senders, the queue and the receiver.
      const counts = new Set(now.waiting.map((packet) => packet.flow));
      scene.flows.forEach((_, flow) => {
        pen.globalAlpha = counts.has(flow) || flow === this.chosen ? 1 : 0.35;
        pen.fillStyle = colour(flow);
        pen.fillRect(8, laneY(flow) - 3, 10, 6);
      });
      pen.globalAlpha = 1;
      pen.fillStyle = ink;
      pen.fillText(this.name(this.chosen), 24, Math.min(Math.max(laneY(this.chosen) + 4, 12), height - 4));
      pen.strokeStyle = ink;
      pen.lineWidth = 1;
      pen.strokeRect(tail - 4, middle - tall / 2 - 8, head - tail + 8, tall + 16);
      pen.textAlign = "right";
      pen.fillText(`${scene.name}`, width - 8, middle + tall / 2 + 26);
      pen.fillText(`${now.waiting.length} waiting, ${now.dropped} dropped`, width - 8, height - 8);
      pen.fillText(time(at + this.shift, 100), width - 8, 16);
      pen.textAlign = "left";
      const last = scene.decisions.findLast((decision) => decision.at <= at);
      if (last) pen.fillText(`${this.name(last.flow)}: ${last.name}${last.place && ` (${last.place})`}`, tail, height - 8);
      if (!now.isKnown) {
        pen.fillText("not recorded at this time", tail, middle - tall / 2 - 16);
        return;
      }
      now.waiting.filter((packet) => !packet.isDropped).forEach((packet, index) => box(place(index), middle, packet));
      // What comes, leaves, travels on and falls.
      const [fly, fall] = [scene.delay, this.speed * FALL * 1000];
      for (const packet of scene.packets) {
        if (packet.at - fly > at) break;
        const entry = Math.max(place(Math.min(now.waiting.length, this.most)), tail);
        if (packet.at > at) {
          const share = 1 - (packet.at - at) / fly;
          box(from + (entry - from) * share, laneY(packet.flow) + (middle - laneY(packet.flow)) * share, packet, 0.3 + 0.7 * share);
        } else if (packet.isDropped && at - packet.left < fall && packet.left <= at) {
          const share = this.still.matches ? 0.5 : (at - packet.left) / fall;
          box(tail - 14 - share * 10, middle + tall + (height - middle - tall) * share * share, packet, 1 - share);
          pen.fillStyle = warn;
          pen.fillText("\u2715", tail - 14, middle + tall + 14);
        } else if (!packet.isDropped && packet.goes <= at && packet.left > at) {
          const share = (at - packet.goes) / (packet.left - packet.goes);
          box(head + (to - head) * share, middle, packet);
        }
      }
    }
  }

  // A line at the time of the theatre in every chart over time.
  const LABEL = "Time since the first start";
  const UNITS = { us: 1, ms: 1e3, s: 1e6 };
  const cursor = (svg, now) => {
    const { f: [left, top, right, bottom], x } = JSON.parse(svg.dataset.reading);
    if (x?.[3] !== LABEL) return;
    const [from, to] = (svg.dataset.shown ?? "0 1").split(" ").map(Number);
    const share = ((now / UNITS[x[4]] - x[0]) / (x[1] - x[0]) - from) / (to - from);
    let line = svg.querySelector(":scope > .now");
    if (!line) {
      line = document.createElementNS("http://www.w3.org/2000/svg", "path");
      line.setAttribute("class", "now");
      svg.append(line);
    }
    const isShown = share >= 0 && share <= 1;
    line.setAttribute("d", isShown ? `M${left + share * (right - left)} ${top}V${bottom}` : "M0 0");
  };
  const follow = () => {
    const found = () => [...document.querySelectorAll("svg[data-reading]")].filter((svg) => svg.dataset.reading.includes(LABEL));
    let charts = found();
    let now;
    const all = () => { if (now !== undefined) for (const svg of charts) cursor(svg, now); };
    document.addEventListener("tailwater:time", ({ detail }) => { now = detail; all(); });
    document.addEventListener("tailwater:zoom", all);
    document.addEventListener("drawn", () => { charts = found(); all(); });
  };

  // A scene as a page keeps it: JSON, deflated, in base 64.
  const inflate = async (text) => {
    const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Response(stream).json();
  };
  // A section with a stage, a menu of scenes, and one of these on the stage. A scene comes packed, or as text.
  class Playhouse {
    constructor(section) {
      this.section = section;
      this.scenes = [];
      this.select = section.querySelector("select");
      this.select.addEventListener("change", () => this.show(Number(this.select.value)));
      follow();
    }
    async show(place) {
      const { data, text, start, slow } = this.scenes[place];
      this.select.value = place;
      const scene = text ? JSON.parse(text) : await inflate(data);
      this.section.theatre?.close();
      this.section.theatre = new Theatre(this.section.querySelector(".stage"), scene, { start, slow });
    }
  }
  // The scenes that a page comes with.
  const open = () => {
    const scenes = document.getElementById("scenes");
    if (!scenes) return;
    const playhouse = new Playhouse(document.getElementById("theatre"));
    playhouse.scenes = JSON.parse(scenes.textContent);
    for (const link of document.querySelectorAll("a[data-scene]")) {
      link.addEventListener("click", () => playhouse.show(Number(link.dataset.scene)));
    }
    playhouse.show(0);
  };
  globalThis.tailwaterTheatre = { unpack, stateAt, Theatre, Playhouse, inflate };
  if (globalThis.document) open();
})();
