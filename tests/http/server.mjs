// Starts tests/http's server program (see http_server.c) and talks to it.
import { spawn } from 'node:child_process';
import readline from 'node:readline';

export async function startServer(program = process.env.FH_HTTP_SERVER) {
  if (!program) throw new Error('FH_HTTP_SERVER must name the program http_server');
  const child = spawn(program, [], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const server = {};
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the server has ended');
    return value;
  };
  const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
  Object.assign(server, JSON.parse(await next()), {
    async ask(line) {
      child.stdin.write(`${line}\n`);
      return next();
    },
    async restart() {
      Object.assign(server, JSON.parse(await server.ask('restart')));
    },
    async gamesPerUser(n) {
      Object.assign(server, JSON.parse(await server.ask(`games ${n}`)));
    },
    async stop() {
      child.stdin.end();
      return ended;
    },
    pid: child.pid,
  });
  return server;
}
