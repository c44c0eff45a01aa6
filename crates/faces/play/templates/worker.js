// The program in a thread of its own: a request in, an answer out. The program has no files and no clock; what it says
// on standard error is kept for whoever asks why it stopped.
"use strict";
let wasm;
let said = "";

// Numbers of errors (WASI, snapshot preview 1): the program has no such function, and no such file.
const [NO_SUCH_THING, NO_SUCH_FILE] = [52, 8];
const host = {
  clock_time_get: (_clock, _precision, at) => { new DataView(wasm.memory.buffer).setBigUint64(at, 0n, true); return 0; },
  random_get: (at, length) => { new Uint8Array(wasm.memory.buffer, at, length).fill(0); return 0; },
  environ_sizes_get: (count, size) => {
    const view = new DataView(wasm.memory.buffer);
    view.setUint32(count, 0, true);
    view.setUint32(size, 0, true);
    return 0;
  },
  environ_get: () => 0,
  fd_write: (_file, parts, count, written) => {
    const view = new DataView(wasm.memory.buffer);
    let all = 0;
    for (let part = 0; part < count; part += 1) {
      const [at, length] = [view.getUint32(parts + 8 * part, true), view.getUint32(parts + 8 * part + 4, true)];
      said += new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, at, length));
      all += length;
    }
    view.setUint32(written, all, true);
    return 0;
  },
  // Whoever asks for a file first learns which folders there are: none. Another error would end the program.
  fd_prestat_get: () => NO_SUCH_FILE,
  proc_exit: (status) => { throw new Error(`it ended with status ${status}`); },
};

const start = async (module) => {
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = host[name] ?? (() => NO_SUCH_THING);
  }
  wasm = (await WebAssembly.instantiate(module, imports)).exports;
  wasm._initialize?.();
};

const call = (request) => {
  const bytes = new TextEncoder().encode(JSON.stringify(request));
  new Uint8Array(wasm.memory.buffer, wasm.alloc(bytes.length), bytes.length).set(bytes);
  const at = wasm.call();
  return JSON.parse(new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, at, wasm.length())));
};

// The first request may come before the program has started.
let started;
globalThis.onmessage = async ({ data: { module, id, request } }) => {
  try {
    if (module) started = start(module);
    await started;
    if (request) postMessage({ id, answer: call(request) });
  } catch (error) {
    postMessage({ id, trap: `${said.trim() || error.message}` });
  }
};
