// Answers requests with the program of a page: node program.mjs WORKER PROGRAM < REQUESTS, one of each a line.
// WORKER is the script that the page runs it with, so that the same code is tested. The request "memory" asks for the most
// bytes that this process took so far.

import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { gunzipSync } from "node:zlib";

const [worker, program] = await Promise.all(process.argv.slice(2).map((path) => readFile(path)));
const { start, call } = new Function("postMessage", `${worker}; return { start, call };`)(() => {});
const module = await WebAssembly.compile(gunzipSync(program));
await start(module);
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  try {
    const memory = () => process.resourceUsage().maxRSS * 1024;
    console.log(JSON.stringify(request === "memory" ? memory() : call(request)));
  } catch (error) {
    console.log(JSON.stringify({ trap: error.message }));
    await start(module);
  }
  // Lines that have come already would keep answers from leaving.
  await new Promise((resolve) => { setImmediate(resolve); });
}
