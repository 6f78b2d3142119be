// docs/first-round.sh does what docs/api.md says it does.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { source } from './spec.mjs';
import { startServer } from './server.mjs';

test('curl alone plays the first round of a game', async () => {
  const server = await startServer();
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'fh-round-'));
  const logins = path.join(dir, 'logins.txt');
  fs.writeFileSync(logins, server.users.slice(0, 4).map((u) => `${u.handle} ${server.password} x\n`).join(''));
  const out = execFileSync(path.join(source, 'docs/first-round.sh'), [server.url, logins], { encoding: 'utf8' });
  assert.match(out, /"legal":false/);
  assert.match(out, /anna: e3\n {2}boris: c5\n {2}clara: e12\n {2}dan: l5\n/);
  assert.match(out, /state_mismatch/);
  assert.match(out, /1\. White e3 \.\. Red c5 \.\. Yellow e12 \.\. Black l5/);
  assert.match(out, /17 turn/);
  fs.rmSync(dir, { recursive: true });
  assert.equal(await server.stop(), 0);
});
