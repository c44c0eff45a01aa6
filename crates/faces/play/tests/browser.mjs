// A browser without a window that shows a page. Chromium is spoken to over a pipe, so that no port is open.

import { spawn } from "node:child_process";

import { open as openFirefox } from "./firefox.mjs";

// Starts `browser`, with its profile in `folder`, and opens `page`. `run` evaluates an expression in the page, `until` waits
// for one to hold, `resize` makes the page so many pixels wide and high. `requested` are the addresses that the page asked
// for and `wrong` the exceptions in it, complete after `close`. Only Chromium has `tell`, which calls its DevTools protocol.
export const open = async (folder, page, browser, switches) => {
  const isFirefox = /firefox/.test(browser);
  const opened = await (isFirefox ? openFirefox : openChromium)(folder, page, browser, switches);
  const until = async (condition) => {
    const end = Date.now() + 60000;
    while (!await opened.run(`Boolean(${condition})`).catch(() => false)) {
      if (Date.now() > end) throw new Error(`never: ${condition}`);
      await new Promise((resolve) => { setTimeout(resolve, 10); });
    }
  };
  return { ...opened, until };
};

const openChromium = async (folder, page, browser, switches) => {
  const chromium = spawn(browser, [...switches, `--user-data-dir=${folder}/profile`, "--remote-debugging-pipe", "about:blank"],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  let heard = "";
  let last = 0;
  const waiting = new Map();
  const [requested, wrong] = [[], []];
  chromium.stdio[4].on("data", (data) => {
    heard += data;
    const messages = heard.split("\0");
    heard = messages.pop();
    for (const { id, result, error, method, params } of messages.map((message) => JSON.parse(message))) {
      if (id) waiting.get(id)(result ?? { error });
      else if (method === "Network.requestWillBeSent") requested.push(params.request.url);
      else if (method === "Runtime.exceptionThrown") wrong.push(params.exceptionDetails.exception?.description ?? "an exception");
    }
  });
  const send = (method, params = {}, sessionId = undefined) => new Promise((resolve) => {
    last += 1;
    waiting.set(last, resolve);
    chromium.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
  });
  const { targetInfos } = await send("Target.getTargets");
  const { targetId } = targetInfos.find(({ type }) => type === "page");
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const tell = (method, params) => send(method, params, sessionId);
  const run = async (expression) => {
    const { result, exceptionDetails } = await tell("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const resize = (width, height) => tell("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  await tell("Network.enable");
  await tell("Runtime.enable");
  const opened = Date.now();
  await tell("Page.navigate", { url: `file://${page}` });
  return { tell, run, resize, requested, wrong, opened, close: () => chromium.kill() };
};
