/* views/game.js - one game: board, seats, typed moves, score sheet, draws, live by events. */

import { all, follow, get, post, Problem } from '../api.js';
import { field, h, put, say } from '../dom.js';
import { SEATS } from '../position.js';
import { instant, span, t, tOr } from '../words.js';
import { action, colourName, deadlineLine, form, playerLink, seatLine, seatName, variantName } from './common.js';
import '../board.js';

/* The secret of a mailed invitation stands behind the #, which no server sees. */
const invitationToken = () => new URLSearchParams(location.hash.slice(1)).get('invitation');

/* Who is invited by mail to a game of its players only does not see it before he has accepted. */
function showInvitation(app, main, id) {
    const base = `/api/v1/games/${id}`, token = invitationToken();
    put(main, h('h1', {}, t('ui.game.invited')), h('p', {}, t('ui.game.invited_private')),
        app.me ? action(app, t('ui.game.accept'), async () => {
            await post(`${base}/accept`, { token });
            app.go(`/games/${id}`);
        }, { id: 'accept' }) : signInToAnswer(id),
        action(app, t('ui.game.decline'), async () => {
            await post(`${base}/decline`, { token });
            put(main, h('h1', { tabindex: '-1' }, t('ui.game.declined')));
            main.firstElementChild.focus();
        }, { id: 'decline' }));
}

const signInToAnswer = (id) => h('p', {}, h('a', { href: `/sign-in?game=${id}${location.hash}` }, t('ui.game.sign_in_to_answer')));

export async function showGame(app, main, id) {
    const base = `/api/v1/games/${id}`;
    let game;
    try {
        game = await get(base);
    } catch (error) {
        if (!(error instanceof Problem) || error.status !== 404 || !invitationToken()) throw error;
        showInvitation(app, main, id);
        return null;
    }
    let events = [];
    let legal = null; /* what may be moved and claimed now, when it is the reader's turn */
    let seen = null; /* the ply looked at, or null for now */
    let turned = null; /* the seat that the reader has turned to the bottom */
    let stopped = false;
    const info = app.service.variants.find((v) => v.id === game.variant);

    const title = h('h1', {}, `${variantName(game.variant)} ${id}`);
    const status = h('p', { class: 'status', id: 'status', tabindex: '-1' });
    const clock = h('p', { class: 'clock', id: 'clock' });
    const board = h('game-board', {});
    const promote = h('div', { class: 'promote' });
    const turning = h('div', { class: 'toolbar' });
    const side = h('div', { class: 'side' });
    const sheet = h('section', { class: 'sheet' }); /* what scrolls in it is the landmark */
    const talk = h('div', { id: 'fault', class: 'fault', role: 'alert' });
    put(main, title, status, clock, h('div', { class: 'table' },
        h('div', { class: 'board-box' }, turning, board, promote, talk), side), sheet);

    const colourOf = (seat) => colourName(info.seats.find((x) => x.seat === seat).colour);
    const mine = () => game.you?.seats ?? [];
    const myTurn = () => game.state === 'running' && !game.paused && game.turn && mine().includes(game.turn.seat);
    const fault = (error) => { talk.textContent = error ? app.problem(error) : ''; };

    async function loadEvents() {
        let since = events.length ? events[events.length - 1].seq : 0;
        for (;;) {
            const page = await get(`${base}/events?since=${since}&limit=1000`);
            events.push(...page.items);
            if (!page.items.length || events[events.length - 1].seq >= game.event_seq) return;
            since = page.next;
        }
    }

    async function reload() {
        try {
            game = await get(base);
        } catch (error) {
            /* Whoever has left a game of its players only sees it no more. */
            if (!(error instanceof Problem) || error.status !== 404) throw error;
            app.go('/');
            return;
        }
        const known = events.length;
        await loadEvents();
        await draw();
        tell(events.slice(known));
    }

    /* For who does not see the board: what has been played, and whose turn it is now. */
    function tell(fresh) {
        if (fresh.length) say([...fresh.filter(isMove).map((e) => `${colourOf(e.seat)}: ${e.notation ?? e.move}`), status.textContent].join('. '));
    }

    /* ---- acts */

    async function play(move) {
        fault(null);
        try {
            const made = await post(`${base}/moves`, { move, state_number: game.state_number });
            game = made.game;
            say(t('ui.game.played', { move: made.move.notation }));
            await loadEvents();
        } catch (error) {
            fault(error);
            if (error instanceof Problem && error.status === 409) {
                await reload();
                return false;
            }
            board.choose(null);
            return false;
        }
        seen = null;
        await draw();
        return true;
    }

    board.addEventListener('play', (event) => {
        const { moves, from, to } = event.detail;
        /* A finger covers more than a square of fourteen, and no move is taken back. */
        if (moves.length === 1 && !matchMedia('(pointer: coarse)').matches) {
            play(moves[0]);
            return;
        }
        const buttons = moves.map((move) => h('button', { onclick: () => { put(promote); play(move); } },
            moves.length === 1 ? `${t('ui.game.move')} ${from}–${to}` : t(`ui.kind.${move.at(-1)}`)));
        put(promote, moves.length > 1 && h('p', {}, t('ui.game.promote', { square: to })), buttons,
            h('button', { class: 'plain', onclick: () => { put(promote); board.choose(null); board.querySelector('[tabindex="0"]')?.focus(); } }, t('ui.cancel')));
        buttons[0].focus();
    });

    /* Whoever points elsewhere wants what was asked no more. */
    for (const kind of ['click', 'keydown']) board.addEventListener(kind, () => put(promote), true);

    const act = (path, seat) => async () => {
        fault(null);
        const body = { state_number: game.state_number };
        if (seat) body.seat = seat;
        try {
            game = await post(`${base}/${path}`, body);
        } catch (error) {
            if (error instanceof Problem && error.status === 409) await reload();
            throw error;
        }
        await loadEvents();
        await draw();
    };

    const organise = (path, body) => async () => {
        game = await post(`${base}/${path}`, body());
        note.value = '';
        await loadEvents();
        await draw();
    };

    /* ---- drawing */

    function drawStatus() {
        const parts = [];
        if (game.state === 'finished' && game.result) {
            const cause = tOr(`ui.cause.${game.result.cause}`, game.result.cause);
            parts.push(`${t('ui.game.over')} ${game.result.score} – `,
                game.result.winner ? t('ui.game.won', { side: t(`ui.side.${game.result.winner.replace('-', '_')}`) }) : t('ui.game.drawn'), ` (${cause})`);
            if (game.result.left.length)
                parts.push('. ', t('ui.game.left', { list: game.result.left.map((x) => `${colourOf(x.seat)} (${t(`ui.left.${x.how}`)})`).join(', ') }));
        } else if (game.state === 'running') {
            parts.push(game.paused ? `${t('ui.state.paused')}. ` : '',
                myTurn() ? t('ui.game.your_turn', { colour: colourOf(game.turn.seat) })
                    : t('ui.game.to_move', { seat: `${colourOf(game.turn.seat)} (${seatName(game.turn.seat)})` }));
            if (game.checks.length) parts.push(' ', t('ui.game.checks', { seats: game.checks.map(colourOf).join(', ') }));
        } else {
            parts.push(t(`ui.state.${game.state}`));
        }
        if (seen !== null) parts.push(' ', t('ui.game.looking_back', { ply: seen }));
        put(status, parts);
        const due = game.state === 'placing' ? game.placing_deadline : game.state === 'open' ? game.expires_at : null;
        put(clock, game.turn ? [t('ui.time.deadline'), ' ', deadlineLine(game.turn)]
            : due ? [t('ui.time.deadline'), ' ', instant(due)] : null);
    }

    async function drawBoard() {
        const bottom = turned ?? mine()[0] ?? game.you?.invited?.[0] ?? 'south';
        const back = (text, run) => h('button', { class: 'plain', onclick: run }, text);
        put(turning,
            back(t('ui.board.turn'), () => { turned = SEATS[(SEATS.indexOf(bottom) + 1) % 4]; draw(); }),
            back(t('ui.board.back'), () => look((seen ?? game.ply) - 1)),
            back(t('ui.board.forward'), () => look((seen ?? game.ply) + 1)),
            seen !== null && back(t('ui.board.now'), () => look(game.ply)));
        if (seen !== null) {
            const then = await get(`${base}/position?ply=${seen}`);
            const move = events.find((e) => isMove(e) && e.ply === seen);
            board.show({ info, position: then.position, bottom, lastMove: move?.move ?? null });
            return;
        }
        board.show({ info, position: game.position, bottom, lastMove: game.last_move?.move ?? null,
            checks: game.checks, legal: legal?.moves ?? [], marks: placingMarks() });
    }

    function look(ply) {
        const to = Math.max(0, Math.min(game.ply, ply));
        seen = to === game.ply ? null : to;
        draw();
    }

    function drawSide() {
        const held = side.contains(document.activeElement) ? document.activeElement : null;
        put(side,
            h('section', {}, h('h2', {}, t('ui.game.seats')), h('ul', { class: 'seats' }, game.seats.map((seat) =>
                h('li', { class: game.turn?.seat === seat.seat ? 'on-turn' : null }, seatLine(seat), ' ',
                    game.state === 'placing' && placement?.seats.find((x) => x.seat === seat.seat).placed && `(${t('ui.placing.placed')})`,
                    seat.left ? `(${t(`ui.left.${seat.left}`)})`
                        : seat.condition && seat.condition !== 'live' ? `(${t(`ui.condition.${seat.condition}`)})` : null,
                    game.state === 'open' && seat.status === 'open' && app.me && action(app, t('ui.game.join', { seat: seatName(seat.seat) }),
                        async () => { game = await post(`${base}/join`, { seats: [seat.seat] }); await reload(); }))))),
            invitation(), placing(), moveForm(), acts(), organiser(), mine().length > 0 && notes,
            /* before the first turn there is no board to show */
            game.position && h('section', {}, h('h2', {}, t('ui.game.as_text')), h('ul', { class: 'links' },
                [['game.txt', 'ui.game.text'], ['board.txt', 'ui.game.board_text'], ['game.pgn4', 'ui.game.pgn4'],
                    ['board.svg', 'ui.game.svg'], ['board.png', 'ui.game.png']].map(([file, code]) =>
                    h('li', {}, h('a', { href: `${base}/${file}` }, t(code)))))),
            game.organiser && h('p', {}, `${t('ui.game.organiser')}: `, playerLink(game.organiser)),
            h('p', {}, t('ui.game.pace', { span: span(game.time.per_move_ms) }), game.rated ? ` ${t('ui.game.rated')}` : ''),
            game.state !== 'finished' && game.state !== 'aborted' && h('p', { id: 'talk' }, t(game.table_talk ? 'ui.game.table_talk' : 'ui.game.silence')));
        if (!held || side.contains(document.activeElement)) return;
        /* What had the focus was drawn anew: to what took its place, or to what is told now. */
        const again = held.isConnected ? held : held.id ? document.getElementById(held.id) : null;
        (again ?? status).focus();
    }

    function invitation() {
        const token = invitationToken();
        if (game.state !== 'open') return null;
        const body = () => (token ? { token } : {});
        const answer = (path) => async () => {
            game = await post(`${base}/${path}`, body());
            history.replaceState(null, '', location.pathname);
            await reload();
        };
        if (token && !app.me) return h('section', {}, signInToAnswer(id), action(app, t('ui.game.decline'), answer('decline')));
        if (!token && !game.you?.invited?.length)
            return mine().length ? action(app, t('ui.game.leave'), async () => { game = await post(`${base}/leave`); await reload(); }) : null;
        return h('section', {}, h('h2', {}, t('ui.game.invited')),
            action(app, t('ui.game.accept'), answer('accept'), { id: 'accept' }),
            action(app, t('ui.game.decline'), answer('decline')));
    }

    /* The reserve being placed: square a man of it, in this order. */
    const ORDER = ['rook', 'knight', 'bishop'];
    let placement = null, chosen = {}, placeSeat = null;
    const placingSeat = () => placement?.seats.find((x) => x.seat === placeSeat);
    const placingMarks = () => (game.state !== 'placing' ? [] : [
        ...(placingSeat()?.squares ?? []).map((square) => ({ square, text: '·', label: t('ui.placing.free') })),
        ...Object.entries(chosen).map(([man, square]) => ({ square, text: t(`ui.letter.${man}`), label: t(`ui.man.${man}`) })),
    ]);

    function placing() {
        if (game.state !== 'placing' || !placement) return null;
        const own = placement.seats.filter((x) => mine().includes(x.seat));
        if (!own.length) return null;
        placeSeat ??= (own.find((x) => !x.placed) ?? own[0]).seat;
        const inputs = ORDER.map((man) => h('input', { id: `place-${man}`, value: chosen[man] ?? '', required: true, maxlength: 3, size: 4,
            onchange: (event) => { chosen[man] = event.target.value.trim().toLowerCase(); drawBoard(); } }));
        return h('section', {}, h('h2', {}, t('ui.placing.title')),
            h('p', {}, own.every((x) => x.placed) ? t('ui.placing.done') : t('ui.placing.how'), ' ',
                t('ui.placing.squares', { squares: placingSeat().squares.join(', ') })),
            own.length > 1 && h('p', {}, own.map((x) => h('label', { class: 'check' },
                h('input', { type: 'radio', name: 'place-seat', checked: x.seat === placeSeat,
                    onchange: () => { placeSeat = x.seat; chosen = {}; draw(); } }), seatName(x.seat)))),
            form(app, t('ui.placing.do'), async () => {
                game = await post(`${base}/placement`, { seat: placeSeat, ...Object.fromEntries(ORDER.map((man, i) => [man, inputs[i].value.trim().toLowerCase()])) });
                chosen = {};
                placeSeat = null;
                await reload();
            }, ORDER.map((man, i) => field(t(`ui.man.${man}`), inputs[i])), { id: 'place' }));
    }

    board.addEventListener('square', (event) => {
        if (game.state !== 'placing' || !placeSeat) return;
        const { square } = event.detail;
        if (!placingSeat().squares.includes(square)) return;
        for (const man of ORDER) if (chosen[man] === square) delete chosen[man];
        const man = ORDER.find((x) => !chosen[x]);
        if (!man) return;
        chosen[man] = square;
        drawSide();
        drawBoard();
    });

    /* What is typed stays when something else happens meanwhile. */
    const input = h('input', { id: 'move', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', maxlength: 16, required: true });
    const note = h('input', { id: 'note', maxlength: 500 });
    let isOrganising = false;

    function moveForm() {
        if (!myTurn()) {
            input.value = '';
            return null;
        }
        return h('section', {}, form(app, t('ui.game.move'), async () => {
            const text = input.value.trim();
            if (text && await play(text)) input.value = '';
        }, [field(t('ui.game.type_move'), input, t('ui.game.type_move_hint'))], { id: 'do-move' }));
    }

    function acts() {
        if (game.state !== 'running' || !mine().length) return null;
        const alive = mine().filter((seat) => !['mated', 'absent'].includes(game.seats.find((x) => x.seat === seat).condition));
        const staying = mine().filter((seat) => game.seats.find((x) => x.seat === seat).condition !== 'absent');
        const offer = game.draw_offer;
        const open = offer ? alive.filter((seat) => !offer.accepted.includes(seat) && offer.seat !== seat) : [];
        const named = (text, seat, list) => (list.length > 1 ? `${text} (${colourOf(seat)})` : text);
        return h('section', {}, h('h2', {}, t('ui.game.acts')),
            offer && h('p', {}, t('ui.draw.offered', { seat: colourOf(offer.seat) })),
            open.map((seat) => [action(app, named(t('ui.draw.accept'), seat, open), act('draw/accept', seat)),
                action(app, named(t('ui.draw.decline'), seat, open), act('draw/decline', seat))]),
            !offer && alive.map((seat) => action(app, named(t('ui.draw.offer'), seat, alive), act('draw/offer', seat))),
            myTurn() && legal?.claims?.length > 0 && action(app, t('ui.draw.claim'), act('draw/claim', game.turn.seat)),
            staying.map((seat) => action(app, named(t('ui.game.resign'), seat, staying), act('resign', seat),
                { confirm: t('ui.game.resign_sure', { colour: colourOf(seat) }), class: 'danger' })));
    }

    function organiser() {
        if (!game.you?.organiser || game.state === 'finished' || game.state === 'aborted') return null;
        const body = (more = {}) => () => (note.value.trim() ? { ...more, note: note.value.trim() } : { ...more });
        return h('details', { open: isOrganising, ontoggle: (event) => { isOrganising = event.target.open; } },
            h('summary', { id: 'organise' }, t('ui.organiser.title')), field(t('ui.organiser.note'), note),
            game.state === 'running' && !game.paused && action(app, t('ui.organiser.pause'), organise('pause', body())),
            game.paused && action(app, t('ui.organiser.resume'), organise('resume', body())),
            game.state === 'running' && action(app, t('ui.organiser.credit'), organise('credit', body({ amount_ms: 86400000 }))),
            action(app, t('ui.organiser.abort'), organise('abort', body()), { confirm: t('ui.organiser.abort_sure') }));
    }

    /* Read when they are first opened: most games have none. */
    const notes = h('details', { id: 'notes' }, h('summary', {}, t('ui.notes.title')));
    notes.addEventListener('toggle', () => { if (notes.open && notes.childElementCount === 1) drawNotes().catch(fault); });
    async function drawNotes() {
        const items = await all(`${base}/notes`, 100, 'since');
        const text = h('textarea', { maxlength: 2000, required: true, rows: 3 });
        put(notes, notes.firstElementChild, h('p', {}, t('ui.notes.only')),
            h('ol', {}, items.map((note) => h('li', {}, h('small', {}, `${instant(note.at)}, ${t('ui.notes.at', { ply: note.ply })}`),
                h('p', { class: 'own-note' }, note.text)))),
            form(app, t('ui.notes.add'), async () => {
                await post(`${base}/notes`, { text: text.value.trim() });
                await drawNotes();
            }, [field(t('ui.notes.new'), text)], { id: 'add-note' }));
    }

    const isMove = (event) => event.kind === 'move' || event.kind === 'moved';
    const NOTED = ['mated', 'released', 'passed', 'removed', 'resigned', 'forfeited', 'draw_offered', 'draw_accepted',
        'draw_declined', 'draw_lapsed', 'draw_claimed', 'paused', 'resumed', 'credited', 'outage_credited', 'delivery_credited',
        'adjudicated', 'late', 'finished', 'aborted'];

    /* A line a round; what else happened stands under the move that caused it. */
    function drawSheet() {
        const rows = [];
        let cells = {}, notes = [], lastIndex = 4, round = 0;
        const flush = () => {
            if (!Object.keys(cells).length && !notes.length) return;
            if (Object.keys(cells).length)
                rows.push(h('tr', {}, h('th', { scope: 'row' }, String(round)), SEATS.map((seat) => h('td', {}, cells[seat] ?? ''))));
            for (const note of notes) rows.push(h('tr', { class: 'note' }, h('td', { colspan: 5 }, note)));
            cells = {};
            notes = [];
        };
        for (const event of events) {
            if (isMove(event)) {
                const index = SEATS.indexOf(event.seat);
                if (index <= lastIndex) {
                    flush();
                    round += 1;
                }
                lastIndex = index;
                const ply = event.ply;
                cells[event.seat] = h('button', { class: 'plain move', 'aria-current': ply === (seen ?? game.ply) ? 'true' : null,
                    onclick: () => look(ply) }, event.notation ?? event.move);
            } else if (NOTED.includes(event.kind)) {
                notes.push(t(`ui.event.${event.kind}`, { seat: event.seat ? colourOf(event.seat) : '',
                    cause: event.cause ? tOr(`ui.cause.${event.cause}`, event.cause) : '', span: span(event.amount_ms ?? 0),
                    note: event.note ?? '' }));
            }
        }
        flush();
        put(sheet, h('h2', {}, t('ui.sheet.title')), rows.length
            ? h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t('ui.sheet.title') }, h('table', {}, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, '#'),
                info.seats.map((x) => h('th', { scope: 'col' }, colourName(x.colour))))), h('tbody', {}, rows)))
            : h('p', {}, t('ui.sheet.empty')));
    }

    async function draw() {
        if (stopped) return;
        if (game.state === 'placing') placement = await get(`${base}/placement`);
        if (!myTurn()) legal = null;
        else if (legal?.state_number !== game.state_number) legal = await get(`${base}/legal`);
        drawStatus();
        drawSide();
        drawSheet();
        await drawBoard();
    }

    await loadEvents();
    await draw();
    let soon = null;
    const stopEvents = follow(`${base}/events?since=${game.event_seq}`, (event) => {
        if (event && event.seq <= (events.at(-1)?.seq ?? 0)) return; /* our own act, shown already */
        clearTimeout(soon);
        soon = setTimeout(() => reload().catch(fault), 100);
    }, (open) => { board.toggleAttribute('data-live', open); });
    const ticking = setInterval(drawStatus, 30000);
    return () => {
        stopped = true;
        clearTimeout(soon);
        clearInterval(ticking);
        stopEvents();
    };
}
