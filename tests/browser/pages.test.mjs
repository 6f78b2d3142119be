/*
 * What the browser client shows of games that are further on than play.test.mjs plays them: the score
 * sheet of a whole game, one's games by time left and in one's zone, armies without colour, and what
 * the settings do.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { DAY, startClub } from '../e2e/lib/daemon.mjs';
import { startReceiver } from '../e2e/lib/peers.mjs';
import { count, eventsOf, movesOf, playAll, startGame } from '../e2e/lib/play.mjs';

const HANDLES = ['anna', 'boris', 'clara', 'dmitri'];
const PASSWORD = 'a long enough password';
const PATIENCE_MS = 180_000; /* until something is given up: only a failing run waits that long */

async function club(t, zone = 'Asia/Kolkata') {
    const it = await startClub({});
    t.after(() => it.end());
    const players = [];
    for (const handle of HANDLES) players.push(await it.player(handle, { password: handle === 'anna' ? PASSWORD : null, zone }));
    return { it, players };
}

/* Anna's page, logged in; her browser is in New York. */
async function annasPage(t, it) {
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', timeout: PATIENCE_MS,
        args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
    t.after(() => browser.close());
    const context = await browser.newContext({ baseURL: it.url, locale: 'en-GB', timezoneId: 'America/New_York' });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    const faults = [];
    page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
    page.on('console', (message) => { /* before the log-in nobody is known */
        if (message.type() === 'error' && !/status of 401/.test(message.text())) faults.push(message.text());
    });
    await page.goto('/sign-in');
    const form = page.locator('form', { has: page.locator('#sign-in') });
    await form.getByLabel('Handle or mail address').fill('anna');
    await form.getByLabel('Password').fill(PASSWORD);
    await page.click('#sign-in');
    await page.getByRole('heading', { name: 'My games' }).waitFor();
    return { page, faults };
}

test('the score sheet of a whole game has its moves, mates, releases, passes and end', async (t) => {
    const { it, players } = await club(t);
    const game = await startGame(players, { variant: 'verney' });
    const moves = movesOf('verney');
    await playAll(players, game, moves);
    const events = await eventsOf(players[0], game.id);
    const { page, faults } = await annasPage(t, it);
    /* A stalemate is passed over, which this game does not have: told as if it had come before the end. */
    await page.route(`**/api/v1/games/${game.id}/events?since=0**`, async (route) => {
        const response = await route.fetch();
        const body = await response.json();
        const at = body.items.findIndex((e) => e.kind === 'finished');
        body.items.splice(at, 0, { ...body.items[at], kind: 'passed', seat: 'west', cause: null });
        await route.fulfill({ response, json: body });
    });
    await page.goto(`/games/${game.id}`);
    const sheet = page.locator('.sheet');
    await sheet.locator('tr.note', { hasText: 'The game is over' }).waitFor();
    assert.equal(await sheet.locator('button.move').count(), moves.length);
    const notes = await sheet.locator('tr.note').allInnerTexts();
    const times = (words) => notes.filter((x) => x.includes(words)).length;
    assert.equal(times(': mated'), count(events, 'mated'));
    assert.ok(count(events, 'mated') >= 2);
    assert.equal(times(': released from mate'), count(events, 'released'));
    assert.ok(count(events, 'released') >= 1);
    assert.deepEqual(notes.filter((x) => x.includes('passes')), ['Red: passes, stalemate']);
    assert.equal(times('The game is over: '), 1);
    /* A mate stands under the round of the move that gave it. */
    const first = events.findIndex((e) => e.kind === 'mated');
    const giver = events.slice(0, first).findLast((e) => e.kind === 'move');
    const row = sheet.locator('tbody tr', { has: page.getByRole('button', { name: giver.notation, exact: true }) }).first();
    assert.ok(await row.count() === 1, giver.notation);
    assert.match(await page.locator('#status').innerText(), /0-1/);
    assert.deepEqual(faults, []);
});

test('my games stand by time left, and deadlines are in my zone', async (t) => {
    const { it, players } = await club(t);
    const ids = {};
    for (const days of [9, 2, 5]) ids[days] = (await startGame(players, { variant: 'teams', time: { mode: 'per-move', per_move_ms: days * DAY } })).id;
    const { page, faults } = await annasPage(t, it);
    const mine = page.locator('section', { has: page.getByRole('heading', { name: 'Your turn', exact: true }) });
    await mine.locator('[data-game]').nth(2).waitFor();
    assert.deepEqual(await mine.locator('[data-game]').evaluateAll((rows) => rows.map((row) => row.dataset.game)), [ids[2], ids[5], ids[9]]);
    /* Kolkata's wall clock, which the account names; not New York's, where the browser is. */
    const { turn } = await players[0].get(`/api/v1/games/${ids[2]}`);
    const wall = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'Asia/Kolkata' }).format(new Date(turn.deadline));
    const told = mine.locator(`[data-game="${ids[2]}"] time`);
    assert.equal(await told.getAttribute('datetime'), turn.deadline);
    assert.match(await told.innerText(), new RegExp(`\\b${wall} (GMT\\+5:30|IST)$`));
    await page.goto(`/games/${ids[2]}`);
    await page.locator('#clock time').waitFor();
    assert.match(await page.locator('#clock').innerText(), new RegExp(`^Deadline: .*\\b${wall} (GMT\\+5:30|IST) \\(in 1 d 23 h\\)$`));
    assert.deepEqual(faults, []);
});

test('the four armies have marks of four shapes, the same as in letters\' pictures', async (t) => {
    const { it, players } = await club(t);
    const game = await startGame(players, { variant: 'verney' });
    const { page } = await annasPage(t, it);
    await page.goto(`/games/${game.id}`);
    const kings = { south: 'h1', west: 'a8', north: 'g14', east: 'n7' };
    await page.locator('game-board [data-square="h1"] .man').waitFor();
    /* A disc has arcs, a square lines of both kinds, a triangle its base, a diamond none. */
    const shapeOf = (path) => (/a/i.test(path) ? 'disc' : /h/i.test(path) ? (/v/i.test(path) ? 'square' : 'triangle') : 'diamond');
    const shapes = {}, drawn = {};
    const svg = await players[0].get(`/api/v1/games/${game.id}/board.svg`);
    for (const [seat, square] of Object.entries(kings)) {
        shapes[seat] = shapeOf(await page.locator(`game-board [data-square="${square}"] .man > path`).last().getAttribute('d'));
        const letter = { south: 'w', west: 'r', north: 'y', east: 'b' }[seat];
        drawn[seat] = shapeOf(new RegExp(`data-man="${letter}K"[^]*?class="mark"[^>]* d="([^"]+)"`).exec(svg)[1]);
    }
    assert.deepEqual(shapes, drawn);
    assert.equal(new Set(Object.values(shapes)).size, 4);
});

test('what is set on the settings page holds', async (t) => {
    const there = await startReceiver();
    t.after(() => there.close());
    const { it, players } = await club(t);
    const { page, faults } = await annasPage(t, it);
    await page.goto('/settings');
    const section = (title) => page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) });

    /* A notice, by channel. */
    const box = page.getByRole('checkbox', { name: 'Your turn: Mail' });
    await box.uncheck();
    await page.locator('#said', { hasText: 'Saved.' }).waitFor({ state: 'attached' });
    const notices = await players[0].get('/api/v1/me/notices');
    assert.deepEqual([notices.mail.turn, notices.webhook.turn, notices.mail.result], [false, true, true]);
    await page.reload();
    await box.waitFor();
    assert.equal(await box.isChecked(), false);
    /* Log-in and security letters cannot be switched off. */
    assert.equal(await page.getByRole('checkbox', { name: /Log|Security|address/i }).count(), 0);

    /* A webhook: made with a secret that is shown once, tried, switched off, removed. */
    const hooks = section('Webhooks');
    await hooks.getByLabel('Address').fill(`${there.url}/mine`);
    await hooks.getByRole('button', { name: 'Make a webhook' }).click();
    await hooks.locator('code').waitFor();
    assert.match(await hooks.locator('code').innerText(), /^whsec_/);
    await hooks.getByRole('button', { name: 'Test', exact: true }).click();
    const ping = await there.deliveries.take((x) => x.url === '/mine');
    assert.equal(JSON.parse(ping.body).type, 'webhook.test');
    await it.settle();
    await hooks.getByRole('button', { name: 'Deliveries' }).click();
    await hooks.locator('ol li', { hasText: '204' }).or(hooks.locator('ol li', { hasText: 'sent' })).first().waitFor();
    await hooks.getByRole('button', { name: 'Switch off' }).click();
    await hooks.getByRole('button', { name: 'Switch on' }).waitFor();
    const [hook] = (await players[0].get('/api/v1/me/webhooks')).items;
    assert.equal(hook.state, 'off');
    page.once('dialog', (dialog) => dialog.accept());
    await hooks.getByRole('button', { name: 'Delete' }).click();
    await hooks.getByRole('button', { name: 'Switch on' }).waitFor({ state: 'detached' });
    assert.deepEqual((await players[0].get('/api/v1/me/webhooks')).items, []);

    /* A token: made, and useless once revoked. */
    const tokens = section('API tokens');
    await tokens.getByLabel('What for').fill('a bot');
    await tokens.getByRole('button', { name: 'Make a token' }).click();
    const token = await tokens.locator('code').innerText();
    const me = () => fetch(`${it.url}/api/v1/me`, { headers: { Authorization: `Bearer ${token}` } });
    assert.equal((await me()).status, 200);
    await tokens.locator('li', { hasText: 'a bot' }).getByRole('button', { name: 'Revoke' }).click();
    await tokens.locator('li', { hasText: 'a bot' }).waitFor({ state: 'detached' });
    assert.equal((await me()).status, 401);
    assert.deepEqual(faults, []);
});
