// Pictures of a page that simulates: node exploring.mjs FOLDER PAGE SHOTS BROWSER [SWITCH...]
// It prints them as JSON: the name of each and a PNG in base 64.

import { open } from "../../../../crates/faces/play/tests/browser.mjs";

const [folder, page, shots, ...browser] = process.argv.slice(2);
const { tell, run, until, close } = await open(folder, page, browser[0], browser.slice(1));
const drawn = {};
// Whether the newest run is shown, with its theatre and the figures of the paper.
const rests = `document.body.dataset.shown && document.body.dataset.staged && document.getElementById("theatre").theatre
  && (!document.querySelector("#figures > *") || document.querySelector("#figures > * > *"))
  && !document.querySelector(".stale")`;
for (const { name, width, height, dark, part, act } of JSON.parse(shots)) {
  await tell("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  await tell("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: dark ? "dark" : "light" }] });
  await until(rests);
  if (act) {
    await run(`delete document.body.dataset.staged; (() => { ${act} })()`);
    // An act that simulates anew is drawn within this time.
    await new Promise((resolve) => { setTimeout(resolve, 3000); });
  }
  await run(`scrollTo(0, ${part ? `document.getElementById("${part}").getBoundingClientRect().top + scrollY - 8` : 0})`);
  await new Promise((resolve) => { setTimeout(resolve, 300); });
  const { data } = await tell("Page.captureScreenshot", { format: "png" });
  drawn[name] = data;
  await run("document.body.dataset.staged ??= '1'");
}
close();
process.stdout.write(JSON.stringify(drawn), () => process.exit(0));
