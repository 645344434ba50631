// Loaded before a program (`node --import`): every socket on which it listens is bound to 127.0.0.1, whatever the program asks for, and its
// address is printed. So a program can be started with port 0.

import net from "node:net";

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...args) {
  const [where, ...rest] = args;
  const callback = rest.find((argument) => typeof argument === "function");
  const port = typeof where === "object" && where !== null ? where.port : where;
  if (Number.isNaN(Number(port ?? Number.NaN))) return listen.apply(this, args);
  this.once("listening", () => console.log(`listening on http://127.0.0.1:${this.address().port}/`));
  return listen.call(this, { port: Number(port), host: "127.0.0.1" }, callback);
};

// The package uses what Node 20 does not have yet.
Promise.withResolvers ??= function () {
  let settle;
  const promise = new Promise((resolve, reject) => {
    settle = { resolve, reject };
  });
  return { promise, ...settle };
};
