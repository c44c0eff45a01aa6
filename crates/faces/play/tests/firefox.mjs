// Firefox without a window that shows a page. It is spoken to by Marionette, on a port of this machine that it chooses itself.

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";

// The profile asks nobody for anything, and resolves no host name.
const PREFERENCES = {
  "marionette.port": 0,
  "app.update.enabled": false,
  "browser.shell.checkDefaultBrowser": false,
  "datareporting.policy.dataSubmissionEnabled": false,
  "network.captive-portal-service.enabled": false,
  "network.connectivity-service.enabled": false,
  "network.dns.forceResolve": "0.0.0.0",
  "toolkit.telemetry.server": "",
  "ui.prefersReducedMotion": 1,
};
// Requests of pages, and scripts that stop: the part of Firefox that is no page sees both.
const WATCH = `
  const watched = { requested: [] };
  window.watched = watched;
  watched.observer = {
    observe: (channel) => {
      const { loadInfo, URI } = channel.QueryInterface(Ci.nsIChannel);
      if (!loadInfo.loadingPrincipal?.isSystemPrincipal) watched.requested.push(URI.spec);
    },
  };
  Services.obs.addObserver(watched.observer, "http-on-opening-request");
  Services.console.reset();`;
const SEEN = `
  const messages = Services.console.getMessageArray().filter((one) => one instanceof Ci.nsIScriptError);
  const errors = messages.filter((one) => !(one.flags & Ci.nsIScriptError.warningFlag) && one.category === "content javascript");
  return { requested: window.watched.requested, wrong: errors.map((one) => one.errorMessage) };`;

// See `open` in browser.mjs.
export const open = async (folder, page, browser, switches) => {
  const profile = `${folder}/firefox`;
  rmSync(profile, { recursive: true, force: true });
  mkdirSync(profile, { recursive: true });
  const lines = Object.entries(PREFERENCES).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`);
  writeFileSync(`${profile}/user.js`, lines.join("\n"));
  const firefox = spawn(browser, [...switches, "--profile", profile, "--marionette", "--remote-allow-system-access", "about:blank"],
    { stdio: "ignore" });
  const port = await chosen(`${profile}/MarionetteActivePort`);
  const [requested, wrong] = [[], []];
  const send = await marionette(port);
  await send("WebDriver:NewSession", { capabilities: {} });
  await send("WebDriver:SetTimeouts", { script: 120000, pageLoad: 60000 });
  const execute = async (command, script) => (await send(`WebDriver:${command}`, { script, args: [] })).value;
  const inside = async (script) => {
    await send("Marionette:SetContext", { value: "chrome" });
    const value = await execute("ExecuteScript", script);
    await send("Marionette:SetContext", { value: "content" });
    return value;
  };
  await inside(WATCH);
  const run = async (expression) => {
    const script = `const [told] = arguments;
      (async () => (${expression}))().then((value) => told({ value }), (error) => told({ error: String(error) }));`;
    const { value, error } = await execute("ExecuteAsyncScript", script);
    if (error) throw new Error(error);
    return value;
  };
  const resize = (width) => inside(`const { style } = gBrowser.selectedBrowser;
    style.minWidth = style.maxWidth = "${width}px";`);
  const close = async () => {
    const seen = await inside(SEEN);
    requested.push(...seen.requested);
    wrong.push(...seen.wrong);
    firefox.kill();
  };
  const opened = Date.now();
  await send("WebDriver:Navigate", { url: `file://${page}` });
  return { run, resize, requested, wrong, opened, close };
};

// The port that a file names once Firefox listens.
const chosen = async (file) => {
  for (const end = Date.now() + 60000; ;) {
    try {
      const port = Number(readFileSync(file, "utf8"));
      if (port > 0) return port;
    } catch (error) {
      if (Date.now() > end) throw new Error(`Firefox does not listen: ${error.message}`);
    }
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
};

// Messages are JSON behind their length. An answer has the number of its command.
const marionette = async (port) => {
  const socket = connect(port, "127.0.0.1");
  let heard = Buffer.alloc(0);
  let last = 0;
  const waiting = new Map();
  const greeted = new Promise((resolve) => { waiting.set("greeting", resolve); });
  const hear = (message) => {
    if (!Array.isArray(message)) {
      waiting.get("greeting")();
      return;
    }
    const [, id, error, result] = message;
    waiting.get(id)(error ? Promise.reject(new Error(error.message)) : result);
  };
  socket.on("data", (data) => {
    heard = Buffer.concat([heard, data]);
    for (;;) {
      const colon = heard.indexOf(":");
      const end = colon + 1 + Number(heard.subarray(0, colon));
      if (colon < 0 || heard.length < end) return;
      const message = JSON.parse(heard.subarray(colon + 1, end));
      heard = heard.subarray(end);
      hear(message);
    }
  });
  await greeted;
  return (command, parameters) => new Promise((resolve) => {
    last += 1;
    waiting.set(last, resolve);
    const text = JSON.stringify([0, last, command, parameters]);
    socket.write(`${Buffer.byteLength(text)}:${text}`);
  });
};
