"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const data = JSON.parse(byId("data").textContent);
  // Threads, schemes side by side, values of a sweep, and seconds after which the page asks whether a run is wanted.
  const [THREADS, SCHEMES, VALUES, PATIENCE] = [Math.min(navigator.hardwareConcurrency || 2, 4), 4, 30, 5];

  const made = (name, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  const text = (error) => [error.message, error.place].filter(Boolean).join(": ");

  // ---- The program, in threads. The newest request wins; an answer never replaces a newer one.
  class Program {
    constructor(module) {
      this.module = module;
      this.source = URL.createObjectURL(new Blob([byId("worker").textContent], { type: "text/javascript" }));
      this.threads = [];
      this.pending = [];
      this.last = 0;
      this.shown = 0;
    }
    thread() {
      const idle = this.threads.find((one) => !one.job);
      if (idle || this.threads.length >= THREADS) return idle;
      const one = { worker: new Worker(this.source), job: undefined };
      one.worker.onmessage = ({ data: told }) => this.hear(one, told);
      one.worker.onerror = (event) => this.hear(one, { trap: event.message });
      one.worker.postMessage({ module: this.module });
      this.threads.push(one);
      return one;
    }
    hear(one, { answer, trap }) {
      const { job } = one;
      if (trap) this.end(one);
      one.job = undefined;
      if (job && trap) job.done({ trap }, job.id);
      else if (job) job.done(answer, job.id);
      const next = this.pending.shift();
      if (next) this.give(next);
    }
    end(one) {
      one.worker.terminate();
      this.threads = this.threads.filter((other) => other !== one);
    }
    // Calls `done` with the answer, unless a newer request of this kind takes the place of this one before it begins.
    ask(kind, request, done) {
      this.last += 1;
      this.give({ id: this.last, kind, request, done });
      return this.last;
    }
    give(job) {
      const one = this.thread();
      if (!one) {
        this.pending = [...this.pending.filter(({ kind }) => kind !== job.kind), job];
        return;
      }
      one.job = job;
      one.worker.postMessage({ id: job.id, request: job.request });
    }
    stop() {
      this.pending = [];
      for (const one of this.threads.filter(({ job }) => job)) this.end(one);
    }
  }
  const inflated = async () => {
    const packed = Uint8Array.from(atob(byId("program").textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return WebAssembly.compile(await new Response(stream).arrayBuffer());
  };

  // ---- What is chosen: a scenario, and what is said over its head.
  let program;
  let state;
  let latest = {};
  const scenario = () => data.scenarios[state.scenario];
  const opened = (index) => {
    const { first } = data.scenarios[index];
    return { scenario: index, schemes: [...first.schemes], sets: new Map(first.sets), seed: first.seed };
  };
  const request = (more = {}) => ({
    name: scenario().name,
    text: scenario().text,
    schemes: state.schemes,
    sets: [...state.sets],
    seed: state.seed,
    ...more,
  });
  const shownSchemes = () => (state.schemes.length > 0 ? state.schemes : scenario().described.schemes);

  // The address holds the experiment, so that a link is one.
  const address = () => {
    const parts = new URLSearchParams();
    parts.set("scenario", scenario().name);
    if (state.schemes.length > 0) parts.set("schemes", state.schemes.join(","));
    for (const [key, value] of state.sets) parts.set(key, value);
    if (state.seed !== undefined && state.seed !== null) parts.set("seed", state.seed);
    return `#${parts}`;
  };
  const read = () => {
    const parts = new URLSearchParams(location.hash.slice(1));
    const named = data.scenarios.findIndex(({ name }) => name === parts.get("scenario"));
    if (parts.size === 0 && !location.hash) return opened(0);
    const from = opened(Math.max(named, 0));
    for (const [key, value] of parts) {
      if (key === "schemes") from.schemes = value.split(",").slice(0, SCHEMES);
      else if (key === "seed") from.seed = Number(value);
      else if (key !== "scenario") from.sets.set(key, value);
    }
    return from;
  };

  // ---- Settings.
  const sliders = new Map();
  const set = (key, value) => {
    const slider = scenario().described.sliders.find((one) => one.key === key);
    const isOwn = slider && slider.now === value && !scenario().first.sets.some(([own]) => own === key);
    if (isOwn) state.sets.delete(key);
    else state.sets.set(key, value);
    simulate();
  };
  const nearest = (values, value) => {
    const place = values.indexOf(value);
    if (place >= 0) return place;
    const far = values.map((other) => Math.abs(parseFloat(other) - parseFloat(value)));
    const least = Math.min(...far.filter((distance) => !Number.isNaN(distance)));
    return Math.max(far.indexOf(least), 0);
  };
  const addSlider = ({ key, values, now, help, expected }, change) => {
    const id = `slider-${key}`;
    const range = made("input", { type: "range", id, min: 0, max: Math.max(values.length - 1, 0), step: 1 });
    const field = made("input", { type: "text", autocomplete: "off", spellcheck: false });
    field.setAttribute("aria-label", `${key}, as text`);
    field.title = `${key}: ${expected}`;
    const fault = made("div", { className: "fault", hidden: true });
    fault.setAttribute("role", "alert");
    fault.id = `fault-${key}`;
    field.setAttribute("aria-describedby", fault.id);
    const word = key.split(".").at(-1).replaceAll("_", " ");
    const name = made("label", { htmlFor: id, title: help }, made("span", { textContent: word }), made("code", { textContent: key }));
    const over = made("button", { type: "button", textContent: "sweep", title: `Run ${VALUES} values of ${key} and draw them` });
    over.addEventListener("click", () => sweep(key, values));
    const show = (value) => {
      range.value = nearest(values, value);
      range.setAttribute("aria-valuetext", value);
      field.value = value;
    };
    range.addEventListener("input", () => { show(values[range.value]); change(values[range.value]); });
    field.addEventListener("change", () => { show(field.value.trim()); change(field.value.trim()); });
    const row = made("div", { className: "row" }, range, field, over);
    if (key === "seed") over.style.visibility = "hidden";
    byId("sliders").append(made("div", { className: "slider" }, name, row, fault));
    sliders.set(key, { show, fault, field });
    show(now);
  };
  const complain = (place, faults) => {
    place.hidden = faults.length === 0;
    place.replaceChildren(...faults.flatMap((fault) => [
      made("p", { textContent: text(fault) }),
      ...(fault.remedy ? [made("p", { className: "remedy", textContent: fault.remedy })] : []),
    ]));
  };
  // Every mistake at its slider, the others below all of them.
  const showFaults = (faults) => {
    for (const [key, { fault, field }] of sliders) {
      const own = faults.filter((one) => one.key === key);
      complain(fault, own);
      field.setAttribute("aria-invalid", String(own.length > 0));
    }
    complain(byId("fault"), faults.filter((one) => !sliders.has(one.key)));
  };

  const showSchemes = () => {
    const chosen = shownSchemes();
    byId("chosen").replaceChildren(...chosen.map((name) => {
      const label = chosen.length > 1 ? `${name} \u00d7` : name;
      const button = made("button", { type: "button", textContent: label, disabled: chosen.length === 1 });
      button.setAttribute("aria-label", `Leave out ${name}`);
      button.addEventListener("click", () => {
        state.schemes = chosen.filter((other) => other !== name);
        showSchemes();
        simulate();
        byId("add").focus();
      });
      return button;
    }));
    const others = data.schemes.filter(({ name }) => !chosen.includes(name));
    const full = chosen.length >= SCHEMES;
    byId("add").disabled = full;
    byId("add").replaceChildren(
      made("option", { value: "", textContent: full ? `at most ${SCHEMES}` : "a scheme" }),
      ...others.map(({ name, summary }) => made("option", { value: name, textContent: name, title: summary })),
    );
  };
  const showOthers = () => {
    const own = [...state.sets].filter(([key]) => !sliders.has(key));
    byId("others").replaceChildren(...own.map(([key, value]) => {
      const button = made("button", { type: "button", textContent: `${key}=${value} \u00d7` });
      button.setAttribute("aria-label", `Leave out ${key}`);
      button.addEventListener("click", () => { state.sets.delete(key); showOthers(); simulate(); });
      return button;
    }));
  };
  // Makes the controls those of the state.
  const showState = () => {
    const { described, name } = scenario();
    byId("scenario").value = state.scenario;
    document.querySelector("h1").textContent = described.name ?? name;
    byId("title").textContent = described.title ?? "";
    byId("sliders").replaceChildren();
    sliders.clear();
    for (const slider of described.sliders) {
      addSlider({ ...slider, now: state.sets.get(slider.key) ?? slider.now }, (value) => set(slider.key, value));
    }
    const seeds = Array.from({ length: 50 }, (_, index) => String(index + 1));
    const seed = { key: "seed", values: seeds, now: String(state.seed), expected: "a whole number",
      help: "Chooses everything that is random." };
    addSlider(seed, (value) => {
      if (/^\d{1,15}$/.test(value)) {
        state.seed = Number(value);
        simulate();
      } else {
        const remedy = "as in 7";
        showFaults([{ key: "seed", message: `the seed is no whole number: ${value}`, remedy }]);
      }
    });
    showSchemes();
    showOthers();
  };

  // ---- Runs.
  let busy;
  const status = (words, running = false) => {
    clearTimeout(busy);
    byId("status").textContent = words;
    byId("stop").hidden = !running;
  };
  // Browsers refuse hundreds of addresses within seconds, so a slider that moves has one when it rests.
  let addressed;
  const showAddress = () => {
    clearTimeout(addressed);
    addressed = setTimeout(() => {
      try {
        history.replaceState(null, "", address());
      } catch {
        // A frame of a notebook has no address.
      }
    }, 300);
  };
  let newest;
  const simulate = (patience = PATIENCE) => {
    showAddress();
    showOthers();
    byId("asks").hidden = true;
    if (!program) return;
    const began = performance.now();
    clearTimeout(resting);
    clearTimeout(figured);
    clearTimeout(busy);
    busy = setTimeout(() => {
      status("Simulating\u2026", true);
      byId("charts").classList.add("stale");
    }, 250);
    newest = program.ask("run", { run: request({ patience_s: patience }) }, (answer, id) => {
      if (id <= program.shown) return;
      program.shown = id;
      show(answer, id, performance.now() - began);
    });
  };
  const show = (answer, id, took) => {
    if (id === newest) {
      status(`${Math.round(took)} ms`);
      byId("charts").classList.remove("stale");
    }
    document.body.dataset.shown = id;
    if (answer.trap) {
      showFaults([{ message: `the program stopped: ${answer.trap}`, remedy: "please report it with this address" }]);
      return;
    }
    if (answer.asks_s) {
      byId("asked").textContent = `This run takes about ${Math.round(answer.asks_s)} s.`;
      byId("asks").hidden = false;
      status("");
      return;
    }
    const failed = (answer.failures ?? []).map(({ scheme, error }) => ({ message: `${scheme}: ${error}` }));
    showFaults([...(answer.problems ?? []), ...(answer.warnings ?? []), ...failed]);
    if (answer.problems) return;
    latest = answer;
    byId("answer").replaceChildren(...answer.sentences.map((words) => made("p", { textContent: words })));
    byId("charts").innerHTML = answer.charts;
    byId("table").innerHTML = answer.table;
    byId("again").textContent = answer.command;
    for (const place of ["charts", "table"]) byId(place).dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
    if (id === newest) rest(took);
    document.dispatchEvent(new CustomEvent("simulated", { detail: { answer, took } }));
  };

  // ---- The theatre: the first losses of the run that is shown, once no newer one is asked for.
  const playhouse = new tailwaterTheatre.Playhouse(byId("theatre"));
  const RESTS = 300;
  let [resting, figured] = [];
  const rest = (took) => {
    clearTimeout(resting);
    clearTimeout(figured);
    figured = setTimeout(drawFigures, RESTS);
    const asked = newest;
    const open = () => program.ask("play", { play: request({ patience_s: null }) }, (answer) => {
      if (asked === newest) stage(answer.scenes ?? []);
    });
    // A long run is simulated once more if somebody wants to see it alone.
    if (took < PATIENCE * 400) resting = setTimeout(open, RESTS);
    else {
      const button = made("button", { type: "button", textContent: "Play the first losses" });
      button.addEventListener("click", open);
      showWhy("", [button]);
    }
  };
  const showWhy = (words, buttons) => {
    byId("why").hidden = buttons.length === 0;
    byId("why").replaceChildren(words, ...buttons);
  };
  const stage = (scenes) => {
    const before = playhouse.scenes[playhouse.select.value]?.name;
    playhouse.scenes = scenes;
    playhouse.select.replaceChildren(...scenes.map(({ name }, value) => made("option", { value, textContent: name })));
    byId("simulations").hidden = scenes.length < 2;
    byId("theatre").hidden = scenes.length === 0;
    const buttons = scenes.map(({ name, slowest }, place) => {
      const button = made("button", { type: "button", textContent: `${name} (${slowest})`, hidden: !slowest });
      button.addEventListener("click", () => {
        playhouse.show(place);
        byId("theatre").scrollIntoView();
        byId("theatre").querySelector("canvas").focus({ preventScroll: true });
      });
      return button;
    });
    showWhy("Why was the slowest flow slow? ", buttons);
    document.body.dataset.staged = scenes.length;
    if (scenes.length > 0) playhouse.show(Math.max(scenes.findIndex(({ name }) => name === before), 0));
  };

  // ---- A sweep: the scenario with several values, drawn by the same functions.
  const sweep = (key, values) => {
    if (!program) return;
    const step = Math.ceil(values.length / VALUES);
    const numbers = values.filter((value) => !Number.isNaN(parseFloat(value)));
    const chosen = numbers.filter((_, index) => index % step === 0);
    const own = (sliders.get(key)?.field.value ?? "").trim();
    const sets = [...state.sets].filter(([other]) => other !== key);
    sets.push([key, chosen.join(",")]);
    byId("swept").textContent = key;
    byId("sweep").hidden = false;
    byId("sweeps").replaceChildren(made("p", { className: "note", textContent: `Simulating ${chosen.length} values\u2026` }));
    const asked = request({ sets, patience_s: 60 });
    program.ask("sweep", { run: asked }, (answer) => {
      if (answer.asks_s || answer.problems || answer.trap) {
        const why = answer.asks_s ? `the sweep takes about ${Math.round(answer.asks_s)} s; the command runs it`
          : answer.trap ?? answer.problems.map((one) => [text(one), one.remedy].filter(Boolean).join("; ")).join(". ");
        byId("sweeps").replaceChildren(made("p", { className: "fault", textContent: why }));
        return;
      }
      const all = made("template", { innerHTML: answer.charts }).content;
      const charts = ["chart-fct", "chart-goodput"].map((id) => all.getElementById(id)).filter(Boolean);
      for (const chart of charts) {
        chart.id = `${chart.id}-swept`;
        markPresent(chart, chosen.indexOf(own));
      }
      byId("sweeps").replaceChildren(...charts, made("p", { className: "note again", textContent: answer.command }));
      byId("sweeps").dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
      document.body.dataset.swept = key;
    });
  };
  // A line at the present value, which is one of the points of every curve. Bars of several schemes stand around it.
  const markPresent = (chart, place) => {
    for (const svg of chart.querySelectorAll("svg[data-reading]")) {
      const { f: [, top, , bottom], p } = JSON.parse(svg.dataset.reading);
      const longest = Math.max(...p.map(([, , points]) => points.length));
      const all = p.filter(([, , points]) => points.length === longest && points[place]);
      if (place < 0 || all.length === 0) continue;
      const x = all.reduce((sum, [, , points]) => sum + points[place][0], 0) / all.length;
      const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
      line.setAttribute("d", `M${x} ${top}V${bottom}`);
      line.setAttribute("class", "a present");
      line.setAttribute("stroke-dasharray", "2 2");
      svg.append(line);
    }
  };

  // ---- The figure of a paper: its runs with the other settings of the page, on the axes of the paper.
  const own = data.figures.map(() => made("div"));
  const drawn = [];
  byId("figures")?.append(...own);
  const runOf = ({ run, own: isOwn, swept }) => {
    const { first, described } = scenario();
    const middle = described.sets.map(([key]) => key);
    const others = [...state.sets].filter(([key]) => !swept.includes(key) && (isOwn || !middle.includes(key)));
    const isFirst = JSON.stringify(state.schemes) === JSON.stringify(first.schemes);
    const schemes = isFirst ? run.schemes : state.schemes;
    return { ...run, schemes, sets: [...others, ...run.sets], seed: state.seed };
  };
  const note = (words, className = "note") => made("p", { className, textContent: words });
  const drawFigures = () => {
    if (byId("beside")) byId("beside").hidden = state.scenario !== 0;
    if (state.scenario !== 0) return;
    data.figures.forEach((figure, place) => {
      const { panel, axis } = figure;
      const run = runOf(figure);
      const asked = JSON.stringify(run);
      const mark = () => {
        for (const line of own[place].querySelectorAll(".present")) line.remove();
        if (!axis || !figure.own) return;
        const [key, values] = axis;
        markPresent(own[place], values.indexOf(state.sets.get(key) ?? sliders.get(key)?.field.value));
      };
      if (drawn[place] === asked) {
        mark();
        return;
      }
      drawn[place] = asked;
      const draw = (patience_s) => {
        program.ask(`figure ${place}`, { draw: { run: { ...run, patience_s }, panel } }, (answer) => {
          if (drawn[place] !== asked) return;
          own[place].replaceChildren();
          if (answer.charts !== undefined) {
            own[place].innerHTML = answer.charts;
            if (!answer.charts) own[place].append(note(`${panel.title}: nothing was measured that could be drawn.`));
            if (answer.failed) own[place].append(note(`${answer.failed} simulations failed; their points are missing.`));
            mark();
            own[place].dispatchEvent(new CustomEvent("drawn", { bubbles: true }));
          } else if (answer.asks_s) {
            const words = `Draw ${panel.title}, in about ${Math.ceil(answer.asks_s)} s`;
            const button = made("button", { type: "button", textContent: words });
            button.addEventListener("click", () => draw(null));
            own[place].append(button);
          } else {
            const why = answer.trap ?? answer.problems.map((one) => [text(one), one.remedy].filter(Boolean).join("; ")).join(". ");
            own[place].append(note(`${panel.title}: ${why}`, "fault"));
          }
          document.body.dataset.figures = asked;
        });
      };
      draw(PATIENCE);
    });
  };

  // ---- Lectures.
  let scene;
  const showStep = (place) => {
    const { steps, scenario: name } = scene.lecture;
    scene.place = Math.min(Math.max(place, 0), steps.length - 1);
    const { says, schemes, set: sets } = steps[scene.place];
    const index = data.scenarios.findIndex((one) => one.name === name);
    state = { scenario: index, schemes: [...schemes], sets: new Map(sets), seed: 1 };
    byId("says").textContent = says;
    byId("step").textContent = `${scene.place + 1} of ${steps.length}`;
    byId("back").disabled = scene.place === 0;
    byId("next").disabled = scene.place === steps.length - 1;
    showState();
    simulate();
  };
  const chooseLecture = (number) => {
    byId("scene").hidden = number === "";
    scene = number === "" ? undefined : { lecture: data.lectures[number], place: 0 };
    if (scene) showStep(0);
  };

  // ---- What the buttons do.
  const copy = async (words, name) => {
    try {
      await navigator.clipboard.writeText(words);
      byId("copied").textContent = `${name} is copied`;
    } catch {
      byId("copied").textContent = words;
    }
  };
  const listen = () => {
    byId("scenario").addEventListener("change", () => {
      state = opened(Number(byId("scenario").value));
      showState();
      simulate();
    });
    byId("add").addEventListener("change", () => {
      if (!byId("add").value) return;
      state.schemes = [...shownSchemes(), byId("add").value];
      showSchemes();
      simulate();
      byId("add").focus();
    });
    byId("other").addEventListener("change", () => {
      const [key, value] = byId("other").value.split(/=(.*)/s).map((part) => part?.trim());
      if (!key) return;
      if (!value) {
        showFaults([{ message: `a setting is given as KEY=VALUE: ${key}`, remedy: "as in tcp.delayed_ack=2" }]);
        return;
      }
      state.sets.set(key, value);
      byId("other").value = "";
      sliders.get(key)?.show(value);
      simulate();
    });
    byId("lecture").addEventListener("change", () => chooseLecture(byId("lecture").value));
    byId("back").addEventListener("click", () => showStep(scene.place - 1));
    byId("next").addEventListener("click", () => showStep(scene.place + 1));
    byId("reset").addEventListener("click", () => {
      byId("lecture").value = "";
      chooseLecture("");
      state = opened(state.scenario);
      showState();
      simulate();
    });
    byId("stop").addEventListener("click", () => {
      program.stop();
      status("stopped");
    });
    byId("run").addEventListener("click", () => simulate(null));
    byId("copy").addEventListener("click", () => copy(byId("again").textContent, "The command"));
    // A page that another one carries, such as a report or a notebook, has no address of its own.
    byId("link").hidden = !["file:", "http:", "https:"].includes(location.protocol);
    byId("link").addEventListener("click", () => copy(location.href.split("#")[0] + address(), "The link"));
    byId("save").addEventListener("click", () => {
      const link = made("a", { download: "scenario.toml" });
      link.href = URL.createObjectURL(new Blob([latest.toml ?? data.toml], { type: "text/plain" }));
      link.click();
      URL.revokeObjectURL(link.href);
    });
    byId("controls").addEventListener("submit", (event) => event.preventDefault());
    addEventListener("hashchange", () => {
      state = read();
      showState();
      simulate();
    });
  };

  // The first run again: a program that gives other digests than the command is not to be trusted.
  const checked = (answer) => {
    const told = JSON.stringify(answer.digests);
    document.body.dataset.checked = String(told === JSON.stringify(data.digests));
    if (data.digests && told !== JSON.stringify(data.digests)) {
      showFaults([{ message: `the program in this page (${data.program}) gives other results than the command (${data.version})`,
        remedy: "in a clone of the sources `cargo xtask play` builds it anew" }]);
    }
  };

  data.scenarios.forEach(({ name, described }, index) => {
    const title = described.title ?? "";
    byId("scenario").append(made("option", { value: index, textContent: described.name ?? name, title }));
  });
  data.lectures.forEach(({ title, scenario: name }, index) => {
    if (data.scenarios.some((one) => one.name === name)) {
      byId("lecture").append(made("option", { value: index, textContent: title }));
    }
  });
  byId("lecture").parentElement.hidden = byId("lecture").options.length < 2;
  state = read();
  listen();
  showState();
  status("Loading the program\u2026");
  inflated().then((module) => {
    program = new Program(module);
    document.body.dataset.ready = "true";
    const { first } = data.scenarios[0];
    program.ask("check", { run: first }, checked);
    simulate();
  }, (error) => {
    complain(byId("fault"), [{ message: `this browser cannot run the program: ${error.message}`,
      remedy: "a browser of 2023 or later can" }]);
    status("");
  });
})();
