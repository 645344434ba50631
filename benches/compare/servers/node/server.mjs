// A Node server that validates requests with ajv against our schemas and answers a constant result, with the request's id:
// `node server.mjs ANSWER_FILE`.

import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";

import Ajv from "ajv/dist/2020.js";

const FOLDERS = ["shared", "fee-quote"].map((name) => new URL(`../../../../schemas/${name}/documents/`, import.meta.url));
const BASE = "https://paymaster.example/schemas/";

const ajv = new Ajv({ strict: false, validateFormats: false });
for (const folder of FOLDERS) for (const name of readdirSync(folder)) ajv.addSchema(JSON.parse(readFileSync(new URL(name, folder), "utf8")));
const validator = (name) => ajv.getSchema(`${BASE}${name}.schema.json`);
const VALIDATORS = {
  "pm_getFeeQuoteOrData SPONSORED": validator("quote-sponsored-request"),
  "pm_getFeeQuoteOrData ERC20": validator("quote-erc20-request"),
  "pm_sponsorUserOperation SPONSORED": validator("sponsor-sponsored-request"),
  "pm_sponsorUserOperation ERC20": validator("sponsor-erc20-request"),
};
const { result } = JSON.parse(readFileSync(process.argv[2], "utf8"));

function answer(text) {
  const request = JSON.parse(text);
  const validate = VALIDATORS[`${request.method} ${request.params?.[1]?.mode}`];
  if (!validate?.(request)) {
    return { jsonrpc: "2.0", id: request.id, error: { code: -32602, message: "invalid params", data: validate?.errors } };
  }
  return { jsonrpc: "2.0", id: request.id, result };
}

const server = createServer((request, response) => {
  const parts = [];
  request.on("data", (part) => parts.push(part));
  request.on("end", () => {
    const body = JSON.stringify(answer(Buffer.concat(parts).toString()));
    response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
