/*
 * e2e/lib/table.mjs - four players, an organiser who does not play, a mail server, and a daemon
 * whose clocks stand until the test moves them.
 */
import assert from 'node:assert/strict';
import { DAY, startClub } from './daemon.mjs';
import { classOf, startMailServer } from './peers.mjs';
import { eventsOf, SEATS } from './play.mjs';

export const HANDLES = ['anna', 'boris', 'clara', 'dmitri'];
export const BEGIN = '2027-01-04T08:00:00.000Z';
const ZONES = ['Europe/Berlin', 'Europe/Moscow', 'Europe/Chisinau', 'Asia/Kolkata'];

/* For assert.rejects(): an answer of that status with one of these codes. */
export const refusedWith = (status, ...codes) => (error) => {
    assert.equal(error.status, status, String(error));
    assert.ok(codes.includes(error.body.code), `${error.body.code} is not ${codes.join(' or ')}`);
    return true;
};

class Table {
    constructor(club, post, players, olga) { Object.assign(this, { club, post, players, olga }); }

    /* A game that olga organises for the four; made, but not begun. */
    invite(days, body = {}) {
        const seats = Object.fromEntries(SEATS.map((seat, i) => [seat, { handle: HANDLES[i] }]));
        return this.olga.post('/api/v1/games', { variant: 'verney', seats, time: { mode: 'per-move', per_move_ms: days * DAY }, ...body });
    }

    /* The same, begun.  Who has accepted before his invitation went out gets none. */
    async game(days, body = {}) {
        return this.begin(await this.invite(days, body));
    }

    async begin(game) {
        for (const player of this.players) game = await player.post(`/api/v1/games/${game.id}/accept`, {});
        assert.equal(game.state, 'running');
        await this.club.settle();
        return game;
    }

    look(game, player = this.olga) { return player.get(`/api/v1/games/${game.id}`); }

    events(game) { return eventsOf(this.olga, game.id); }

    /* By whose turn it is. */
    async move(game, move) {
        const now = await this.look(game);
        const player = this.players[SEATS.indexOf(now.turn.seat)];
        return player.post(`/api/v1/games/${game.id}/moves`, { move, state_number: now.state_number });
    }

    /* Letters of a class about a game, of those that came after the first `from`. */
    letters(cls, game, from = 0) {
        return this.post.letters.items.slice(from).filter((x) => classOf(x) === cls && x.mail.messageId.startsWith(`<${game.id}.`));
    }

    /* To whom they went: sorted handles. */
    to(cls, game, from = 0) { return this.letters(cls, game, from).map((x) => x.to[0].split('@')[0]).sort(); }
}

/* mail: options of startMailServer(); jitter: 'shortest' or 'longest', of what is tried again. */
export async function table(t, { mail = {}, conf = '', jitter = '' } = {}) {
    const post = await startMailServer(mail);
    const club = await startClub({ smtpPort: post.port, at: BEGIN, conf, env: { FOURHANDED_TEST_JITTER: jitter } });
    t.after(async () => { await club.end(); await post.close(); });
    const players = [];
    for (const [i, handle] of HANDLES.entries()) players.push(await club.player(handle, { zone: ZONES[i] }));
    const olga = await club.player('olga');
    return new Table(club, post, players, olga);
}

export async function verified(club) {
    await club.stop();
    assert.match(club.run('verify'), /^OK/);
}
