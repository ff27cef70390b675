// Loaded before another program with `node --require`: whoever listens without naming an address listens on loopback only.
// The official suite's mock servers and server-everything name none, which opens them to the network.
//
// The place is where Node itself ends up after it has sorted out what `listen` was given. Naming an address to `listen`
// would look it up first, and a program that asks for its port at once would find none.
'use strict';

const net = require('node:net');

const listen = net.Server.prototype._listen2;

net.Server.prototype._listen2 = function (address, port, addressType, ...rest) {
  const open = (address === null || address === undefined) && port >= 0;
  return open ? listen.call(this, '127.0.0.1', port, 4, ...rest) : listen.call(this, address, port, addressType, ...rest);
};
