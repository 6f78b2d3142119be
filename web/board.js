/*
 * board.js - <game-board>: the board of any of the games, for pointer and keyboard alike.
 *
 * board.show({info, position, bottom, lastMove, checks, legal, marks}) draws it anew:
 *   info      the variant's entry of the service document: files, ranks, squares, walls, seats
 *   position  the position's text, or null for an empty board
 *   bottom    the seat whose edge is at the bottom
 *   lastMove  "e2e4" or null;  checks  seats whose kings are attacked
 *   legal     moves that may be made here and now; empty = nothing can be moved
 *   marks     [{square, text, label}]: letters on empty squares (placing a reserve), and what is
 *             said of them; of two for one square the later holds
 * It sends "play" with detail {from, to, moves} when a legal move has been pointed out (several
 * moves: a choice of promotion is left) and "square" with detail {square} for any other square.
 *
 * Arrow keys go from square to square, Enter or Space chooses, Escape lets go.
 */

import { ARMY, DETAIL, MARK, SHAPE } from './pieces.js';
import { isInert, readMove, readPosition, squareName, squareOf } from './position.js';
import { put, s } from './dom.js';
import { t } from './words.js';

/* Which way a seat's pawns walk, in files and ranks. */
const FORWARD = { south: [0, 1], west: [1, 0], north: [0, -1], east: [-1, 0] };
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

class GameBoard extends HTMLElement {
    constructor() {
        super();
        this.chosen = null;
        this.cursor = null;
        this.addEventListener('keydown', (event) => this.onKey(event));
    }

    show(what) {
        this.what = { lastMove: null, checks: [], legal: [], marks: [], ...what };
        const { info, position } = this.what;
        this.squares = new Set(info.squares);
        this.read = position ? readPosition(position, info) : { men: new Map(), conditions: 'aaaa' };
        this.byFrom = new Map();
        for (const text of this.what.legal) {
            const move = readMove(text);
            if (!this.byFrom.has(move.from)) this.byFrom.set(move.from, []);
            this.byFrom.get(move.from).push({ ...move, text });
        }
        if (this.chosen && !this.byFrom.has(this.chosen)) this.chosen = null;
        if (!this.cursor || !this.squares.has(this.cursor)) this.cursor = this.home();
        this.draw();
    }

    /* Choose a man from outside (typed moves, tests). */
    choose(square) {
        this.chosen = this.byFrom.has(square) ? square : null;
        this.draw();
    }

    home() {
        for (const [square, man] of this.read.men)
            if (man.seat === this.what.bottom && man.kind === 'K') return square;
        return this.what.info.squares[0];
    }

    /* Where a square is drawn: columns from the left, rows from the top. */
    place(file, rank) {
        const { files, ranks } = this.what.info;
        switch (this.what.bottom) {
        case 'west': return [ranks - 1 - rank, files - 1 - file];
        case 'north': return [files - 1 - file, rank];
        case 'east': return [rank, file];
        default: return [file, ranks - 1 - rank];
        }
    }

    /* The square drawn there. */
    at(x, y) {
        const { files, ranks } = this.what.info;
        switch (this.what.bottom) {
        case 'west': return squareName(files - 1 - y, ranks - 1 - x);
        case 'north': return squareName(files - 1 - x, y);
        case 'east': return squareName(y, x);
        default: return squareName(x, ranks - 1 - y);
        }
    }

    draw() {
        const { info, bottom, lastMove, checks, marks } = this.what;
        const sideways = bottom === 'west' || bottom === 'east';
        const wide = sideways ? info.ranks : info.files, high = sideways ? info.files : info.ranks;
        const last = readMove(lastMove) ?? {};
        const targets = new Map();
        for (const move of this.byFrom.get(this.chosen) ?? []) targets.set(move.to, move);
        const markOf = new Map(marks.map((mark) => [mark.square, mark]));
        const hadFocus = this.contains(document.activeElement);
        const rows = [];
        for (let y = 0; y < high; y++) {
            const cells = [];
            for (let x = 0; x < wide; x++) {
                const square = this.at(x, y);
                if (!this.squares.has(square)) continue;
                cells.push(this.cell(square, x, y, { last, targets, checks, markOf }));
            }
            rows.push(s('g', { role: 'row' }, cells));
        }
        const edges = this.edges();
        const svg = s('svg', { viewBox: `-60 -60 ${wide * 100 + 120} ${high * 100 + 120}`, role: 'grid',
            'aria-label': t('ui.board.label'), class: 'board' }, rows, edges, this.coordinates(wide, high));
        put(this, svg);
        if (hadFocus) this.querySelector(`[data-square="${this.cursor}"]`)?.focus();
    }

    cell(square, x, y, { last, targets, checks, markOf }) {
        const { file, rank } = squareOf(square);
        const man = this.read.men.get(square);
        const target = targets.has(square);
        const classes = ['square', (file + rank) % 2 ? 'light' : 'dark'];
        if (square === last.from || square === last.to) classes.push('last');
        if (square === this.chosen) classes.push('chosen');
        if (target) classes.push(man ? 'take' : 'target');
        const inCheck = man && man.kind === 'K' && checks.includes(man.seat);
        if (inCheck) classes.push('check');
        const kids = [s('rect', { width: 100, height: 100 })];
        if (man) kids.push(this.man(man));
        if (markOf.has(square)) kids.push(s('text', { class: 'mark', x: 50, y: 68, text: markOf.get(square).text }));
        if (target && !man) kids.push(s('circle', { class: 'dot', cx: 50, cy: 50, r: 15 }));
        if (target && man) kids.push(s('rect', { class: 'ring', x: 5, y: 5, width: 90, height: 90 }));
        return s('g', {
            class: classes.join(' '), role: 'gridcell', transform: `translate(${x * 100} ${y * 100})`,
            'data-square': square, tabindex: square === this.cursor ? '0' : '-1',
            'aria-label': this.label(square, man, target, inCheck, markOf.get(square)), 'aria-selected': square === this.chosen,
            onclick: () => this.onSquare(square),
            onfocus: () => this.moveCursor(square, false),
        }, kids);
    }

    label(square, man, target, inCheck, mark) {
        const parts = [square];
        if (man) {
            const colour = this.what.info.seats.find((x) => x.seat === man.seat).colour.toLowerCase();
            parts.push(t('ui.board.man', { colour: t(`ui.colour.${colour}`), kind: t(`ui.kind.${man.kind.toLowerCase()}`) }));
            if (isInert(this.read, man.seat)) parts.push(t('ui.board.inert'));
        }
        if (mark) parts.push(mark.label);
        if (inCheck) parts.push(t('ui.board.check'));
        if (square === this.chosen) parts.push(t('ui.board.chosen'));
        if (target) parts.push(t('ui.board.target'));
        else if (!this.chosen && this.byFrom.has(square)) parts.push(t('ui.board.movable'));
        return parts.join(', ');
    }

    man({ seat, kind }) {
        const colour = this.what.info.seats.find((x) => x.seat === seat).colour.toLowerCase();
        const army = ARMY[colour] ?? ARMY.white;
        const shape = kind === 'V' ? 'P' : kind;
        const paint = { fill: army.fill, stroke: army.ink };
        const kids = SHAPE[shape].map((d) => s('path', { d, ...paint, 'stroke-width': 3,
            'stroke-linejoin': 'round' }));
        if (DETAIL[shape])
            kids.push(s('path', { d: DETAIL[shape], fill: 'none', stroke: army.ink, 'stroke-width': 4,
                'stroke-linecap': 'round' }));
        if (shape === 'P') kids.push(this.arrow(seat, kind === 'V', army));
        kids.push(s('path', { d: MARK[seat], ...paint, 'stroke-width': 3 }));
        return s('g', { class: isInert(this.read, seat) ? 'man inert' : 'man' }, kids);
    }

    /* A little head that shows which way a pawn walks; a pawn that has turned has a ring too. */
    arrow(seat, turned, army) {
        const sign = turned ? -1 : 1;
        const [df, dr] = FORWARD[seat];
        const [x0, y0] = this.place(0, 0), [x1, y1] = this.place(df * sign, dr * sign);
        const angle = Math.round(Math.atan2(y1 - y0, x1 - x0) * 180 / Math.PI);
        const head = s('path', { d: 'M38 -9L50 0L38 9z', fill: army.ink, stroke: army.fill, 'stroke-width': 2,
            transform: `translate(50 47) rotate(${angle})` });
        if (!turned) return head;
        return s('g', {}, s('circle', { cx: 50, cy: 56, r: 9, fill: 'none', stroke: army.ink, 'stroke-width': 4 }),
            head);
    }

    /* The outline of the board, walls thicker. */
    edges() {
        const walls = new Set();
        for (const [a, b] of this.what.info.walls ?? []) walls.add(a + b).add(b + a);
        const outline = [], thick = [];
        for (const name of this.squares) {
            const { file, rank } = squareOf(name);
            const [x, y] = this.place(file, rank);
            for (const [df, dr] of [[1, 0], [0, 1], [-1, 0], [0, -1]]) {
                const other = squareName(file + df, rank + dr);
                const inside = file + df >= 0 && rank + dr >= 0 && this.squares.has(other);
                if (inside && !(walls.has(name + other) && name < other)) continue;
                const [ox, oy] = this.place(file + df, rank + dr);
                const dx = ox - x, dy = oy - y;
                const cx = x * 100 + 50 + dx * 50, cy = y * 100 + 50 + dy * 50;
                const line = dx ? `M${cx} ${cy - 50}v100` : `M${cx - 50} ${cy}h100`;
                (inside ? thick : outline).push(line);
            }
        }
        return [s('path', { class: 'outline', d: outline.join('') }), s('path', { class: 'wall', d: thick.join('') })];
    }

    coordinates(wide, high) {
        const texts = [];
        const text = (x, y, label) => texts.push(s('text', { class: 'coordinate', x, y, 'aria-hidden': 'true', text: label }));
        const sideways = this.what.bottom === 'west' || this.what.bottom === 'east';
        for (let x = 0; x < wide; x++) {
            const name = this.at(x, 0);
            const label = sideways ? name.slice(1) : name[0];
            text(x * 100 + 50, -18, label);
            text(x * 100 + 50, high * 100 + 46, label);
        }
        for (let y = 0; y < high; y++) {
            const name = this.at(0, y);
            const label = sideways ? name[0] : name.slice(1);
            text(-32, y * 100 + 62, label);
            text(wide * 100 + 32, y * 100 + 62, label);
        }
        return texts;
    }

    onSquare(square) {
        this.moveCursor(square, false);
        const moves = (this.byFrom.get(this.chosen) ?? []).filter((move) => move.to === square);
        if (moves.length) {
            this.dispatchEvent(new CustomEvent('play', { bubbles: true,
                detail: { from: this.chosen, to: square, moves: moves.map((move) => move.text) } }));
            return;
        }
        const before = this.chosen;
        this.chosen = this.byFrom.has(square) && square !== before ? square : null;
        if (this.chosen || before) this.draw();
        if (!this.chosen)
            this.dispatchEvent(new CustomEvent('square', { bubbles: true, detail: { square } }));
    }

    moveCursor(square, focus) {
        if (square !== this.cursor) {
            this.querySelector(`[data-square="${this.cursor}"]`)?.setAttribute('tabindex', '-1');
            this.cursor = square;
            this.querySelector(`[data-square="${square}"]`)?.setAttribute('tabindex', '0');
        }
        if (focus) this.querySelector(`[data-square="${square}"]`)?.focus();
    }

    onKey(event) {
        if (event.key === 'Escape' && this.chosen) {
            this.chosen = null;
            this.draw();
        } else if (event.key === 'Enter' || event.key === ' ') {
            this.onSquare(this.cursor);
        } else if (ARROWS[event.key]) {
            const [dx, dy] = ARROWS[event.key];
            const { file, rank } = squareOf(this.cursor);
            let [x, y] = this.place(file, rank);
            /* Over gaps in the board to the next square that way. */
            for (let step = 0; step < 16; step++) {
                x += dx;
                y += dy;
                if (x < 0 || y < 0 || x > 15 || y > 15) break;
                const next = this.at(x, y);
                if (this.squares.has(next)) {
                    this.moveCursor(next, true);
                    break;
                }
            }
        } else {
            return;
        }
        event.preventDefault();
    }
}

customElements.define('game-board', GameBoard);
