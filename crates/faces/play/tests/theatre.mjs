// Plays the theatre of a report in a browser without a window: node theatre.mjs FOLDER PAGE BROWSER [SWITCH...]
// It prints milliseconds, as JSON: until the first picture, and between frames at each speed, on and backwards.

import { open } from "./browser.mjs";

const [folder, page, ...browser] = process.argv.slice(2);
const { run, until, wrong, opened, close } = await open(folder, page, browser[0], browser.slice(1));
const told = {};
try {
  await until("document.getElementById('theatre')?.theatre");
  told.first_ms = Date.now() - opened;
  told.plays = await run(`(async () => {
    const { theatre } = document.getElementById("theatre");
    const plays = {};
    for (const speed of [5, 50, 500, 10000]) {
      theatre.speed = speed;
      const [gaps, work] = [[], []];
      for (const back of [false, true]) {
        theatre.back.checked = back;
        theatre.seek(back ? theatre.scene.end : 0);
        if (!theatre.playing) theatre.toggle();
        let last;
        const end = performance.now() + 2000;
        await new Promise((resolve) => {
          const frame = (now) => {
            if (last !== undefined) gaps.push(now - last);
            last = now;
            // A scene that is over begins anew.
            if (!theatre.playing) { theatre.seek(back ? theatre.scene.end : 0); theatre.toggle(); }
            if (performance.now() < end) requestAnimationFrame(frame);
            else resolve();
          };
          requestAnimationFrame(frame);
        });
        theatre.toggle();
      }
      gaps.sort((a, b) => a - b);
      const began = performance.now();
      for (let step = 0; step < 20; step += 1) { theatre.at = (theatre.scene.end * step) / 20; theatre.draw(); }
      const drawn = (performance.now() - began) / 20;
      const shown = performance.now();
      for (let step = 0; step < 20; step += 1) theatre.seek((theatre.scene.end * step) / 20);
      plays[speed] = { frames: gaps.length, median_ms: gaps[gaps.length >> 1], p95_ms: gaps[Math.floor(gaps.length * 0.95)],
        drawn_ms: drawn, shown_ms: (performance.now() - shown) / 20 };
    }
    return plays;
  })()`);
  const scene = "document.getElementById('theatre').theatre.scene";
  told.packets = await run(`${scene}.packets.length`);
  told.states = await run(`${scene}.states.length`);
  told.flows = await run(`${scene}.flows.length`);
} catch (error) {
  wrong.push(String(error));
}
close();
process.stdout.write(JSON.stringify({ ...told, wrong }), () => process.exit(0));
