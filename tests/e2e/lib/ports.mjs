/*
 * e2e/lib/ports.mjs - a port for a program that cannot be given port 0.
 *
 * It lies below those that the system hands out, to connections as to whoever asks for any: none of
 * what else goes on takes it between the look here and the program's start, and who knocks at it
 * again and again until the program listens is never connected to himself.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';

const LOWEST = 10240;
const given = new Set(); /* by this process */

const isFree = (port) => new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
});

export async function freePort() {
    const end = Number(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/)[0]);
    if (end < LOWEST + 1000) throw new Error(`too few ports are left below ${end}, where net.ipv4.ip_local_port_range begins`);
    for (;;) {
        const port = LOWEST + Math.floor(Math.random() * (end - LOWEST));
        if (given.has(port)) continue;
        given.add(port);
        if (await isFree(port)) return port;
    }
}
