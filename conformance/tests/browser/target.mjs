// A paymaster that is wrong in many ways, and that puts markup into everything it says.
import { createServer } from "node:http";

export const EVIL = "</script><img src=x onerror=window.hacked=1><b>";

/** Starts it; gives its URL, how often it was asked, and how to end it. */
export async function start() {
  let asked = 0;
  const server = createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      asked += 1;
      response.setHeader("content-type", "application/json");
      response.end(answer(Buffer.concat(parts).toString()));
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/rpc`,
    asked: () => asked,
    stop: () => { server.closeAllConnections(); server.close(); },
  };
}

function answer(body) {
  let call;
  try {
    call = JSON.parse(body);
  } catch {
    return JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32700, message: EVIL } });
  }
  const id = call?.id ?? null;
  if (call?.params?.[1]?.mode !== "SPONSORED") {
    return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32000, message: EVIL } });
  }
  return JSON.stringify({
    jsonrpc: "2.0",
    id: String(id),
    result: {
      MODE: EVIL,
      notes: Array.from({ length: 30 }, (_, number) => ({ number, about: `a note, and so long that it takes more than a line: ${number}` })),
      paymasterAndData: "0x",
      [EVIL]: [EVIL, { deep: EVIL }],
      preVerificationGas: 50000,
      verificationGasLimit: 100000,
    },
  });
}
