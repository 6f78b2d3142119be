// The API from outside, every answer held against web/openapi.yaml.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { Client, Spec } from './spec.mjs';
import { startServer } from './server.mjs';

const spec = new Spec();
let server, anna, boris, clara, dan, olga, nobody;

before(async () => {
  server = await startServer();
  [anna, boris, clara, dan, olga] = server.users.map((u) => new Client(spec, server.url, u.token));
  nobody = new Client(spec, server.url, null);
});

after(async () => {
  const metrics = await (await fetch(server.metrics)).text();
  assert.equal(await server.stop(), 0);
  assert.match(metrics, /^fourhanded_http_undeclared_total 0$/m);
});

const problem = (answer, status, code) => {
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.json.code, code, answer.text);
  return answer;
};
const ok = (answer, status = 200) => {
  assert.equal(answer.status, status, answer.text);
  return answer;
};

async function newGame(variant = 'verney', more = {}) {
  const made = ok(await anna.post('/api/v1/games', {
    variant,
    seats: { south: { me: true }, west: { handle: 'boris' }, north: { handle: 'clara' }, east: { open: true } },
    ...more,
  }), 201);
  const id = made.json.id;
  ok(await boris.post(`/api/v1/games/${id}/accept`, {}));
  ok(await clara.post(`/api/v1/games/${id}/accept`, {}));
  return (await dan.post(`/api/v1/games/${id}/join`, { seats: ['east'] })).json;
}

test('the table of routes is the description, to the last status', () => {
  const table = execFileSync(process.env.FH_HTTP_SERVER, ['--routes'], { encoding: 'utf8' })
    .trim().split('\n').sort();
  const described = spec.operations
    .map((o) => [o.method, o.template, ...Object.keys(o.operation.responses).sort()].join(' ')).sort();
  assert.deepEqual(table, described);
});

test('every example of a request or problem fits its schema', () => {
  let n = 0;
  for (const operation of spec.operations) {
    const content = operation.operation.requestBody?.content?.['application/json'];
    if (!content?.example) continue;
    const validate = spec.validator(content.schema, false);
    assert.ok(validate(content.example), `${operation.id}: ${JSON.stringify(validate.errors)}`);
    n++;
  }
  for (const response of Object.values(spec.document.components.responses)) {
    for (const content of Object.values(response.content ?? {})) {
      if (content.example) assert.ok(spec.validator(content.schema)(content.example));
    }
  }
  assert.ok(n > 20);
});

test('health, readiness, the service document, words and problems answer to anybody', async () => {
  ok(await nobody.get('/healthz'));
  ok(await nobody.get('/readyz'));
  const service = ok(await nobody.get('/api/v1')).json;
  assert.deepEqual(service.variants.map((v) => v.squares.length), [160, 192, 160]);
  assert.equal(service.variants[1].walls.length, 8);
  for (const language of service.languages) {
    const words = ok(await nobody.get(`/api/v1/words/${language}`)).json;
    assert.ok(Object.keys(words.texts).length > 100);
  }
  problem(await nobody.get('/api/v1/words/xx'), 404, 'not_found');
  assert.equal(ok(await nobody.get('/problems/illegal_move')).json.status, 422);
  assert.match(ok(await nobody.get('/api/v1/openapi.yaml')).text, /^openapi: 3\.1/);
});

test('a game goes from its making to its first moves', async () => {
  const open = ok(await anna.post('/api/v1/games', {
    variant: 'verney', house_rules: { queens: 'left' },
    seats: { south: { me: true }, west: { handle: 'boris' }, north: { open: true }, east: { address: 'dan@example.org' } },
  }), 201);
  const id = open.json.id;
  assert.equal(open.headers.get('location'), `/api/v1/games/${id}`);
  assert.doesNotMatch(open.text, /dan@example\.org/);
  assert.deepEqual(open.json.seats.map((s) => s.status), ['taken', 'invited', 'open', 'invited']);
  assert.deepEqual((await dan.get(`/api/v1/games/${id}`)).json.you.invited, ['east']);
  problem(await clara.post(`/api/v1/games/${id}/accept`), 403, 'forbidden');
  ok(await boris.post(`/api/v1/games/${id}/decline`));
  ok(await anna.post(`/api/v1/games/${id}/invitations`, { seat: 'west', handle: 'olga' }));
  problem(await anna.post(`/api/v1/games/${id}/invitations`, { seat: 'west', handle: 'nobody-of-that-name' }), 404, 'no_such_user');
  ok(await anna.send('DELETE', `/api/v1/games/${id}/invitations/west`));
  ok(await anna.post(`/api/v1/games/${id}/invitations`, { seat: 'west', handle: 'boris' }));
  ok(await boris.post(`/api/v1/games/${id}/accept`));
  ok(await clara.post(`/api/v1/games/${id}/join`, { seats: ['north'] }));
  ok(await clara.post(`/api/v1/games/${id}/leave`));
  problem(await clara.post(`/api/v1/games/${id}/join`, { seats: ['west'] }), 409, 'game_full');
  ok(await clara.post(`/api/v1/games/${id}/join`, { seats: ['north'] }));
  const started = ok(await dan.post(`/api/v1/games/${id}/accept`)).json;
  assert.equal(started.state, 'running');
  assert.equal(started.turn.seat, 'south');
  assert.equal(started.turn.deadline, '2026-12-15T00:00:00.000Z');
  assert.equal(started.turn.explanation[0].kind, 'start');

  let number = started.state_number;
  problem(await boris.post(`/api/v1/games/${id}/moves`, { move: 'b5c5', state_number: number }), 409, 'not_your_turn');
  problem(await anna.post(`/api/v1/games/${id}/moves`, { move: 'e2e3', state_number: number - 1 }), 409, 'state_mismatch');
  const refused = problem(await anna.post(`/api/v1/games/${id}/moves`, { move: 'e2e4', state_number: number }), 422, 'illegal_move');
  assert.equal(refused.json.verdict, 'pawn-no-double');
  problem(await anna.post(`/api/v1/games/${id}/moves`, { move: 'hello', state_number: number }), 422, 'unreadable_move');
  problem(await anna.post(`/api/v1/games/${id}/moves`, { move: 'e2e3', state_number: number, position_hash: '0000000000000000' }), 409, 'state_mismatch');
  problem(await nobody.post(`/api/v1/games/${id}/moves`, { move: 'e2e3', state_number: number }), 401, 'login_needed');
  problem(await olga.post(`/api/v1/games/${id}/moves`, { move: 'e2e3', state_number: number }), 403, 'not_your_game');
  const before = (await anna.get(`/api/v1/games/${id}`)).json;
  const moved = ok(await anna.post(`/api/v1/games/${id}/moves`, {
    move: 'e2e3', state_number: number, ply: 0, position_hash: before.position_hash,
  }), 201);
  assert.equal(moved.json.move.move, 'e2e3');
  assert.equal(moved.json.game.ply, 1);
  // The ETag of the answer is that of the game itself, for the same viewer.
  const again = await anna.get(`/api/v1/games/${id}`, { headers: { 'if-none-match': moved.headers.get('etag') } });
  assert.equal(again.status, 304);
  const stale = problem(await anna.post(`/api/v1/games/${id}/moves`, { move: 'f2f3', state_number: number }), 409, 'state_mismatch');
  assert.equal(stale.json.game.ply, 1);
  const players = [boris, clara, dan];
  for (const player of players) {
    const game = (await player.get(`/api/v1/games/${id}`)).json;
    const legal = ok(await player.get(`/api/v1/games/${id}/legal`)).json;
    assert.equal(legal.moves.length, 12);
    ok(await player.post(`/api/v1/games/${id}/moves`, { move: legal.moves[0], state_number: game.state_number }), 201);
  }
  const moves = ok(await nobody.get(`/api/v1/games/${id}/moves`)).json;
  assert.deepEqual(moves.items.map((m) => m.by), ['anna', 'boris', 'clara', 'dan']);
  const page = ok(await nobody.get(`/api/v1/games/${id}/moves?since=1&limit=2`)).json;
  assert.deepEqual([page.items.map((m) => m.ply), page.next], [[2, 3], 3]);
});

test('why a move is not legal is told, and what it would be understood as', async () => {
  const game = await newGame();
  const asked = async (move) => (await nobody.get(`/api/v1/games/${game.id}/legal?move=${encodeURIComponent(move)}`)).json.asked;
  assert.deepEqual(await asked('Nf3').then((a) => [a.legal, a.move, a.verdict]), [true, 'e1f3', 'ok']);
  assert.deepEqual(await asked('Nf4').then((a) => [a.legal, a.move, a.verdict]), [false, null, 'none']);
  assert.deepEqual(await asked('e2-e3').then((a) => [a.legal, a.move, a.verdict]), [true, 'e2e3', 'ok']);
  assert.equal((await asked('d1d5')).verdict, 'way-blocked');
  assert.ok(game.turn);
  const from = ok(await nobody.get(`/api/v1/games/${game.id}/legal?from=e1`)).json;
  assert.deepEqual(from.moves, ['e1d3', 'e1f3']);
});

test('a fortress game places its reserve unseen', async () => {
  const game = await newGame('fortress', { reserve: 'chosen' });
  assert.equal(game.state, 'placing');
  assert.ok(game.placing_deadline);
  const path = `/api/v1/games/${game.id}/placement`;
  const empty = ok(await anna.get(path)).json;
  assert.equal(empty.seats[0].squares.length, 16);
  problem(await anna.post(path, { rook: 'a1', bishop: 'p4', knight: 'n3' }), 422, 'bad_placement');
  ok(await anna.post(path, { rook: 'p4', knight: 'n3', bishop: 'o1' }));
  assert.equal((await anna.get(path)).json.seats[0].rook, 'p4');
  const seen = (await boris.get(path)).json.seats[0];
  assert.deepEqual([seen.placed, seen.rook], [true, null]);
  ok(await boris.post(path, { rook: 'd1', knight: 'c3', bishop: 'a2' }));
  ok(await clara.post(path, { rook: 'a13', knight: 'c14', bishop: 'b16' }));
  const started = ok(await dan.post(path, { rook: 'm16', knight: 'n14', bishop: 'p15' })).json;
  assert.equal(started.state, 'running');
  assert.equal((await boris.get(path)).json.seats[0].rook, 'p4');
  problem(await anna.get(`/api/v1/games/${(await newGame()).id}/placement`), 409, 'game_not_running');
});

test('positions, boards, PGN4 and plain text of a game, now and earlier', async () => {
  const game = await newGame('teams');
  let state = game;
  for (const [player, move] of [[anna, 'e2e4'], [boris, 'b5d5'], [clara, 'e13e11'], [dan, 'm5k5']]) {
    state = ok(await player.post(`/api/v1/games/${game.id}/moves`, { move, state_number: state.state_number }), 201).json.game;
  }
  const path = `/api/v1/games/${game.id}`;
  const now = ok(await nobody.get(`${path}/position`)).json;
  assert.deepEqual([now.ply, now.position, now.state_number], [4, state.position, state.state_number]);
  const start = ok(await nobody.get(`${path}/position?ply=0`)).json;
  assert.equal(start.position, game.position);
  assert.equal(start.hash, game.position_hash);
  problem(await nobody.get(`${path}/position?ply=5`), 404, 'not_found');
  for (const seat of ['south', 'west', 'north', 'east']) {
    assert.match(ok(await nobody.get(`${path}/board.txt?seat=${seat}`)).text, /rK/);
    assert.match(ok(await nobody.get(`${path}/board.svg?seat=${seat}&ply=2`)).text, /^<svg|^<\?xml/);
  }
  const png = ok(await nobody.get(`${path}/board.png?width=240`));
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  const pgn = ok(await nobody.get(`${path}/game.pgn4`)).text;
  assert.match(pgn, /\[Variant "Teams"\]/);
  assert.match(pgn, /1\. e2-e4/);
  assert.match(ok(await nobody.get(`${path}/game.txt`)).text, /1\./);
  problem(await nobody.get(`${path}/board.png?width=9`), 400, 'bad_field');
  problem(await nobody.get(`${path}/board.svg?seat=up`), 400, 'bad_field');
});

test('resignation, draws and the organiser', async () => {
  const game = await newGame();
  const path = `/api/v1/games/${game.id}`;
  const act = (client, what, more = {}) => client.post(`${path}/${what}`, { state_number: game.state_number, ...more });
  problem(await act(boris, 'draw/accept'), 409, 'no_draw_offered');
  const offered = ok(await act(anna, 'draw/offer')).json;
  assert.deepEqual(offered.draw_offer.accepted, ['south']);
  ok(await act(boris, 'draw/accept'));
  assert.equal(ok(await act(clara, 'draw/decline')).json.draw_offer, null);
  problem(await act(anna, 'draw/claim'), 422, 'no_claim');
  problem(await boris.post(`${path}/pause`, {}), 403, 'forbidden');
  assert.equal(ok(await anna.post(`${path}/pause`, { note: 'holidays' })).json.paused, true);
  problem(await anna.post(`${path}/moves`, { move: 'e2e3', state_number: game.state_number }), 409, 'game_paused');
  ok(await anna.post(`${path}/resume`, {}));
  const credited = ok(await anna.post(`${path}/credit`, { amount_ms: 86400000, note: 'a letter was lost' })).json;
  assert.equal(Date.parse(credited.turn.deadline) - Date.parse(game.turn.deadline), 86400000);
  const resigned = ok(await act(anna, 'resign', { seat: 'south' })).json;
  assert.equal(resigned.seats[0].left, 'resigned');
  problem(await act(clara, 'resign'), 409, 'state_mismatch');
  problem(await anna.post(`${path}/adjudicate`, { result: '1-0' }), 403, 'forbidden');
  const done = ok(await olga.post(`${path}/adjudicate`, { result: '1/2-1/2', note: 'both asked' })).json;
  assert.deepEqual([done.state, done.result.score, done.result.cause], ['finished', '1/2-1/2', 'adjudication']);
  problem(await anna.post(`${path}/abort`, {}), 409, 'game_not_running');
  const other = await newGame();
  const aborted = ok(await anna.post(`/api/v1/games/${other.id}/abort`, { note: 'two fell ill' })).json;
  assert.deepEqual([aborted.state, aborted.result, aborted.cause], ['aborted', null, 'organiser']);
});

test('the same key and request get the same answer, another request 422', async () => {
  const game = await newGame();
  const path = `/api/v1/games/${game.id}/moves`;
  const headers = { 'idempotency-key': '"move-1"' };
  const body = { move: 'e2e3', state_number: game.state_number };
  const first = ok(await anna.post(path, body, { headers }), 201);
  const second = ok(await anna.post(path, body, { headers: { 'idempotency-key': 'move-1' } }), 201);
  assert.equal(second.text, first.text);
  assert.equal(second.headers.get('etag'), first.headers.get('etag'));
  problem(await anna.post(path, { ...body, move: 'f2f3' }, { headers }), 422, 'idempotency_key_reused');
  // A refusal is remembered too, and another player's key is his own.
  const refused = problem(await boris.post(path, body, { headers }), 409, 'state_mismatch');
  const number = first.json.game.state_number;
  assert.equal((await boris.post(path, body, { headers })).text, refused.text);
  ok(await boris.post(path, { move: 'b5c5', state_number: number }), 201);
  problem(await anna.post(path, body, { headers: { 'idempotency-key': 'a b' } }), 400, 'bad_request');
  const hook = { url: 'https://hooks.example.org/x' };
  const made = ok(await anna.post('/api/v1/me/webhooks', hook, { headers: { 'idempotency-key': 'hook' } }), 201);
  const repeated = ok(await anna.post('/api/v1/me/webhooks', hook, { headers: { 'idempotency-key': 'hook' } }), 201);
  assert.equal(repeated.json.secret, made.json.secret);
});

test('whatever has an ETag answers 304 to it', async () => {
  const game = await newGame();
  const path = `/api/v1/games/${game.id}`;
  for (const target of ['/api/v1', '/api/v1/words/en', '/api/v1/openapi.yaml', '/problems/busy', '/api/v1/me',
    '/api/v1/me/notices', '/api/v1/me/sessions', '/api/v1/me/tokens', '/api/v1/me/webhooks', '/api/v1/users/anna',
    '/api/v1/games', path, `${path}/moves`, `${path}/legal`, `${path}/position`, `${path}/board.txt`,
    `${path}/board.svg`, `${path}/board.png`, `${path}/game.pgn4`, `${path}/game.txt`]) {
    const answer = ok(await anna.get(target));
    const etag = answer.headers.get('etag');
    assert.ok(etag, target);
    const unchanged = await anna.get(target, { headers: { 'if-none-match': `"other", W/${etag}` } });
    if (target !== '/api/v1/me/tokens') assert.equal(unchanged.status, 304, target);
    assert.equal(unchanged.headers.get('etag') ?? etag, etag);
  }
});

test('lists filter and page', async () => {
  const ids = [];
  for (let i = 0; i < 3; i++) ids.push((await newGame('fortress')).id);
  const all = [];
  let target = '/api/v1/games?player=boris&variant=fortress&state=running&limit=1';
  for (;;) {
    const page = ok(await nobody.get(target));
    all.push(...page.json.items);
    if (!page.json.next) break;
    assert.match(page.headers.get('link'), /rel="next"/);
    target = page.headers.get('link').match(/<([^>]+)>/)[1];
  }
  for (const id of ids) assert.ok(all.some((g) => g.id === id));
  assert.deepEqual(all.map((g) => g.variant), all.map(() => 'fortress'));
  const turn = ok(await anna.get('/api/v1/games?turn=me&limit=100')).json.items;
  assert.ok(turn.length >= 3);
  assert.ok(turn.every((g) => g.turn.player.handle === 'anna'));
  problem(await nobody.get('/api/v1/games?turn=me'), 401, 'login_needed');
  problem(await nobody.get('/api/v1/games?player=nobody-of-that-name'), 404, 'no_such_user');
  problem(await nobody.get('/api/v1/games?after=nonsense'), 400, 'bad_cursor');
  problem(await nobody.get('/api/v1/games?colour=red'), 400, 'unknown_field');
  problem(await nobody.get('/api/v1/games?limit=0'), 400, 'bad_field');
  const joinable = ok(await anna.post('/api/v1/games', {
    variant: 'teams', seats: { south: { me: true }, west: { open: true }, north: { open: true }, east: { open: true } },
  }), 201).json.id;
  assert.ok(ok(await nobody.get('/api/v1/games?open=true')).json.items.some((g) => g.id === joinable));
});

test('who is invited finds the games by `invited=me`, also when only his address was', async () => {
  const invite = async (more, west) => ok(await anna.post('/api/v1/games', {
    variant: 'teams', seats: { south: { me: true }, west, north: { me: true }, east: { open: true } }, ...more,
  }), 201).json.id;
  const made = [await invite({}, { address: 'DAN@example.org' }), await invite({ visibility: 'players' }, { address: 'dan@example.org' }),
    await invite({ variant: 'fortress' }, { handle: 'dan' })];
  await invite({}, { address: 'somebody@example.org' });
  const list = async (query = '') => ok(await dan.get(`/api/v1/games?invited=me${query}`)).json.items.filter((g) => made.includes(g.id));
  const listed = await list('&limit=100');
  assert.deepEqual(listed.map((g) => g.id), [...made].reverse());
  for (const game of listed) assert.deepEqual(game.you, { seats: [], invited: ['west'], organiser: false });
  // An address makes nobody a member before he has said yes.
  assert.deepEqual((await list('&player=me&limit=100')).map((g) => g.id), [made[2]]);
  assert.equal((await list('&player=anna&over=false&state=open&open=true&limit=100')).length, 3);
  assert.deepEqual((await list('&variant=fortress&limit=100')).map((g) => g.id), [made[2]]);
  assert.deepEqual(ok(await dan.get('/api/v1/games?invited=me&turn=me')).json, { items: [], next: null });
  assert.deepEqual(ok(await dan.get('/api/v1/games?invited=me&state=running')).json, { items: [], next: null });
  // Page by page, the links going on with the filter.
  const paged = [];
  for (let target = '/api/v1/games?invited=me&limit=1'; target;) {
    const page = ok(await dan.get(target));
    assert.equal(page.json.items.length, 1);
    paged.push(page.json.items[0].id);
    target = page.headers.get('link')?.match(/<([^>]+)>/)[1];
    assert.equal(Boolean(target), page.json.next !== null);
  }
  assert.deepEqual(paged.filter((id) => made.includes(id)), [...made].reverse());
  // Nobody else's; a token that may not read has none; strangers are asked who they are.
  assert.ok(!ok(await clara.get('/api/v1/games?invited=me&limit=100')).json.items.some((g) => made.includes(g.id)));
  assert.ok(!ok(await olga.get('/api/v1/games?invited=me&limit=100')).json.items.some((g) => made.includes(g.id)));
  problem(await nobody.get('/api/v1/games?invited=me'), 401, 'login_needed');
  problem(await nobody.get('/api/v1/games?invited=dan'), 400, 'bad_field');
  // The answer takes it off the list, and the list's ETag with it.
  const before = ok(await dan.get('/api/v1/games?invited=me&limit=100'));
  const again = (etag) => dan.get('/api/v1/games?invited=me&limit=100', { headers: { 'if-none-match': etag } });
  ok(await again(before.headers.get('etag')), 304);
  ok(await dan.post(`/api/v1/games/${made[0]}/accept`, {}));
  ok(await again(before.headers.get('etag')));
  ok(await dan.post(`/api/v1/games/${made[1]}/decline`, {}));
  assert.deepEqual((await list('&limit=100')).map((g) => g.id), [made[2]]);
  problem(await dan.get(`/api/v1/games/${made[1]}`), 404, 'no_such_game');
  ok(await anna.send('DELETE', `/api/v1/games/${made[2]}/invitations/west`));
  assert.deepEqual(await list('&limit=100'), []);
});

test('a game of its players only is not there for others', async () => {
  const made = ok(await anna.post('/api/v1/games', {
    variant: 'teams', visibility: 'players',
    seats: { south: { me: true }, west: { handle: 'boris' }, north: { me: true }, east: { address: 'dan@example.org' } },
  }), 201).json;
  for (const part of ['', '/moves', '/legal', '/position', '/board.txt', '/board.svg', '/board.png', '/game.pgn4', '/game.txt', '/events']) {
    problem(await clara.get(`/api/v1/games/${made.id}${part}`), 404, 'no_such_game');
    problem(await nobody.get(`/api/v1/games/${made.id}${part}`), 404, 'no_such_game');
  }
  ok(await boris.get(`/api/v1/games/${made.id}`));
  ok(await dan.get(`/api/v1/games/${made.id}`)); // invited by mail, and it is his address
  ok(await olga.get(`/api/v1/games/${made.id}`)); // an operator
  problem(await clara.post(`/api/v1/games/${made.id}/join`, { seats: ['east'] }), 404, 'no_such_game');
  assert.ok(!(await clara.get('/api/v1/games?player=anna&limit=100')).json.items.some((g) => g.id === made.id));
});

test('profile, notices, tokens and webhooks are one\'s own', async () => {
  const me = ok(await dan.send('PATCH', '/api/v1/me', { body: { name: 'Dan D.', time_zone: 'Europe/Chisinau', language: 'ro' } })).json;
  assert.deepEqual([me.name, me.time_zone, me.language], ['Dan D.', 'Europe/Chisinau', 'ro']);
  problem(await dan.send('PATCH', '/api/v1/me', { body: { time_zone: 'Mars/Olympus' } }), 400, 'unknown_zone');
  assert.equal(ok(await nobody.get('/api/v1/users/DAN')).json.name, 'Dan D.');
  assert.doesNotMatch((await nobody.get('/api/v1/users/dan')).text, /@/);
  problem(await nobody.get('/api/v1/users/nobody-of-that-name'), 404, 'no_such_user');
  const notices = ok(await dan.send('PATCH', '/api/v1/me/notices', { body: { mail: { mate: false } } })).json;
  assert.equal(notices.mail.mate, false);
  assert.equal(notices.webhook.mate, true);
  assert.equal(notices.webhook.webhook_disabled, false); // off until it is switched on
  problem(await dan.send('PATCH', '/api/v1/me/notices', { body: { mail: { login: false } } }), 400, 'bad_field');

  const made = ok(await dan.post('/api/v1/me/tokens', { name: 'reader', scopes: ['read'] }), 201).json;
  const reader = new Client(spec, server.url, made.token);
  ok(await reader.get('/api/v1/me'));
  problem(await reader.get('/api/v1/me/tokens'), 403, 'scope_needed');
  problem(await reader.post('/api/v1/games', { variant: 'teams', seats: { south: { me: true }, west: { open: true }, north: { open: true }, east: { open: true } } }), 403, 'scope_needed');
  ok(await dan.send('DELETE', `/api/v1/me/tokens/${made.id}`), 204);
  problem(await reader.get('/api/v1/me'), 401, 'bad_credentials');
  problem(await clara.send('DELETE', `/api/v1/me/tokens/${made.id}`), 404, 'not_found');
  assert.doesNotMatch((await dan.get('/api/v1/me/tokens')).text, /fh_/);

  const hook = ok(await dan.post('/api/v1/me/webhooks', { url: 'https://hooks.example.org/secret/path', classes: ['turn'] }), 201).json;
  assert.equal(hook.url, 'https://hooks.example.org/…');
  problem(await dan.post('/api/v1/me/webhooks', { url: 'http://hooks.example.org/' }), 400, 'bad_field');
  problem(await dan.post('/api/v1/me/webhooks', { url: 'https://127.0.0.1/' }), 422, 'blocked_address');
  const rotated = ok(await dan.post(`/api/v1/me/webhooks/${hook.id}/rotate`)).json;
  assert.notEqual(rotated.secret, hook.secret);
  assert.ok(rotated.old_secret_until);
  ok(await dan.post(`/api/v1/me/webhooks/${hook.id}/ping`), 202);
  const deliveries = ok(await dan.get(`/api/v1/me/webhooks/${hook.id}/deliveries?limit=1`)).json;
  for (let waiting = 1; waiting < 5; waiting++) ok(await dan.post(`/api/v1/me/webhooks/${hook.id}/ping`), 202);
  problem(await dan.post(`/api/v1/me/webhooks/${hook.id}/ping`), 422, 'limit_reached');
  assert.equal(deliveries.items[0].class, 'test');
  problem(await dan.post(`/api/v1/me/webhooks/${hook.id}/deliveries/${deliveries.items[0].id}/redeliver`), 409, 'already_done');
  assert.equal(ok(await dan.send('PATCH', `/api/v1/me/webhooks/${hook.id}`, { body: { state: 'off', name: 'mine' } })).json.state, 'off');
  problem(await dan.post(`/api/v1/me/webhooks/${hook.id}/ping`), 409, 'webhook_off');
  problem(await clara.get(`/api/v1/me/webhooks/${hook.id}`), 404, 'not_found');
  ok(await dan.send('DELETE', `/api/v1/me/webhooks/${hook.id}`), 204);
  /* A3: what the other side trusts us with goes to no third. */
  const ntfy = ok(await dan.post('/api/v1/me/webhooks', { url: 'https://ntfy.example.org/topic', kind: 'ntfy', auth: 'tk_secret' }), 201).json;
  const lead = async (body) => ok(await dan.send('PATCH', `/api/v1/me/webhooks/${ntfy.id}`, { body })).json.has_auth;
  assert.equal(ntfy.has_auth, true);
  assert.equal(await lead({ url: 'https://ntfy.example.org/other' }), true);
  for (const url of ['https://ntfy.example.org:8443/other', 'https://ntfy.example.org.example.net/other', 'https://ntfy.example.com/other']) {
    assert.equal(await lead({ url, auth: 'tk_secret' }), true);
    assert.equal(await lead({ url: 'https://ntfy.example.org/other' }), false, url);
    assert.equal(await lead({ auth: 'tk_secret' }), true);
    assert.equal(await lead({ url }), false, url);
  }
  ok(await dan.send('DELETE', `/api/v1/me/webhooks/${ntfy.id}`), 204);
  problem(await dan.get(`/api/v1/me/webhooks/${hook.id}`), 404, 'not_found');
});

// What a browser sends with its requests to the page's own site.
const browser = { 'sec-fetch-site': 'same-origin' };
const cookieOf = (answer) => answer.headers.get('set-cookie').split(';')[0];

test('sessions begin by link or password, and end', async () => {
  const asked = ok(await nobody.post('/api/v1/auth/link', { login: 'anna' }), 202);
  assert.equal(ok(await nobody.post('/api/v1/auth/link', { login: 'nobody-of-that-name' }), 202).text, asked.text);
  const secret = await server.ask('link 0');
  const page = ok(await nobody.get(`/login/${secret}`));
  assert.match(page.text, /<form method="post"/);
  assert.doesNotMatch(page.text, /<script/);
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  ok(await nobody.get(`/login/${secret}`)); // looking again changes nothing
  const logged = await nobody.send('POST', `/login/${secret}`, { headers: browser });
  assert.equal(logged.status, 303);
  assert.match(logged.headers.get('set-cookie'), /HttpOnly; SameSite=Lax/);
  assert.equal((await nobody.send('POST', `/login/${secret}`, { headers: browser })).status, 410);
  assert.match(ok(await nobody.get(`/login/${secret}`), 410).text, /does not work any more/);
  const cookie = cookieOf(logged);
  assert.equal(ok(await nobody.get('/api/v1/me', { headers: { cookie } })).json.handle, 'anna');

  problem(await nobody.post('/api/v1/auth/password', { login: 'anna', password: 'wrong horse' }), 401, 'bad_credentials');
  problem(await nobody.post('/api/v1/auth/password', { login: 'no-such', password: 'wrong horse' }), 401, 'bad_credentials');
  const second = cookieOf(ok(await nobody.post('/api/v1/auth/password', { login: 'Anna@Example.org', password: server.password })));
  const third = cookieOf(ok(await nobody.post('/api/v1/auth/login', { token: await server.ask('link 0') })));
  problem(await nobody.post('/api/v1/auth/login', { token: 'abcdefghijklmnopqrstuvwxyz' }), 410, 'link_expired');
  const list = ok(await nobody.get('/api/v1/me/sessions', { headers: { cookie: third } })).json.items;
  assert.equal(list.filter((s) => s.current).length, 1);
  assert.ok(list.length >= 3);

  // A change by cookie must come from our own pages.
  const patch = (headers) => nobody.send('PATCH', '/api/v1/me', { body: { name: 'Anna' }, headers: { cookie: third, ...headers } });
  problem(await patch({}), 403, 'cross_site');
  problem(await patch({ 'sec-fetch-site': 'cross-site' }), 403, 'cross_site');
  problem(await patch({ 'sec-fetch-site': 'same-site' }), 403, 'cross_site');
  problem(await patch({ origin: 'https://evil.example' }), 403, 'cross_site');
  ok(await patch({ origin: server.url }));
  const changed = ok(await patch(browser));
  assert.equal(changed.headers.get('access-control-allow-origin'), null);

  ok(await nobody.send('DELETE', '/api/v1/me/sessions', { headers: { cookie: third, ...browser } }), 204);
  problem(await nobody.get('/api/v1/me', { headers: { cookie: second } }), 401, 'login_needed');
  ok(await nobody.send('POST', '/api/v1/auth/logout', { headers: { cookie: third, ...browser } }), 204);
  problem(await nobody.get('/api/v1/me', { headers: { cookie: third } }), 401, 'login_needed');
  problem(await anna.send('POST', '/api/v1/auth/logout'), 401, 'login_needed');
});

test('passwords are set, changed and removed', async () => {
  problem(await boris.send('PUT', '/api/v1/me/password', { body: { password: 'another good one' } }), 400, 'missing_field');
  problem(await boris.send('PUT', '/api/v1/me/password', { body: { current: 'wrong', password: 'another good one' } }), 401, 'bad_credentials');
  problem(await boris.send('PUT', '/api/v1/me/password', { body: { current: server.password, password: 'short' } }), 400, 'bad_field');
  ok(await boris.send('PUT', '/api/v1/me/password', { body: { current: server.password, password: 'another good one' } }), 204);
  ok(await nobody.post('/api/v1/auth/password', { login: 'boris', password: 'another good one' }));
  ok(await boris.send('DELETE', '/api/v1/me/password'), 204);
  assert.equal((await boris.get('/api/v1/me')).json.has_password, false);
  problem(await nobody.post('/api/v1/auth/password', { login: 'boris', password: 'another good one' }), 401, 'bad_credentials');
  ok(await boris.send('PUT', '/api/v1/me/password', { body: { password: server.password } }), 204);
});

test('registering answers alike for known and unknown addresses', async () => {
  const first = ok(await nobody.post('/api/v1/auth/register', { handle: 'elena', address: 'elena@example.org' }), 202);
  const second = ok(await nobody.post('/api/v1/auth/register', { handle: 'elena2', address: 'anna@example.org' }), 202);
  assert.equal(first.text, second.text);
  problem(await nobody.post('/api/v1/auth/register', { handle: 'Anna', address: 'x@example.org' }), 409, 'handle_taken');
  problem(await nobody.post('/api/v1/auth/register', { handle: 'no good', address: 'not an address' }), 400, 'bad_field');
  problem(await nobody.post('/api/v1/auth/confirm', { token: 'abcdefghijklmnopqrstuvwxyz' }), 410, 'link_expired');
  ok(await boris.post('/api/v1/me/address', { address: 'boris@example.net' }), 202);
  assert.equal((await boris.get('/api/v1/me')).json.pending_address, 'boris@example.net');
  assert.match(ok(await nobody.get('/confirm/abcdefghijklmnopqrstuvwxyz'), 410).text, /does not work any more/);
  assert.equal((await nobody.send('POST', '/confirm/abcdefghijklmnopqrstuvwxyz', { headers: browser })).status, 410);
});

test('unsubscribing is a POST without a cookie; looking changes nothing', async () => {
  const path = '/u/unsubscribeunsubscribeunsu';
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  assert.match(ok(await nobody.get(path)).text, /Your turn/);
  assert.equal((await anna.get('/api/v1/me/notices')).json.mail.turn, true);
  assert.equal((await nobody.send('POST', path, { headers: form, raw: 'something=else' })).status, 400);
  ok(await nobody.send('POST', path, { headers: { ...form, 'sec-fetch-site': 'cross-site' }, raw: 'List-Unsubscribe=One-Click' }));
  assert.equal((await anna.get('/api/v1/me/notices')).json.mail.turn, false);
  const data = new FormData();
  data.set('List-Unsubscribe', 'One-Click');
  ok(await nobody.send('POST', path, { raw: data }));
  assert.equal((await nobody.send('POST', '/u/abcdefghijklmnopqrstuvwxyz', { headers: form, raw: 'List-Unsubscribe=One-Click' })).status, 410);
  assert.equal((await nobody.get('/u/abcdefghijklmnopqrstuvwxyz')).status, 410);
  ok(await anna.send('PATCH', '/api/v1/me/notices', { body: { mail: { turn: true } } }));
});

test('bodies that are not what is asked for are refused by name', async () => {
  const path = '/api/v1/games';
  const raw = (text, type = 'application/json') => anna.send('POST', path, { raw: text, headers: { 'content-type': type } });
  problem(await raw(''), 400, 'bad_json');
  problem(await raw('{'), 400, 'bad_json');
  problem(await raw('[]'), 400, 'bad_json');
  problem(await raw('{"variant":"teams","variant":"verney"}'), 400, 'bad_json');
  problem(await raw('{}', 'text/plain'), 415, 'media_type');
  const missing = problem(await raw('{}'), 400, 'missing_field');
  assert.deepEqual(missing.json.errors.map((e) => e.pointer), ['/variant', '/seats']);
  const many = problem(await anna.post(path, {
    variant: 'teams', house_rules: { queens: 'light' }, reserve: 'usual', colour: 'red',
    time: { mode: 'per-move', per_move_ms: 1 },
    seats: { south: {}, west: { me: false }, north: { address: 'x' }, up: { me: true } },
  }), 400, 'bad_field');
  assert.deepEqual(new Set(many.json.errors.map((e) => e.pointer)),
    new Set(['/house_rules/queens', '/reserve', '/time/per_move_ms', '/seats/south', '/seats/west', '/seats/north', '/seats/east', '/seats', '/colour']));
  problem(await anna.send('POST', path, { raw: 'x'.repeat(70000), headers: { 'content-type': 'application/json' } }), 413, 'too_large');
});

test('a language that there are no texts in is refused by name', async () => {
  for (const language of ['xx', 'pt-BR', 'de']) {
    const told = /there are no texts in "[^"]+"; there are in en, ru, ro/;
    assert.match(problem(await anna.send('PATCH', '/api/v1/me', { body: { language } }), 400, 'bad_field').json.detail, told);
    assert.match(problem(await nobody.post('/api/v1/auth/register',
      { handle: 'nora', address: 'nora@example.org', language }), 400, 'bad_field').json.detail, told);
  }
  // A tag is kept as BCP 47 writes it.
  for (const [language, kept] of [['ro-MD', 'ro-MD'], ['RU-ru', 'ru-RU'], ['ru-cYRL-ru', 'ru-Cyrl-RU'], ['EN', 'en']])
    assert.equal(ok(await anna.send('PATCH', '/api/v1/me', { body: { language } })).json.language, kept);
});

test('boards of a game that is over do not say who is to move', async () => {
  const game = await newGame();
  const path = `/api/v1/games/${game.id}`;
  const running = ok(await anna.get(`${path}/board.svg`)).text;
  assert.match(running, /White to move\./);
  assert.match(running, /class="turn"/);
  ok(await anna.post(`${path}/abort`, { note: 'two fell ill' }));
  const aborted = ok(await anna.get(`${path}/board.svg`)).text;
  assert.match(aborted, /The game was ended without a result: by its organiser\./);
  assert.doesNotMatch(aborted, /to move|class="turn"/);
  // An earlier position was somebody's turn, and says so.
  const second = await newGame();
  const other = `/api/v1/games/${second.id}`;
  const moved = ok(await anna.post(`${other}/moves`, { move: 'e2e3', state_number: second.state_number }), 201).json.game;
  ok(await anna.post(`${other}/resign`, { state_number: moved.state_number }));
  ok(await clara.post(`${other}/resign`, { state_number: ok(await clara.get(other)).json.state_number }));
  for (const [language, over] of [['en', /The game is over: .* have won: .*; out of the game: White \(resigned\), Yellow \(resigned\)\./],
    ['ru', /Партия окончена: .*; выбыли: Белые \(сдача\), Жёлтые \(сдача\)\./], ['ro', /Partida s-a încheiat: .*; au părăsit partida: /]]) {
    const svg = ok(await nobody.get(`${other}/board.svg`, { headers: { 'accept-language': language } })).text;
    assert.match(svg, over);
    assert.doesNotMatch(svg, /to move|class="turn"/);
  }
  assert.match(ok(await nobody.get(`${other}/game.txt`)).text, /out of the game: White \(resigned\), Yellow \(resigned\)/);
  const { result } = ok(await nobody.get(other)).json;
  assert.deepEqual(result, { score: '0-1', winner: 'west-east', cause: 'leaving',
    left: [{ seat: 'south', how: 'resigned' }, { seat: 'north', how: 'resigned' }] });
  assert.match(ok(await nobody.get(`${other}/board.svg?ply=0`)).text, /White to move\./);
});

const metric = async (name) => Number(new RegExp(`^fourhanded_${name} (\\d+)$`, 'm')
  .exec(await (await fetch(server.metrics)).text())[1]);

test('a picture is drawn once for all who look at the same, and not to find that nothing is new', async () => {
  const game = await newGame();
  const target = `/api/v1/games/${game.id}/board.png?seat=north&width=401`;
  const before = await metric('http_pictures_drawn_total');
  const kept = await metric('http_pictures_kept_total');
  const all = await Promise.all(Array.from({ length: 30 }, (_, i) => [nobody, anna, boris][i % 3].get(target)));
  for (const one of all) assert.deepEqual(ok(one).bytes, all[0].bytes);
  assert.deepEqual([...all[0].bytes.subarray(1, 4)], [...Buffer.from('PNG')]);
  assert.equal(await metric('http_pictures_drawn_total'), before + 1);
  assert.equal(await metric('http_pictures_kept_total'), kept + 29);
  const etag = all[0].headers.get('etag');
  ok(await anna.get(target, { headers: { 'if-none-match': etag } }), 304);
  // Another width, side, language or position is another picture.
  const moved = ok(await anna.post(`/api/v1/games/${game.id}/moves`, { move: 'e2e3', state_number: game.state_number }), 201);
  assert.ok(moved);
  for (const [other, headers] of [[target, {}], [`${target}9`.replace('width=4019', 'width=402'), {}], [target, { 'accept-language': 'ru' }],
    [target.replace('north', 'south'), {}]])
    assert.notEqual(ok(await nobody.get(other, { headers })).headers.get('etag'), etag);
  assert.equal(await metric('http_pictures_drawn_total'), before + 5);
});

test('who draws many pictures does not keep the others waiting', async () => {
  const game = await newGame();
  let drawn = 0;
  const pictures = Array.from({ length: 60 }, (_, i) => nobody.get(`/api/v1/games/${game.id}/board.png?width=${1400 + i}`)
    .then((answer) => { drawn++; assert.ok([200, 503].includes(answer.status)); }));
  // They are under way once the first is there; all others wait for one thread, which is not the pool's.
  await Promise.race(pictures);
  for (let i = 0; i < 10; i++) ok(await boris.get(`/api/v1/games/${game.id}/moves`));
  assert.ok(drawn < 60, 'ten answers came before the last of the pictures');
  await Promise.all(pictures);
});

test('games that wait for me are those to move and those to place in', async () => {
  const game = await newGame('fortress', { reserve: 'chosen' });
  const waits = async (who) => ok(await who.get('/api/v1/games?turn=me&limit=100')).json.items.some((g) => g.id === game.id);
  assert.equal(game.state, 'placing');
  for (const who of [anna, boris, clara, dan]) assert.equal(await waits(who), true);
  const reserve = ok(await anna.get(`/api/v1/games/${game.id}/placement`)).json.seats.find((s) => s.seat === 'south').squares;
  ok(await anna.post(`/api/v1/games/${game.id}/placement`, { rook: reserve[0], bishop: reserve[1], knight: reserve[2] }));
  assert.equal(await waits(anna), false);
  assert.equal(await waits(boris), true);
});

test('nobody takes part in more games than he may, whichever way he comes in', async () => {
  await server.gamesPerUser(1);
  for (const client of [anna, boris, clara, dan, olga, nobody]) client.url = server.url;
  const seats = { south: { me: true }, west: { handle: 'olga' }, north: { open: true }, east: { open: true } };
  problem(await anna.post('/api/v1/games', { variant: 'teams', seats }), 422, 'limit_reached');
  await server.gamesPerUser(200);
  for (const client of [anna, boris, clara, dan, olga, nobody]) client.url = server.url;
  const [one, two] = [ok(await anna.post('/api/v1/games', { variant: 'teams', seats }), 201).json,
    ok(await anna.post('/api/v1/games', { variant: 'teams', seats }), 201).json];
  // Two invitations are no game yet; the first that is accepted is one, and its second seat none more.
  const mine = ok(await olga.get('/api/v1/games?player=me&over=false&limit=100')).json.items
    .filter((g) => g.seats.some((s) => s.player?.handle === 'olga' && s.state === 'taken'));
  await server.gamesPerUser(mine.length + 1);
  for (const client of [anna, boris, clara, dan, olga, nobody]) client.url = server.url;
  ok(await olga.post(`/api/v1/games/${one.id}/accept`, {}));
  problem(await olga.post(`/api/v1/games/${two.id}/accept`, {}), 422, 'limit_reached');
  problem(await olga.post(`/api/v1/games/${two.id}/join`, { seats: ['north'] }), 422, 'limit_reached');
  ok(await olga.post(`/api/v1/games/${one.id}/join`, { seats: ['east'] }));
  await server.gamesPerUser(200);
  for (const client of [anna, boris, clara, dan, olga, nobody]) client.url = server.url;
  ok(await olga.post(`/api/v1/games/${two.id}/accept`, {}));
});

test('a game that could not be made is named nowhere', async () => {
  const refused = problem(await anna.post('/api/v1/games', {
    variant: 'teams', seats: { south: { me: true }, west: { me: true }, north: { open: true }, east: { open: true } },
  }), 409, 'already_seated');
  assert.equal(refused.json.detail, 'anna has the seat South; nobody plays against himself');
});

test('how long moves by mail are held is one\'s own to say', async () => {
  const hold = async (mail_hold_ms) => anna.send('PATCH', '/api/v1/me', { body: { mail_hold_ms } });
  assert.equal(ok(await anna.get('/api/v1/me')).json.mail_hold_ms, null);
  for (const ms of [0, 3600000, null, 600000]) {
    assert.equal(ok(await hold(ms)).json.mail_hold_ms, ms);
    assert.equal(ok(await anna.get('/api/v1/me')).json.mail_hold_ms, ms);
  }
  for (const ms of [-1, 3600001, 1.5, '10m', true]) assert.equal(problem(await hold(ms), 400, 'bad_field').json.errors[0].pointer, '/mail_hold_ms');
  assert.equal(ok(await anna.get('/api/v1/me')).json.mail_hold_ms, 600000);
  assert.equal(ok(await boris.get('/api/v1/me')).json.mail_hold_ms, null);
  ok(await hold(null));
});

test('notes are for their writer alone', async () => {
  const game = await newGame();
  const path = `/api/v1/games/${game.id}/notes`;
  assert.deepEqual(ok(await anna.get(path)).json, { items: [], next: null });
  const first = ok(await anna.post(path, { text: 'Watch the b-file.\n\tZürich' }, { headers: { 'idempotency-key': 'note' } }), 201);
  assert.deepEqual([first.json.text, first.json.ply, first.json.state_number], ['Watch the b-file.\n\tZürich', 0, game.state_number]);
  assert.equal(ok(await anna.post(path, { text: 'Watch the b-file.\n\tZürich' }, { headers: { 'idempotency-key': 'note' } }), 201).text, first.text);
  ok(await anna.post(`/api/v1/games/${game.id}/moves`, { move: 'e2e3', state_number: game.state_number }), 201);
  const second = ok(await anna.post(path, { text: 'x'.repeat(2000) }), 201).json;
  assert.equal(second.ply, 1);
  assert.deepEqual(ok(await anna.get(path)).json, { items: [first.json, second], next: null });
  const page = ok(await anna.get(`${path}?limit=1`)).json;
  assert.deepEqual(page, { items: [first.json], next: first.json.id });
  assert.deepEqual(ok(await anna.get(`${path}?limit=1&since=${page.next}`)).json.items, [second]);
  assert.deepEqual(ok(await boris.get(path)).json.items, []);
  for (const who of [olga]) {
    problem(await who.get(path), 403, 'not_your_game');
    problem(await who.post(path, { text: 'no' }), 403, 'not_your_game');
  }
  problem(await nobody.get(path), 401, 'login_needed');
  problem(await nobody.post(path, { text: 'no' }), 401, 'login_needed');
  for (const text of ['', 'a\u0007b', 'x'.repeat(2001), 'ж'.repeat(1001), null]) problem(await anna.post(path, { text }), 400, 'bad_field');
  problem(await anna.post(path, {}), 400, 'missing_field');
  // Nowhere else is it to be seen.
  for (const who of [anna, boris, nobody]) {
    for (const target of ['', '/events?follow=false', '/moves', '/game.txt', '/game.pgn4'])
      assert.doesNotMatch(ok(await who.get(`/api/v1/games/${game.id}${target}`)).text, /b-file/);
  }
});

test('an invited stranger may end all invitations, without a cookie', async () => {
  const path = '/u/strangerstrangerstrangerst';
  const page = await fetch(server.url + path, { headers: { 'accept-language': 'ro' } });
  assert.equal(page.status, 200);
  assert.match(await page.text(), /Fără alte invitații/);
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'List-Unsubscribe=One-Click' };
  const done = await fetch(server.url + path, form);
  assert.equal(done.status, 200);
  assert.match(await done.text(), /Nothing more is sent to that address/);
  assert.equal((await fetch(server.url + path, { ...form, body: 'x=y' })).status, 400);
});

// These come last, since they turn the clock.  Nothing purges here, so that reading alone decides.
test('a key is remembered for 24 hours to the millisecond', async () => {
  const began = 1796083200000;
  const headers = { 'idempotency-key': 'a-day' };
  const seats = { south: { me: true }, north: { me: true }, west: { open: true }, east: { open: true } };
  const first = ok(await anna.post('/api/v1/games', { variant: 'teams', seats }, { headers }), 201);
  await server.ask(`now ${began + 86_400_000 - 1}`);
  assert.equal(ok(await anna.post('/api/v1/games', { variant: 'teams', seats }, { headers }), 201).text, first.text);
  problem(await anna.post('/api/v1/games', { variant: 'verney', seats }, { headers }), 422, 'idempotency_key_reused');
  await server.ask(`now ${began + 86_400_000}`);
  const next = ok(await anna.post('/api/v1/games', { variant: 'verney', seats }, { headers }), 201);
  assert.notEqual(next.json.id, first.json.id);
  assert.equal(ok(await anna.post('/api/v1/games', { variant: 'verney', seats }, { headers }), 201).text, next.text);
});

// P16, P17: a move by mail that is held is to be seen nowhere, not by its mover either.
test('a held move is seen at no door until it is played, and another move of his replaces it', async () => {
  const later = (ms) => server.ask(`now ${1796083200000 + 86_400_000 + ms}`);
  await server.ask('tick');
  const doors = ['', '/moves', '/events?follow=false', '/legal', '/legal?move=e2e3', '/position', '/board.txt', '/board.svg', '/board.png', '/game.pgn4',
    '/game.txt', '/notes'];
  const look = async (id) => {
    const seen = [];
    for (const who of [anna, boris, olga, nobody]) {
      for (const door of doors) {
        const answer = await who.get(`/api/v1/games/${id}${door}`);
        seen.push([door, answer.status, answer.bytes.toString('latin1'), answer.headers.get('etag')]);
      }
    }
    for (const target of ['/api/v1/games?turn=me', '/api/v1/games?player=anna', '/api/v1/events?follow=false&since=0', '/api/v1/me'])
      seen.push([target, (await anna.get(target)).text]);
    return seen;
  };
  const [game, other] = [await newGame(), await newGame()];
  const before = await look(game.id);
  assert.equal(await server.ask(`hold ${game.id} 0 e2e3 ${game.state_number}`), 'ok');
  assert.deepEqual(await look(game.id), before);
  await later(59_999);
  assert.equal(await server.ask('tick'), 'ok');
  assert.deepEqual((await look(game.id)).slice(0, doors.length), before.slice(0, doors.length));
  await later(60_000);
  assert.equal(await server.ask('tick'), 'ok');
  const after = ok(await nobody.get(`/api/v1/games/${game.id}`)).json;
  assert.deepEqual([after.ply, after.turn.seat, after.last_move.move], [1, 'west', 'e2e3']);
  // Replaced by what the same player sends here; only that is ever played.
  assert.equal(await server.ask(`hold ${other.id} 0 e2e3 ${other.state_number}`), 'ok');
  const made = ok(await anna.post(`/api/v1/games/${other.id}/moves`, { move: 'f2f3', state_number: other.state_number }), 201).json;
  assert.equal(made.move.ply, 1);
  await later(600_000);
  assert.equal(await server.ask('tick'), 'ok');
  const moves = ok(await nobody.get(`/api/v1/games/${other.id}/moves`)).json.items;
  assert.deepEqual(moves.map((m) => m.move), [made.move.move]);
});
