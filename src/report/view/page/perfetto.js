// Sends spans to Perfetto's page, on a click only, since that page comes from the network.

const PERFETTO = "https://ui.perfetto.dev";
const MOST_TRIES = 100;

/** @param {import("./app.js").App} app @param {any} spans @param {string} title */
export function openInPerfetto(app, spans, title) {
  const page = open(PERFETTO);
  if (!page) {
    app.banner("The browser did not open a page for Perfetto");
    return;
  }
  const trace = new TextEncoder().encode(traceOf(spans)).buffer;
  let tries = 0;
  const timer = setInterval(() => {
    if (++tries > MOST_TRIES) {
      clearInterval(timer);
      app.banner("Perfetto did not answer");
    } else page.postMessage("PING", PERFETTO);
  }, 100);
  const heard = (event) => {
    if (event.origin !== PERFETTO || event.data !== "PONG") return;
    clearInterval(timer);
    removeEventListener("message", heard);
    page.postMessage({ perfetto: { buffer: trace, title } }, PERFETTO);
  };
  addEventListener("message", heard);
}

/** Spans as Chrome's trace events: one thread a lane. */
export function traceOf(spans) {
  const events = spans.lanes.map((name, lane) => ({ ph: "M", pid: 1, tid: lane + 1, name: "thread_name", args: { name } }));
  for (let i = 0; i < spans.count; i++) {
    events.push({ ph: "X", pid: 1, tid: spans.lane[i] + 1, ts: spans.start[i], dur: spans.length[i], name: spans.text.at(i) });
  }
  return JSON.stringify({ traceEvents: events });
}
