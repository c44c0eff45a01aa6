// Opens a page in a browser without a window and uses it: node page.mjs FOLDER PAGE BROWSER [SWITCH...]
// It prints what it saw as JSON.

import { open } from "./browser.mjs";

const [folder, page, ...browser] = process.argv.slice(2);
const { tell, run, until, resize, requested, wrong, opened, close } = await open(folder, page, browser[0], browser.slice(1));
const told = {};
try {
  await until("document.querySelector('#charts svg')");
  told.first_ms = Date.now() - opened;
  await until("document.body.dataset.shown && document.body.dataset.checked");
  told.checked = await run("document.body.dataset.checked");
  // One slider after the other goes one step up, as a key does it.
  told.slider_ms = await run(`(async () => {
    const times = [];
    const range = document.getElementById("slider-workload.senders");
    for (let step = 0; step < 20; step += 1) {
      const drawn = new Promise((resolve) => { document.addEventListener("simulated", resolve, { once: true }); });
      const began = performance.now();
      range.value = 10 + step % 5;
      range.dispatchEvent(new Event("input"));
      await drawn;
      times.push(performance.now() - began);
    }
    return times.sort((a, b) => a - b);
  })()`);
  // Many events at once: the last one is shown, and no answer after a newer one.
  told.burst = await run(`(async () => {
    const shown = [];
    document.addEventListener("simulated", () => shown.push(Number(document.body.dataset.shown)));
    const range = document.getElementById("slider-workload.senders");
    for (let step = 0; step < 200; step += 1) {
      range.value = step % 20;
      range.dispatchEvent(new Event("input"));
    }
    const field = range.parentElement.querySelector("input[type=text]").value;
    const began = performance.now();
    while (!document.getElementById("again").textContent.includes("workload.senders=" + field)) {
      await new Promise((resolve) => { setTimeout(resolve, 5); });
    }
    const ms = performance.now() - began;
    return { ms, ordered: shown.every((id, place) => place === 0 || id > shown[place - 1]) };
  })()`);
  told.fault = await run(`(async () => {
    const field = document.querySelector("#slider-workload\\\\.senders").parentElement.querySelector("input[type=text]");
    const before = field.value;
    field.value = "many";
    field.dispatchEvent(new Event("change"));
    const fault = document.getElementById("fault-workload.senders");
    while (fault.hidden) await new Promise((resolve) => { setTimeout(resolve, 5); });
    const told = fault.innerText;
    field.value = before;
    field.dispatchEvent(new Event("change"));
    while (!fault.hidden) await new Promise((resolve) => { setTimeout(resolve, 5); });
    return told;
  })()`);
  // Firefox is told by its profile.
  await tell?.("Emulation.setEmulatedMedia", { features: [{ name: "prefers-reduced-motion", value: "reduce" }] });
  // Where packets are dropped, the table leads to the slowest flow on the stage.
  told.theatre = await run(`(async () => {
    const field = document.getElementById("slider-switch.buffer").parentElement.querySelector("input[type=text]");
    const before = field.value;
    window.staged = async (buffer) => {
      const drawn = new Promise((resolve) => { document.addEventListener("simulated", resolve, { once: true }); });
      field.value = buffer;
      field.dispatchEvent(new Event("change"));
      await drawn;
      // Scenes follow after a rest; those of earlier values are not shown any more.
      delete document.body.dataset.staged;
      while (!document.body.dataset.staged) {
        // On a busy machine the run takes so long that the page asks first.
        const [button] = document.querySelectorAll("#why button");
        if (button?.textContent === "Play the first losses") button.click();
        await new Promise((resolve) => { setTimeout(resolve, 50); });
      }
    };
    await staged("40pkt");
    const why = document.querySelector("#why button");
    why.click();
    const section = document.getElementById("theatre");
    while (document.activeElement !== section.querySelector("canvas")) await new Promise((resolve) => { setTimeout(resolve, 5); });
    const slow = Number(why.textContent.match(/flow (\\d+)/)[1]);
    const { theatre } = section;
    const told = { why: why.textContent, follows: theatre.scene.flows[theatre.chosen][0] === slow,
      says: section.querySelector(".said").textContent, cursors: document.querySelectorAll("#charts .now").length,
      height: section.clientHeight };
    // Who asks for less motion sees one event after the other, each for half a second.
    const [places, began] = [new Set(), performance.now()];
    theatre.toggle();
    while (performance.now() < began + 600) {
      await new Promise(requestAnimationFrame);
      places.add(theatre.at);
    }
    told.still = places.size <= 2 + (performance.now() - began) / 500;
    theatre.toggle();
    await staged(before);
    return { ...told, stages: document.querySelectorAll("#theatre canvas").length };
  })()`);
  // The figure of the paper is drawn with the other settings of the page.
  told.figure = await run(`(async () => {
    if (!document.getElementById("figures")) return null;
    const field = document.getElementById("slider-switch.buffer").parentElement.querySelector("input[type=text]");
    const before = field.value;
    const drawn = async (buffer) => {
      const asked = document.body.dataset.figures;
      await staged(buffer);
      while (document.body.dataset.figures === asked) await new Promise((resolve) => { setTimeout(resolve, 10); });
      return document.querySelector("#figures svg");
    };
    const curve = (svg) => svg?.dataset.reading;
    const first = curve(await drawn("50pkt"));
    const second = await drawn("70pkt");
    const told = { moved: Boolean(first) && first !== curve(second), marks: document.querySelectorAll("#figures .present").length,
      text: second?.textContent };
    await drawn(before);
    return told;
  })()`);
  // The Tab key reaches every control, and an arrow moves a slider.
  if (tell) {
    const press = async (key, windowsVirtualKeyCode) => {
      for (const type of ["keyDown", "keyUp"]) await tell("Input.dispatchKeyEvent", { type, key, code: key, windowsVirtualKeyCode });
    };
    const count = await run(`(() => {
      const all = [...document.querySelectorAll("a[href], input, select, button, summary, [tabindex]")];
      window.controls = all.filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0);
      document.addEventListener("focusin", ({ target }) => { controls = controls.filter((one) => one !== target); });
      document.activeElement.blur();
      return controls.length;
    })()`);
    for (let step = 0; step < count + 2; step += 1) await press("Tab", 9);
    told.unreached = await run("controls.map((one) => one.outerHTML)");
    await run(`document.getElementById("slider-workload.senders").focus()`);
    const command = await run(`document.getElementById("again").textContent`);
    await press("ArrowRight", 39);
    await until(`document.getElementById("again").textContent !== ${JSON.stringify(command)}`);
  }
  told.unlabelled = await run(`[...document.querySelectorAll("input, select, button, textarea")]
    .filter((one) => !(one.labels?.length || one.getAttribute("aria-label") || one.textContent.trim())).map((one) => one.outerHTML)`);
  told.again = await run(`document.getElementById("again").textContent`);
  await until(`location.hash.includes(document.getElementById("again").textContent.match(/workload.senders=\\d+/)[0])`);
  told.table = await run(`document.getElementById("table").innerHTML`);
  told.answer = await run(`document.getElementById("answer").innerText`);
  told.address = await run("location.hash");
  await resize(360, 800);
  told.width = await run("document.documentElement.scrollWidth");
} catch (error) {
  wrong.push(String(error));
}
await close();
// The page itself and addresses inside it are no requests.
told.requests = requested.filter((url) => !/^(file|data|blob|about):/.test(url) || (url.startsWith("file:") && !url.startsWith(`file://${page}`)));
told.wrong = wrong;
process.stdout.write(JSON.stringify(told), () => process.exit(0));
