// Keeps the clients off the network: they may talk to this machine, and to nothing else.
//
// The 4.x clients fetch a catalogue of error texts from the web when an answer is not 2xx. That one request is answered here,
// with a catalogue of nothing; the client then shows the service's own message. Any other request to elsewhere fails the script.

const CATALOGUE = "https://raw.githubusercontent.com/bcnmy/aa-errors/main/docs/errors.json";

/** What was asked of elsewhere and refused. */
export const refused = [];
/** How often the catalogue was asked for. */
export const asked = { catalogue: 0 };

/** Results of JSON-RPC methods that are answered here: services' own methods, which a client asks for and the server does not have. */
export const answers = {};

const realFetch = globalThis.fetch;

globalThis.fetch = async (input, init) => {
  const url = String(input instanceof Request ? input.url : input);
  if (url === CATALOGUE) {
    asked.catalogue += 1;
    return new Response("[]", { headers: { "content-type": "application/json" } });
  }
  const { id, method } = typeof init?.body === "string" ? JSON.parse(init.body) : {};
  if (Object.hasOwn(answers, method)) return Response.json({ jsonrpc: "2.0", id, result: answers[method] });
  if (new URL(url).hostname !== "127.0.0.1") {
    refused.push(url);
    throw new Error(`this script may not ask ${url}`);
  }
  return realFetch(input, init);
};
