/* views/lists.js - my games by time left, open games, a player's page. */

import { all, follow, get, post, Unreachable } from '../api.js';
import { h, put } from '../dom.js';
import { instant, t } from '../words.js';
import { action, deadlineLine, playerLink, seatLine, seatName, variantName } from './common.js';

const until = (game) => (game.turn?.deadline ? Date.parse(game.turn.deadline)
    : game.placing_deadline ? Date.parse(game.placing_deadline) : Infinity);

function gameRow(game, ...more) {
    return h('li', { class: 'game-row', 'data-game': game.id },
        h('a', { href: `/games/${game.id}` }, `${variantName(game.variant)} ${game.id}`),
        ' ', h('span', { class: 'state' }, t(`ui.state.${game.paused ? 'paused' : game.state}`)),
        game.turn && h('div', {}, t('ui.game.to_move', { seat: seatName(game.turn.seat) }), ' – ', deadlineLine(game.turn)),
        h('ul', { class: 'seats' }, game.seats.map((seat) => h('li', {}, seatLine(seat)))),
        more);
}

function listOf(title, games, row = gameRow) {
    if (!games.length) return null;
    return h('section', {}, h('h2', {}, title), h('ul', { class: 'games' }, games.map((game) => row(game))));
}

export async function showHome(app, main) {
    if (!app.me) {
        put(main, h('h1', {}, t('ui.home.title')), h('p', {}, t('ui.home.about')),
            h('p', {}, h('a', { href: '/sign-in' }, t('ui.nav.sign_in'))));
        await openGames(app, main);
        return null;
    }
    const body = h('div', {});
    const draw = async () => {
        const [games, due, invited] = await Promise.all(['player=me', 'turn=me', 'invited=me'].map((which) => all(`/api/v1/games?${which}`)));
        const waits = new Set(due.map((g) => g.id)); /* to move or to place */
        const running = games.filter((g) => g.state === 'running' || g.state === 'placing').sort((a, b) => until(a) - until(b));
        const mine = running.filter((g) => waits.has(g.id) && !g.paused);
        const others = running.filter((g) => !mine.includes(g));
        const asked = new Set(invited.map((g) => g.id)); /* by account, or by mail alone */
        const waiting = games.filter((g) => g.state === 'open' && !asked.has(g.id));
        const over = games.filter((g) => g.state === 'finished' || g.state === 'aborted');
        put(body,
            listOf(t('ui.home.your_turn'), mine) ?? h('p', {}, t('ui.home.nothing_due')),
            listOf(t('ui.home.invitations'), invited, (game) => gameRow(game,
                h('p', {}, `${t('ui.game.organiser')}: `, playerLink(game.organiser), '. ', t('ui.home.invited_to', { seats: game.you.invited.map(seatName).join(', ') })),
                action(app, t('ui.game.accept'), async () => { await post(`/api/v1/games/${game.id}/accept`, {}); await draw(); }),
                action(app, t('ui.game.decline'), async () => { await post(`/api/v1/games/${game.id}/decline`, {}); await draw(); }))),
            listOf(t('ui.home.others_turn'), others),
            listOf(t('ui.home.waiting'), waiting),
            listOf(t('ui.home.over'), over));
    };
    put(main, h('h1', {}, t('ui.home.my_games')), body);
    await draw();
    let soon = null;
    const drawSoon = () => {
        clearTimeout(soon);
        soon = setTimeout(() => draw().catch((error) => {
            if (!(error instanceof Unreachable)) put(body, h('p', { role: 'alert' }, app.problem(error)));
        }), 200);
    };
    const stop = follow('/api/v1/events', drawSoon);
    /* An invitation by mail is no event of the account's: look when the reader does. */
    const back = () => { if (!document.hidden) drawSoon(); };
    document.addEventListener('visibilitychange', back);
    return () => { clearTimeout(soon); stop(); document.removeEventListener('visibilitychange', back); };
}

async function openGames(app, main) {
    const body = h('div', {});
    const draw = async () => {
        const games = await all('/api/v1/games?open=true');
        put(body, listOf(t('ui.open.title'), games, (game) => gameRow(game,
            app.me && game.seats.filter((seat) => seat.status === 'open').map((seat) =>
                action(app, t('ui.game.join', { seat: seatName(seat.seat) }), async () => {
                    await post(`/api/v1/games/${game.id}/join`, { seats: [seat.seat] });
                    app.go(`/games/${game.id}`);
                })))) ?? h('p', {}, t('ui.open.none')));
    };
    main.append(body);
    await draw();
}

export async function showOpen(app, main) {
    put(main, h('h1', {}, t('ui.open.title')));
    if (app.me) main.append(h('p', {}, h('a', { href: '/new' }, t('ui.nav.new'))));
    await openGames(app, main);
}

export async function showPlayer(app, main, handle) {
    const user = await get(`/api/v1/users/${encodeURIComponent(handle)}`);
    const games = await all(`/api/v1/games?player=${encodeURIComponent(handle)}`, 200);
    put(main, h('h1', {}, user.name || user.handle),
        h('p', {}, t('ui.player.since', { date: instant(user.created_at) })),
        listOf(t('ui.player.running'), games.filter((g) => g.state === 'running')),
        listOf(t('ui.player.over'), games.filter((g) => g.state === 'finished')));
}
