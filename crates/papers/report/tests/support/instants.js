// What the theatre of a page shows at instants of each span of its first scene: their times in microseconds, the bytes of
// the queue and the congestion windows, a line each.
const { readFileSync } = require("node:fs");
const { inflateRawSync } = require("node:zlib");
const [, , script, page] = process.argv;
require(script);
const text = readFileSync(page, "utf8").split('id="scenes">')[1].split("</script>")[0];
const [{ data }] = JSON.parse(text);
const scene = tailwaterTheatre.unpack(JSON.parse(inflateRawSync(Buffer.from(data, "base64"))));
let seed = 12345;
const random = () => {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed / 2147483648;
};
for (const [from, to] of scene.spans) {
  const moments = scene.moments.filter((at) => at >= from && at <= to);
  let found = 0;
  // Between two events, since the page rounds times to nanoseconds.
  for (let tries = 0; found < 10 && tries < 10000; tries += 1) {
    const place = Math.floor(random() * (moments.length - 1));
    if (moments[place + 1] - moments[place] < 8) continue;
    const at = (moments[place] + moments[place + 1]) / 2;
    const now = tailwaterTheatre.stateAt(scene, at);
    if (!now.isKnown) throw new Error(`nothing is known at ${at}`);
    const windows = [...now.senders].map(([flow, state]) => `${scene.flows[flow][0]}=${state.cwnd}`);
    console.log([(scene.begin + at) / 1000, scene.port, now.queue, ...windows].join(" "));
    found += 1;
  }
}
