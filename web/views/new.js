/* views/new.js - making a game. */

import { post } from '../api.js';
import { field, h, put, select } from '../dom.js';
import { SEATS } from '../position.js';
import { t } from '../words.js';
import { colourName, form, seatName, variantName } from './common.js';

const DAY = 86400000;

export async function showNew(app, main) {
    if (!app.me) {
        app.go('/sign-in');
        return;
    }
    const { variants, time } = app.service;
    const variant = select(variants.map((v) => [v.id, variantName(v.id)]), variants[0].id);
    variant.id = 'variant';
    const days = h('input', { type: 'number', id: 'days', min: Math.max(1, Math.ceil(time.per_move_ms.min / DAY)),
        max: Math.floor(time.per_move_ms.max / DAY), value: Math.round(time.per_move_ms.default / DAY), required: true });
    const rated = h('input', { type: 'checkbox' });
    const players = h('input', { type: 'checkbox' });
    const talkHint = 'table-talk-hint';
    const talk = h('input', { type: 'checkbox', 'aria-describedby': talkHint });
    const house = h('div', {}), seats = h('div', { class: 'seat-choices' });
    let rules = {}, reserve = null, wishes = {};

    const draw = () => {
        const info = variants.find((v) => v.id === variant.value);
        rules = {};
        put(house, Object.entries(info.house_rules).filter(([name]) => name !== 'reserve').map(([name, values]) => {
            rules[name] = select(values.map((value) => [value, t(`ui.house.${name}.${value}`)]), values[0]);
            return field(t(`ui.house.${name}`), rules[name]);
        }));
        reserve = info.reserves.length
            ? select(info.reserves.map((value) => [value, t(`ui.reserve.${value}`)]), info.reserves[0]) : null;
        if (reserve) house.append(field(t('ui.reserve'), reserve));
        const before = wishes;
        wishes = {};
        put(seats, info.seats.map(({ seat, colour }, index) => {
            const kind = select(['me', 'open', 'handle', 'address'].map((k) => [k, t(`ui.new.seat.${k}`)]),
                before[seat]?.kind.value ?? (index ? 'open' : 'me'));
            kind.id = `seat-${seat}`;
            const who = h('input', { id: `who-${seat}`, 'aria-label': t('ui.new.who'), maxlength: 254,
                value: before[seat]?.who.value ?? '' });
            const sync = () => {
                who.hidden = kind.value === 'me' || kind.value === 'open';
                who.required = !who.hidden;
            };
            kind.addEventListener('change', sync);
            sync();
            wishes[seat] = { kind, who };
            return h('div', { class: 'field' }, h('label', { for: kind.id }, `${colourName(colour)} (${seatName(seat)})`), kind, who);
        }));
    };
    variant.addEventListener('change', draw);
    draw();

    put(main, h('h1', {}, t('ui.new.title')), form(app, t('ui.new.do'), async () => {
        const body = {
            variant: variant.value,
            time: { mode: 'per-move', per_move_ms: Number(days.value) * DAY },
            rated: rated.checked, visibility: players.checked ? 'players' : 'public', table_talk: talk.checked, seats: {},
        };
        const house_rules = Object.fromEntries(Object.entries(rules).map(([name, control]) => [name, control.value]));
        if (Object.keys(house_rules).length) body.house_rules = house_rules;
        if (reserve) body.reserve = reserve.value;
        for (const seat of SEATS) {
            const { kind, who } = wishes[seat];
            body.seats[seat] = kind.value === 'me' || kind.value === 'open' ? { [kind.value]: true } : { [kind.value]: who.value.trim() };
        }
        const game = await post('/api/v1/games', body);
        app.go(`/games/${game.id}`);
    }, [
        field(t('ui.new.variant'), variant), house, field(t('ui.new.days'), days, t('ui.new.days_hint')),
        h('fieldset', {}, h('legend', {}, t('ui.new.seats')), h('p', {}, t('ui.new.seats_hint')), seats),
        h('label', { class: 'check' }, rated, t('ui.new.rated')),
        h('label', { class: 'check' }, players, t('ui.new.players_only')),
        h('label', { class: 'check' }, talk, t('ui.new.table_talk')), h('small', { id: talkHint }, t('ui.new.table_talk_hint')),
    ], { id: 'make-game' }));
}
