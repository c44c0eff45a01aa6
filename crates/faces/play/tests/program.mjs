// Answers requests with the program of a page: node program.mjs WORKER PROGRAM < REQUESTS, one of each a line.
// WORKER is the script that the page runs it with, so that the same code is tested.

import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";

const [worker, program] = await Promise.all(process.argv.slice(2).map((path) => readFile(path)));
const { start, call } = new Function("postMessage", `${worker}; return { start, call };`)(() => {});
const module = await WebAssembly.compile(gunzipSync(program));
await start(module);
let requests = "";
for await (const part of process.stdin) requests += part;
for (const request of requests.split("\n").filter(Boolean)) {
  try {
    console.log(JSON.stringify(call(JSON.parse(request))));
  } catch (error) {
    console.log(JSON.stringify({ trap: error.message }));
    await start(module);
  }
}
