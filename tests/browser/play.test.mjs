/*
 * The browser client in Debian's chromium: four players in four contexts log in, make a game, play
 * its first rounds by pointer, keyboard and typed moves, and see each other's moves live.
 * Also: no rule of accessibility is broken, nothing is refused by the content policy, a phone fits.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import axe from '@axe-core/playwright';
import { startClub } from '../e2e/lib/daemon.mjs';
import { startMailServer } from '../e2e/lib/peers.mjs';

const AxeBuilder = axe.default ?? axe;
const HANDLES = ['anna', 'boris', 'clara', 'dmitri'];
const PASSWORD = 'a long enough password';
const PATIENCE_MS = 180_000; /* until something is given up: only a failing run waits that long */

async function launch(t) {
    const browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', timeout: PATIENCE_MS,
        args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
            '--disable-component-update', '--disable-sync'],
    });
    t.after(() => browser.close());
    return browser;
}

/* A page that fails the test when the content policy or a script complains. */
async function open(browser, club, faults, options = {}) {
    const context = await browser.newContext({ baseURL: club.url, locale: 'en-GB', ...options });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
    page.on('console', (message) => {
        if (message.type() === 'error' && !/status of (401|404|409|410|422)/.test(message.text())) faults.push(message.text());
    });
    return page;
}

async function signIn(page, handle) {
    await page.goto('/sign-in');
    const form = page.locator('form', { has: page.locator('#sign-in') });
    await form.getByLabel('Handle or mail address').fill(handle);
    await form.getByLabel('Password').fill(PASSWORD);
    await page.click('#sign-in');
    await page.getByRole('heading', { name: 'My games' }).waitFor();
}

async function isAccessible(page, what) {
    const { violations } = await new AxeBuilder({ page }).analyze();
    assert.deepEqual(violations.map((v) => `${what}: ${v.id}: ${v.nodes[0].html}`), []);
}

const square = (page, name) => page.locator(`game-board [data-square="${name}"]`);

test('four players in four browsers play the first rounds', async (t) => {
    const post = await startMailServer();
    const club = await startClub({ smtpPort: post.port });
    t.after(async () => { await club.end(); await post.close(); });
    for (const handle of HANDLES) await club.player(handle, { password: PASSWORD, zone: 'Europe/Chisinau' });
    const browser = await launch(t);
    const faults = [];

    /* Anna logs in by the link of a letter; opening it does nothing, its button does. */
    const anna = await open(browser, club, faults);
    await anna.goto('/sign-in');
    await isAccessible(anna, 'sign-in');
    await anna.locator('form', { has: anna.locator('#send-link') }).getByLabel('Handle or mail address').fill('anna');
    await anna.click('#send-link');
    await anna.getByText('a letter is on its way').waitFor();
    const letter = await post.letters.take((x) => x.to[0] === 'anna@example.net' && x.mail.text.includes('/login/'));
    const link = /\/login\/[a-z2-7]{26}/.exec(letter.mail.text)[0];
    assert.equal((await fetch(club.url + link)).status, 200);
    assert.equal((await fetch(club.url + link, { method: 'HEAD' })).status, 200);
    await anna.goto(link);
    await anna.getByRole('button').first().click();
    await anna.getByRole('heading', { name: 'My games' }).waitFor();
    await assert.rejects(club.nobody().post('/api/v1/auth/login', { token: link.slice('/login/'.length) }), /410/, 'a link works once');

    const pages = [anna];
    for (const handle of HANDLES.slice(1)) {
        const page = await open(browser, club, faults, handle === 'clara' ? { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true } : {});
        await signIn(page, handle);
        pages.push(page);
    }
    const [, boris, clara, dmitri] = pages;

    /* Anna makes a game: Boris and Clara by name, the fourth seat open. */
    await anna.click('nav >> text=New game');
    await anna.selectOption('#variant', 'verney');
    for (const [seat, handle] of [['west', 'boris'], ['north', 'clara']]) {
        await anna.selectOption(`#seat-${seat}`, 'handle');
        await anna.fill(`#who-${seat}`, handle);
    }
    await isAccessible(anna, 'new game');
    await anna.click('#make-game');
    await anna.waitForURL(/\/games\/[0-9a-z]+$/);
    const path = new URL(anna.url()).pathname;

    /* The invited accept on the game's page, Dmitri finds the open seat in the list. */
    for (const page of [boris, clara]) {
        await page.goto(path);
        await page.click('#accept');
        await page.locator('#accept').waitFor({ state: 'detached' });
    }
    await dmitri.goto('/open');
    await dmitri.getByRole('button', { name: 'Take East' }).click();
    await dmitri.waitForURL(`**${path}`);

    /* Live: Anna's page, untouched since, says that it is her turn. */
    await anna.locator('#status', { hasText: 'Your turn: White' }).waitFor();
    await isAccessible(anna, 'game');

    /* By pointer: the legal squares are marked, the others do nothing. */
    await square(anna, 'e1').click();
    assert.equal(await anna.locator('game-board .target').count(), 2);
    await square(anna, 'f3').click();
    await boris.locator('#status', { hasText: 'Your turn: Red' }).waitFor();
    assert.match(await square(boris, 'f3').getAttribute('aria-label'), /white knight/i);

    /* By keyboard alone: from the king's square to a pawn, Enter, on to its square, Enter. */
    await square(boris, 'a8').focus();
    await boris.keyboard.press('ArrowUp');
    assert.equal(await boris.evaluate(() => document.activeElement.dataset.square), 'b8');
    await boris.keyboard.press('Enter');
    await boris.keyboard.press('ArrowUp');
    await boris.keyboard.press('Enter');
    await clara.locator('#status', { hasText: 'Your turn: Yellow' }).waitFor();

    /* Typed, on a phone: an illegal move is refused with its reason, then a good one is taken. */
    await clara.fill('#move', 'd13d11');
    await clara.click('#do-move');
    await clara.locator('#fault', { hasText: /.+/ }).waitFor();
    assert.ok(await clara.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), 'a phone need not scroll sideways');
    /* Tapped, a move is asked about: what is tapped elsewhere takes the question back. */
    const sure = clara.getByRole('button', { name: 'Move d13–d12' });
    for (const name of ['d13', 'd12']) await square(clara, name).tap();
    await sure.waitFor();
    await isAccessible(clara, 'a move tapped');
    await square(clara, 'h7').tap();
    await sure.waitFor({ state: 'detached' });
    for (const name of ['d13', 'd12']) await square(clara, name).tap();
    await sure.tap();
    await dmitri.locator('#status', { hasText: 'Your turn: Black' }).waitFor();
    /* Who does not see the board hears what was played and whose turn it is. */
    await dmitri.locator('#said', { hasText: /Yellow: \S+\. Your turn: Black/ }).waitFor({ state: 'attached' });
    await dmitri.fill('#move', 'm6l6');
    await dmitri.click('#do-move');
    await anna.locator('#status', { hasText: 'Your turn: White' }).waitFor();
    await anna.locator('.sheet tbody tr').first().waitFor();
    assert.equal(await anna.locator('.sheet button.move').count(), 4);

    /* A draw is offered, declined; Boris resigns after being asked. */
    await anna.getByRole('button', { name: 'Offer a draw' }).click();
    await boris.getByRole('button', { name: 'Decline the draw' }).click();
    await anna.locator('.sheet', { hasText: 'declines the draw' }).waitFor();
    boris.once('dialog', (dialog) => dialog.accept());
    await boris.getByRole('button', { name: 'Resign' }).click();
    await anna.locator('.sheet', { hasText: 'Red: resigns' }).waitFor();

    /* Looking back, and on again. */
    await anna.getByRole('button', { name: 'Back', exact: true }).click();
    await anna.locator('#status', { hasText: 'after ply 3' }).waitFor();
    await anna.getByRole('button', { name: 'Now' }).click();

    /* A note for oneself. */
    await anna.locator('#notes summary').click();
    await anna.getByLabel('A note').fill('Watch the b-file.');
    await anna.click('#add-note');
    await anna.locator('#notes .own-note', { hasText: 'Watch the b-file.' }).waitFor();
    await isAccessible(anna, 'a game with notes');

    /* Settings: language, a notice, a token shown once, a webhook of a forbidden address. */
    await anna.goto('/settings');
    await anna.getByRole('heading', { name: 'Webhooks' }).waitFor();
    await isAccessible(anna, 'settings');
    const tokens = anna.locator('section', { has: anna.getByRole('heading', { name: 'API tokens' }) });
    await tokens.getByLabel('What for').fill('a bot');
    await tokens.getByRole('button', { name: 'Make a token' }).click();
    assert.match(await tokens.locator('code').innerText(), /^fh_[a-z2-7]{26}$/);
    const hooks = anna.locator('section', { has: anna.getByRole('heading', { name: 'Webhooks' }) });
    await hooks.getByLabel('Address').fill('https://10.0.0.1/x');
    await hooks.getByRole('button', { name: 'Make a webhook' }).click();
    await hooks.locator('.fault', { hasText: /.+/ }).first().waitFor();
    const profile = anna.locator('section', { has: anna.getByRole('heading', { name: 'Profile' }) });
    assert.equal(await profile.locator('#hold').inputValue(), '');
    await profile.locator('#hold').fill('5');
    await profile.getByRole('button', { name: 'Save' }).click();
    await anna.locator('#said', { hasText: 'Saved.' }).waitFor({ state: 'attached' });
    assert.equal(await profile.locator('#hold').inputValue(), '5');
    await profile.getByLabel('Language').selectOption('ro');
    await profile.getByRole('button', { name: 'Save' }).click();
    await anna.getByRole('link', { name: 'Partidă nouă' }).waitFor();
    assert.deepEqual(faults, []);
});

test('a fortress game is placed and drawn with its walls', async (t) => {
    const club = await startClub({});
    t.after(() => club.end());
    const players = [];
    for (const handle of HANDLES) players.push(await club.player(handle, { password: PASSWORD }));
    const browser = await launch(t);
    const faults = [];
    const seats = { south: { me: true }, west: { handle: 'boris' }, north: { handle: 'clara' }, east: { handle: 'dmitri' } };
    const game = await players[0].post('/api/v1/games', { variant: 'fortress', reserve: 'chosen', seats });
    for (const player of players.slice(1)) await player.post(`/api/v1/games/${game.id}/accept`, {});
    const place = { west: ['d1', 'c3', 'a2'], north: ['a13', 'c14', 'b16'], east: ['m16', 'n14', 'p15'] };
    for (const [i, seat] of ['west', 'north', 'east'].entries()) {
        const [rook, knight, bishop] = place[seat];
        await players[i + 1].post(`/api/v1/games/${game.id}/placement`, { rook, knight, bishop });
    }
    const anna = await open(browser, club, faults);
    await signIn(anna, 'anna');
    await anna.goto(`/games/${game.id}`);
    await anna.getByRole('heading', { name: 'Place your reserve' }).waitFor();
    assert.equal(await anna.locator('game-board [data-square="d1"] .man').count(), 0, 'others stay hidden');
    /* Which fortress is hers is marked, named and said; who has placed is told. */
    assert.equal(await anna.locator('game-board .mark').count(), 16);
    assert.match(await square(anna, 'p4').getAttribute('aria-label'), /^p4, for your reserve$/);
    await anna.getByText(/Squares of your fortress: .*\bp4\b/).waitFor();
    assert.equal(await anna.locator('.seats li', { hasText: '(reserve placed)' }).count(), 3);
    await isAccessible(anna, 'placing');
    for (const name of ['p4', 'n3', 'o1']) await square(anna, name).click();
    assert.equal(await anna.inputValue('#place-bishop'), 'o1');
    await anna.click('#place');
    await anna.locator('#status', { hasText: 'Your turn: White' }).waitFor();
    await anna.locator('game-board [data-square="d1"] .man').waitFor(); /* the board comes a moment after the words */
    assert.ok((await anna.locator('game-board .wall').getAttribute('d')).length > 20, 'walls are drawn');
    assert.equal(await anna.locator('game-board [role=gridcell]').count(), 192);
    assert.deepEqual(faults, []);
});

test('who cannot be reached by mail is told on every page what to do', async (t) => {
    const club = await startClub({});
    t.after(() => club.end());
    await club.player('anna', { password: PASSWORD });
    await club.stop();
    execFileSync('sqlite3', [join(club.folder, 'club.db'), "UPDATE users SET address_state = 'suspended'"]);
    await club.start();
    const browser = await launch(t);
    const faults = [];
    const anna = await open(browser, club, faults);
    await signIn(anna, 'anna');
    const banner = anna.locator('.banner', { hasText: 'Letters to anna@example.net came back' });
    for (const page of ['/', '/open', '/settings']) {
        await anna.goto(page);
        await banner.waitFor();
        await isAccessible(anna, `the banner at ${page}`);
    }
    await banner.getByRole('link', { name: 'Change the address' }).click();
    await anna.getByLabel('New address').waitFor();
    assert.deepEqual(faults, []);
});

const seatsOf = (handles) => Object.fromEntries(['south', 'west', 'north', 'east'].map((seat, i) =>
    [seat, handles[i] === 'me' || handles[i] === 'open' ? { [handles[i]]: true }
        : { [handles[i].includes('@') ? 'address' : 'handle']: handles[i] }]));

test('the first page lists every game, with invitations to answer and reserves to place', async (t) => {
    const club = await startClub({});
    t.after(() => club.end());
    const players = [];
    for (const handle of HANDLES) players.push(await club.player(handle, { password: PASSWORD }));
    const [first, second] = [await players[0].post('/api/v1/games', { variant: 'verney', seats: seatsOf(['me', 'boris', 'clara', 'open']) }),
        await players[0].post('/api/v1/games', { variant: 'teams', seats: seatsOf(['me', 'boris', 'open', 'open']) })];
    /* Of these two Boris knows by a letter to his address alone. */
    const [mailed, unseen] = [await players[0].post('/api/v1/games', { variant: 'verney', table_talk: true, seats: seatsOf(['me', 'open', 'boris@example.net', 'open']) }),
        await players[0].post('/api/v1/games', { variant: 'verney', visibility: 'players', seats: seatsOf(['me', 'boris@example.net', 'open', 'open']) })];
    const placed = await players[0].post('/api/v1/games', { variant: 'fortress', reserve: 'chosen', seats: seatsOf(['me', 'boris', 'clara', 'dmitri']) });
    for (const player of players.slice(1)) await player.post(`/api/v1/games/${placed.id}/accept`, {});
    await players[2].post(`/api/v1/games/${placed.id}/placement`, { rook: 'a13', knight: 'c14', bishop: 'b16' });
    const browser = await launch(t);
    const faults = [];
    const pages = {};
    for (const handle of ['anna', 'boris', 'clara']) {
        pages[handle] = await open(browser, club, faults, { viewport: { width: 360, height: 740 } });
        await signIn(pages[handle], handle);
    }
    const { anna, boris, clara } = pages;
    const group = (page, title) => page.locator('section', { has: page.getByRole('heading', { name: title, exact: true }) });
    const row = (page, title, game) => group(page, title).locator(`[data-game="${game.id}"]`);

    /* Whoever has only games that wait: they are listed, and what he has to place is his turn. */
    for (const game of [first, second]) await row(anna, 'Not started yet', game).waitFor();
    await row(anna, 'Your turn', placed).waitFor();
    await row(clara, 'Waiting for others', placed).waitFor(); /* she has placed */
    await isAccessible(boris, 'invitations');

    /* Accepted by pointer, declined by keyboard: each is asked about no more. */
    await row(boris, 'Invitations', first).getByRole('button', { name: 'Accept' }).click();
    await row(boris, 'Not started yet', first).waitFor();
    await row(boris, 'Invitations', second).getByRole('button', { name: 'Decline' }).focus();
    await boris.keyboard.press('Enter');
    await boris.locator(`[data-game="${second.id}"]`).waitFor({ state: 'detached' });
    await row(boris, 'Invitations', mailed).getByText('Organiser: anna. For you: North').waitFor();
    await row(boris, 'Invitations', mailed).getByRole('button', { name: 'Accept' }).click();
    await row(boris, 'Not started yet', mailed).waitFor();
    await row(boris, 'Invitations', unseen).getByRole('button', { name: 'Decline' }).click();
    await boris.locator(`[data-game="${unseen.id}"]`).waitFor({ state: 'detached' });
    assert.equal(await group(boris, 'Invitations').count(), 0);
    assert.equal(await row(clara, 'Invitations', mailed).count(), 0);
    await row(clara, 'Invitations', first).getByRole('link').first().click();
    await clara.getByRole('heading', { name: 'You are invited' }).waitFor();

    /* One that only its players see is left, or declined: back to one's games. */
    const hidden = await players[0].post('/api/v1/games', { variant: 'verney', visibility: 'players', seats: seatsOf(['me', 'boris', 'clara', 'open']) });
    await boris.goto(`/games/${hidden.id}`);
    await boris.getByRole('button', { name: 'Decline' }).click();
    await boris.getByRole('heading', { name: 'My games' }).waitFor();
    await clara.goto(`/games/${hidden.id}`);
    await clara.click('#accept');
    await clara.getByRole('button', { name: 'Give my seat back' }).click();
    await clara.getByRole('heading', { name: 'My games' }).waitFor();

    /* A stranger sees the seats and the pace, and nothing that is his to do. */
    const stranger = await open(browser, club, faults);
    await stranger.goto(`/games/${first.id}`);
    await stranger.getByText('for each move').waitFor();
    assert.equal(await stranger.locator('.side button').count(), 0);
    assert.doesNotMatch(await stranger.locator('.side').innerText(), /^\d+$/m);

    /* What the table has agreed on is said where it matters, and that the server carries no talk. */
    assert.match(await stranger.locator('#talk').innerText(), /players do not talk about it/);
    await stranger.goto(`/games/${mailed.id}`);
    await stranger.locator('#talk', { hasText: 'This server carries none' }).waitFor();

    /* A refusal names the seat, not a place in what was sent. */
    await anna.goto('/new');
    await anna.getByText('This server carries no talk').waitFor();
    await anna.selectOption('#seat-west', 'handle');
    await anna.fill('#who-west', 'nobody-here');
    await anna.click('#make-game');
    await anna.locator('.fault', { hasText: 'West: there is no player of that name' }).waitFor();

    /* Before the first turn nothing is linked that cannot be had; nor is a draw to be claimed. */
    for (const game of [first, placed]) {
        await anna.goto(`/games/${game.id}`);
        await anna.getByText('for each move').waitFor();
        const links = await anna.locator('a[href^="/api/"]').evaluateAll((all) => all.map((a) => a.href));
        for (const link of links) assert.equal((await anna.request.get(link)).status(), 200, link);
    }
    assert.deepEqual(faults, []);
});

test('a fault of the page and a network that is away are told apart', async (t) => {
    const club = await startClub({});
    t.after(() => club.end());
    await club.player('anna', { password: PASSWORD });
    const browser = await launch(t);
    const page = await open(browser, club, []);
    await signIn(page, 'anna');
    await page.route('**/api/v1/games?player=me', (route) => route.fulfill({ json: { items: [{ id: 'x', state: 'open' }], next: null } }));
    await page.goto('/');
    await page.getByRole('alert').filter({ hasText: 'This page has a fault' }).waitFor();
    await page.unroute('**/api/v1/games?player=me');
    await page.route('**/api/v1/games?player=me', (route) => route.abort());
    await page.goto('/');
    await page.getByRole('alert').filter({ hasText: 'The server cannot be reached' }).waitFor();
});

test('an invitation link tells who is logged in that he needs none', async (t) => {
    const club = await startClub({});
    t.after(() => club.end());
    await club.player('anna', { password: PASSWORD });
    const browser = await launch(t);
    const faults = [];
    const page = await open(browser, club, faults);
    await signIn(page, 'anna');
    await page.goto('/sign-in#invitation=abcdefghijklmnopqrstuvwxyz');
    await page.getByText('You are logged in as').waitFor();
    await page.locator('#invited-already').waitFor();
    assert.equal(await page.locator('form').count(), 0);
    await isAccessible(page, 'logged in already');
    assert.deepEqual(faults, []);
});

test('a mailed invitation to a game of its players only is answered from its link', async (t) => {
    const post = await startMailServer();
    const club = await startClub({ smtpPort: post.port });
    t.after(async () => { await club.end(); await post.close(); });
    const anna = await club.player('anna', { password: PASSWORD });
    await club.player('boris', { password: PASSWORD });
    const browser = await launch(t);
    const faults = [];
    const invite = async (address) => {
        const game = await anna.post('/api/v1/games', { variant: 'verney', visibility: 'players',
            seats: { south: { me: true }, west: { open: true }, north: { open: true }, east: { address } } });
        const letter = await post.letters.take((x) => x.to[0] === address);
        return { game, link: /\/games\/\S+#invitation=[a-z2-7]{26}/.exec(letter.mail.text)[0] };
    };

    /* Nobody logged in: after the log-in it is still there. */
    const first = await invite('guest@far.example');
    const page = await open(browser, club, faults);
    await page.goto(first.link);
    await page.getByRole('heading', { name: 'You are invited' }).waitFor();
    await isAccessible(page, 'an invitation');
    await page.getByRole('link', { name: 'Log in to answer the invitation' }).click();
    const form = page.locator('form', { has: page.locator('#sign-in') });
    await form.getByLabel('Handle or mail address').fill('boris');
    await form.getByLabel('Password').fill(PASSWORD);
    await page.click('#sign-in');
    await page.click('#accept');
    await page.locator('.seats', { hasText: 'boris' }).waitFor();
    assert.equal((await anna.get(`/api/v1/games/${first.game.id}`)).seats.find((x) => x.seat === 'east').player.handle, 'boris');

    /* Declining needs no account. */
    const second = await invite('other@far.example');
    const stranger = await open(browser, club, faults);
    await stranger.goto(second.link);
    await stranger.click('#decline');
    await stranger.getByRole('heading', { name: 'The invitation is declined.' }).waitFor();
    assert.equal((await anna.get(`/api/v1/games/${second.game.id}`)).seats.find((x) => x.seat === 'east').status, 'open');
    await stranger.goto(`/games/${first.game.id}`);
    await stranger.getByRole('alert').filter({ hasText: 'no such game' }).waitFor();
    assert.deepEqual(faults, []);
});

test('a draw can be claimed when it may be, and who left is told without he or she', async (t) => {
    const club = await startClub({});
    t.after(() => club.end());
    const players = [];
    for (const handle of HANDLES) players.push(await club.player(handle, { password: PASSWORD }));
    const game = await players[0].post('/api/v1/games', { variant: 'verney', seats: seatsOf(['me', 'boris', 'clara', 'dmitri']) });
    for (const player of players.slice(1)) await player.post(`/api/v1/games/${game.id}/accept`, {});
    const browser = await launch(t);
    const faults = [];
    const anna = await open(browser, club, faults);
    await signIn(anna, 'anna');
    await anna.goto(`/games/${game.id}`);
    await anna.locator('#status', { hasText: 'Your turn' }).waitFor();
    assert.equal(await anna.getByRole('button', { name: 'Claim a draw' }).count(), 0);
    assert.equal(await anna.locator('.links a').count(), 5);

    /* What the server says can be claimed has its button. */
    await anna.route('**/legal', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...await response.json(), claims: ['repetition'] } });
    });
    await anna.reload();
    await anna.getByRole('button', { name: 'Claim a draw' }).waitFor();

    /* By keyboard: the focus is never lost to an act that is done. */
    await anna.getByRole('button', { name: 'Offer a draw' }).focus();
    await anna.keyboard.press('Enter');
    await anna.getByText('White offers a draw.').waitFor();
    await anna.waitForFunction(() => document.activeElement.id === 'status');

    /* What is being typed outlives what others do meanwhile, and so does the focus. */
    await anna.fill('#move', 'e2');
    const { state_number } = await players[2].get(`/api/v1/games/${game.id}`);
    await players[2].post(`/api/v1/games/${game.id}/resign`, { state_number });
    await anna.locator('.seats li', { hasText: 'clara (resigned)' }).waitFor();
    assert.equal(await anna.inputValue('#move'), 'e2');
    assert.equal(await anna.evaluate(() => document.activeElement.id), 'move');

    await players[0].patch('/api/v1/me', { language: 'ru' });
    await anna.reload();
    await anna.locator('.seats li', { hasText: 'clara (сдача)' }).waitFor();
    await players[0].patch('/api/v1/me', { language: 'ro' });
    await anna.reload();
    await anna.locator('.seats li', { hasText: 'clara (cedare)' }).waitFor();
    assert.equal(await anna.locator('.skip').innerText(), 'Salt la conținut');

    /* … also with the result. */
    await players[0].patch('/api/v1/me', { language: 'en' });
    await players[0].post(`/api/v1/games/${game.id}/resign`, { state_number: (await players[0].get(`/api/v1/games/${game.id}`)).state_number });
    await anna.reload();
    await anna.locator('#status', { hasText: 'Out of the game: White (resigned), Yellow (resigned).' }).waitFor();
    assert.deepEqual(faults, []);
});
