// Plays the theatre of a report and leaves its frames in the page, as PNG in base 64.
addEventListener("load", async () => {
  const [SHOTS, MILLISECONDS] = [200, 100];
  const page = document.getElementById("theatre");
  while (!page.theatre) await new Promise((resolve) => setTimeout(resolve, 10));
  const { theatre } = page;
  const { canvas } = theatre;
  Object.assign(canvas.style, { width: "760px", height: "300px" });
  // Until everything has come of the first windows, then from the first timeout on.
  const first = SHOTS * 0.6;
  theatre.show = () => {};
  theatre.speed = 50;
  theatre.at = Math.max(theatre.scene.loss - 150000, 0);
  const frames = [];
  for (let frame = 0; frame < SHOTS; frame += 1) {
    if (frame === first && theatre.scene.timeout) theatre.at = theatre.scene.timeout - 1e5;
    theatre.playing = true;
    theatre.advance(MILLISECONDS);
    frames.push(canvas.toDataURL("image/png").split(",")[1]);
  }
  document.body.innerHTML = `<pre id="frames">${frames.join("\n")}</pre>`;
});
