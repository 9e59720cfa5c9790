// Starts the page.

import { App } from "./app.js";
import { parseQuery, queryText, QueryError } from "./query.js";
import { svgOf } from "./paint.js";
import { contrast, theme } from "./theme.js";
import { traceOf } from "./perfetto.js";

const assayApp = new App();

/** What tests and other pages may ask. */
globalThis.assay = {
  app: assayApp,
  ready: assayApp.start().catch((error) => {
    document.body.classList.add("failed");
    assayApp.banner(`The page could not be shown: ${error.message}`);
    throw error;
  }),
  dump: () => assayApp.dump(),
  svg: () => assayApp.header.svg(),
  parse(text) {
    try {
      return queryText(parseQuery(text));
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      return `error at ${error.at}: ${error.message}`;
    }
  },
  svgOf, contrast, theme, traceOf,
};
