/* views/common.js - what several pages show alike. */

import { h } from '../dom.js';
import { instant, left, t } from '../words.js';

export const variantName = (variant) => t(`ui.variant.${variant}`);
export const seatName = (seat) => t(`ui.seat.${seat}`);
export const colourName = (colour) => t(`ui.colour.${colour.toLowerCase()}`);

export function playerLink(player) {
    if (!player) return t('ui.seat.nobody');
    /* Anybody may choose a name like another's; the handle is his alone. */
    const name = player.name && player.name.toLowerCase() !== player.handle.toLowerCase() ? `${player.name} (${player.handle})` : player.name || player.handle;
    return h('a', { href: `/users/${encodeURIComponent(player.handle)}` }, name);
}

/* "White (South): Anna"; a badge of the colour, the words beside it. */
export function seatLine(seat) {
    const who = seat.player ? playerLink(seat.player)
        : seat.status === 'invited' ? t('ui.seat.invited') : t('ui.seat.open');
    return h('span', { class: 'seat' },
        h('span', { class: `badge ${seat.colour.toLowerCase()}`, 'aria-hidden': 'true' }),
        `${colourName(seat.colour)} (${seatName(seat.seat)}): `, who);
}

/* The deadline in the reader's zone and how long that is. */
export function deadlineLine(turn) {
    if (!turn) return null;
    if (!turn.deadline) return h('span', {}, t('ui.time.paused'));
    return h('span', { class: turn.late ? 'late' : null },
        h('time', { datetime: turn.deadline }, instant(turn.deadline)), ` (${left(turn.deadline)})`);
}

/* A button that runs something once at a time and shows what went wrong beside it. */
export function action(app, text, run, options = {}) {
    const fault = h('span', { class: 'fault', role: 'alert' });
    const button = h('button', { type: options.submit ? 'submit' : 'button', class: options.class ?? null,
        id: options.id ?? null }, text);
    let isBusy = false;
    const act = async (event) => {
        event?.preventDefault();
        if (isBusy || (options.confirm && !window.confirm(options.confirm))) return;
        isBusy = true;
        button.setAttribute('aria-disabled', 'true'); /* "disabled" would take the focus from it */
        fault.textContent = '';
        try {
            await run();
        } catch (error) {
            fault.textContent = app.problem(error);
        } finally {
            isBusy = false;
            button.removeAttribute('aria-disabled');
        }
    };
    if (!options.submit) button.addEventListener('click', act);
    const whole = h('span', { class: 'action' }, button, fault);
    whole.act = act;
    return whole;
}

/* A form whose submit runs an action. */
export function form(app, text, run, fields, options = {}) {
    const go = action(app, text, run, { ...options, submit: true });
    return h('form', { onsubmit: go.act }, fields, go);
}
