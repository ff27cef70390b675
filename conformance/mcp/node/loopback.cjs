// Loaded before another program with `node --require`: whoever listens without naming an address listens on loopback only.
// The official suite's mock servers and server-everything name none, which opens them to the network.
'use strict';

const net = require('node:net');

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function (...args) {
  const [first, second] = args;
  if (typeof first === 'object' && first !== null) {
    const named = first.path !== undefined || first.fd !== undefined || first.host !== undefined || first._handle !== undefined;
    return listen.apply(this, named ? args : [{ ...first, host: '127.0.0.1' }, ...args.slice(1)]);
  }
  const port = typeof first === 'number' || (typeof first === 'string' && /^\d+$/.test(first)) || first === undefined;
  if (port && typeof second !== 'string') {
    return listen.apply(this, [first ?? 0, '127.0.0.1', ...args.slice(1)]);
  }
  return listen.apply(this, args);
};
