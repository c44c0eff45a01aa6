// Runs a WebAssembly program that Cargo built: node wasi.mjs FOLDER PROGRAM [ARGUMENT...]
// The program sees the files below FOLDER alone.

import { readFile } from 'node:fs/promises';
import { env } from 'node:process';
import { WASI } from 'node:wasi';

const [folder, program, ...args] = process.argv.slice(2);
const wasi = new WASI({
  version: 'preview1',
  args: [program, ...args],
  // Snapshots lie below the folder; the program can start no Cargo to ask for it.
  env: { ...env, INSTA_WORKSPACE_ROOT: folder },
  preopens: { [folder]: folder },
});
const module = await WebAssembly.compile(await readFile(program));
const instance = await WebAssembly.instantiate(module, wasi.getImportObject());
process.exitCode = wasi.start(instance);
