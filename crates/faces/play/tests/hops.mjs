// Simulates in a page with its program, in a browser without a window: node hops.mjs FOLDER PAGE BROWSER [SWITCH...]
// It prints the links that packets cross and the milliseconds of each of nine runs, as JSON.

import { open } from "./browser.mjs";

const [folder, page, ...browser] = process.argv.slice(2);
const { run, until, wrong, close } = await open(folder, page, browser[0], browser.slice(1));
const told = {};
try {
  await until("document.body.dataset.checked");
  Object.assign(told, await run(`(async () => {
    const text = (id) => document.getElementById(id).textContent;
    const packed = Uint8Array.from(atob(text("program")), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
    const worker = new Worker(URL.createObjectURL(new Blob([text("worker")], { type: "text/javascript" })));
    const request = { run: JSON.parse(text("data")).scenarios[0].first };
    const ask = (message) => new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage(message);
    });
    const { answer } = await ask({ module, id: 0, request });
    const ms = [];
    for (let id = 1; id < 10; id += 1) {
      const began = performance.now();
      await ask({ id, request });
      ms.push(performance.now() - began);
    }
    return { hops: answer.hops, ms: ms.sort((a, b) => a - b) };
  })()`));
} catch (error) {
  wrong.push(String(error));
}
await close();
process.stdout.write(JSON.stringify({ ...told, wrong }), () => process.exit(0));
