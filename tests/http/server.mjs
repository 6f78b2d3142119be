// Starts tests/http's server program (see http_server.c) and talks to it; or the real daemon with the
// same five accounts, where FOURHANDED names it.
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
    hook: 'https://hooks.example.org/', // and nobody goes there
    async settle() { /* nothing is sent */ },
    async stop() {
      child.stdin.end();
      return ended;
    },
    pid: child.pid,
  });
  return server;
}

// `fourhanded serve` with all its parts: the writer, the courier, the ticker.  What both have in
// common is url, metrics, users, hook (an address that webhooks may have, where nobody
// listens), settle() and stop().
export async function startDaemon() {
  const { startClub } = await import('../e2e/lib/daemon.mjs');
  // Its clocks stand: nothing is tried again meanwhile, so what nobody changes stays as it is.
  const club = await startClub({ at: '2027-01-04T08:00:00Z' });
  const users = [];
  for (const handle of ['anna', 'boris', 'clara', 'dan', 'olga'])
    users.push({ handle, token: (await club.player(handle, { operator: handle === 'olga' })).token });
  return {
    url: club.url,
    metrics: `${club.metrics}/metrics`,
    users,
    hook: 'https://127.0.0.1:1/',
    settle: () => club.settle(),
    async stop() {
      const { code, signal } = await club.stop();
      const log = club.log;
      await club.end();
      if (/level=(?:error|critical)/.test(log)) throw new Error(log.slice(0, 4000));
      return code ?? signal;
    },
  };
}
