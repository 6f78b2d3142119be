/* views/settings.js - profile, notices, password, sessions, tokens, webhooks. */

import { all, del, get, patch, post, postOnce, putTo } from '../api.js';
import { field, h, put, say, select } from '../dom.js';
import { instant, LANGUAGES, t } from '../words.js';
import { action, form } from './common.js';

const zones = () => {
    const list = h('datalist', { id: 'zones' });
    for (const name of Intl.supportedValuesOf?.('timeZone') ?? []) list.append(h('option', { value: name }));
    return list;
};

export async function showSettings(app, main) {
    if (!app.me) {
        app.go('/sign-in');
        return;
    }
    const sections = [profile, address, password, notices, sessions, tokens, webhooks];
    const nodes = sections.map(() => h('section', {}));
    put(main, h('h1', {}, t('ui.settings.title')), zones(), nodes);
    await Promise.all(sections.map(async (section, i) => {
        const again = async () => put(nodes[i], await section(app, again));
        await again();
    }));
}

async function profile(app, again) {
    const name = h('input', { value: app.me.name ?? '', maxlength: 64 });
    const zone = h('input', { value: app.me.time_zone, list: 'zones', required: true, id: 'zone' });
    const hold = h('input', { type: 'number', min: 0, max: 60, step: 1, id: 'hold',
        value: app.me.mail_hold_ms === null ? '' : String(app.me.mail_hold_ms / 60000) });
    const language = select(LANGUAGES.map((l) => [l, t(`ui.language.${l}`)]), app.me.language);
    return [h('h2', {}, t('ui.profile.title')), h('p', {}, `${t('ui.profile.handle')}: ${app.me.handle}`),
        form(app, t('ui.save'), async () => {
            await patch('/api/v1/me', { name: name.value, time_zone: zone.value.trim(), language: language.value,
                mail_hold_ms: hold.value === '' ? null : Math.round(Number(hold.value) * 60000) });
            await app.refresh();
            await again();
            say(t('ui.saved'));
        }, [field(t('ui.profile.name'), name), field(t('ui.profile.zone'), zone, t('ui.profile.zone_hint')),
            field(t('ui.profile.language'), language), field(t('ui.profile.hold'), hold, t('ui.profile.hold_hint'))])];
}

async function address(app) {
    const next = h('input', { type: 'email', required: true, maxlength: 254 });
    const done = h('p', { role: 'status' });
    return [h('h2', {}, t('ui.address.title')), h('p', {}, `${t('ui.profile.address')}: ${app.me.address ?? '–'}`),
        app.me.pending_address && h('p', {}, t('ui.address.pending', { address: app.me.pending_address })),
        form(app, t('ui.address.change'), async () => {
            await postOnce('/api/v1/me/address', { address: next.value.trim() });
            done.textContent = t('ui.address.sent');
        }, [field(t('ui.address.new'), next)]), done];
}

async function password(app, again) {
    const current = h('input', { type: 'password', autocomplete: 'current-password', maxlength: 1024 });
    const next = h('input', { type: 'password', autocomplete: 'new-password', minlength: 10, maxlength: 1024, required: true });
    const has = app.me.has_password;
    const reload = async (text) => { await app.refresh(); await again(); say(text); };
    return [h('h2', {}, t('ui.password.title')), h('p', {}, has ? t('ui.password.set') : t('ui.password.none')),
        form(app, t('ui.save'), async () => {
            const body = { password: next.value };
            if (has) body.current = current.value;
            await putTo('/api/v1/me/password', body);
            await reload(t('ui.saved'));
        }, [has && field(t('ui.password.current'), current), field(t('ui.password.new'), next, t('ui.password.hint'))]),
        has && action(app, t('ui.password.remove'), async () => { await del('/api/v1/me/password'); await reload(t('ui.saved')); })];
}

async function notices(app, again) {
    const now = await get('/api/v1/me/notices');
    const classes = Object.keys(now.mail);
    const box = (channel, name) => h('input', { type: 'checkbox', checked: now[channel][name],
        'aria-label': `${t(`ui.class.${name}`)}: ${t(`ui.channel.${channel}`)}`,
        onchange: async (event) => {
            try {
                await patch('/api/v1/me/notices', { [channel]: { [name]: event.target.checked } });
                say(t('ui.saved'));
            } catch (error) {
                say(app.problem(error));
                await again();
            }
        } });
    return [h('h2', {}, t('ui.notices.title')), h('table', {},
        h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, t('ui.notices.what')),
            ['mail', 'webhook'].map((c) => h('th', { scope: 'col' }, t(`ui.channel.${c}`))))),
        h('tbody', {}, classes.map((name) => h('tr', {}, h('th', { scope: 'row' }, t(`ui.class.${name}`)),
            ['mail', 'webhook'].map((c) => h('td', {}, name in now[c] && box(c, name)))))))];
}

async function sessions(app, again) {
    const { items } = await get('/api/v1/me/sessions');
    return [h('h2', {}, t('ui.sessions.title')), h('ul', {}, items.map((x) => h('li', {},
        `${x.agent ?? t('ui.sessions.unknown')} – ${instant(x.last_used_at)} `,
        x.current ? h('strong', {}, t('ui.sessions.this')) : action(app, t('ui.sessions.end'), async () => {
            await del(`/api/v1/me/sessions/${x.id}`);
            await again();
        })))), items.length > 1 && action(app, t('ui.sessions.end_others'), async () => {
        await del('/api/v1/me/sessions');
        await again();
    })];
}

async function tokens(app, again) {
    const { items } = await get('/api/v1/me/tokens');
    const name = h('input', { required: true, maxlength: 64 });
    const scopes = ['read', 'play', 'manage'].map((scope) => [scope, h('input', { type: 'checkbox', checked: scope === 'read' })]);
    const shown = h('p', { role: 'status' });
    return [h('h2', {}, t('ui.tokens.title')), h('ul', {}, items.map((x) => h('li', {},
        `${x.name} (${x.scopes.join(', ')}) – ${x.last_used_at ? instant(x.last_used_at) : t('ui.tokens.never')} `,
        action(app, t('ui.tokens.revoke'), async () => { await del(`/api/v1/me/tokens/${x.id}`); await again(); })))),
    form(app, t('ui.tokens.make'), async () => {
        const made = await postOnce('/api/v1/me/tokens', { name: name.value.trim(),
            scopes: scopes.filter(([, box]) => box.checked).map(([scope]) => scope) });
        await again();
        say(t('ui.tokens.made'));
        document.getElementById('token-made').replaceChildren(t('ui.tokens.made'), ' ', h('code', {}, made.token));
    }, [field(t('ui.tokens.name'), name), scopes.map(([scope, box]) =>
        h('label', { class: 'check' }, box, `${scope}: ${t(`ui.scope.${scope}`)}`))]),
    fillId(shown, 'token-made')];
}

function fillId(node, id) {
    node.id = id;
    return node;
}

async function webhooks(app, again) {
    const { items } = await get('/api/v1/me/webhooks');
    const url = h('input', { type: 'url', required: true, maxlength: 2048, placeholder: 'https://' });
    const kind = select(['standard', 'slack', 'discord', 'ntfy', 'matrix'].map((k) => [k, k]), 'standard');
    const name = h('input', { maxlength: 64 });
    const auth = h('input', { type: 'password', autocomplete: 'off', maxlength: 512 });
    const authField = field(t('ui.webhooks.auth'), auth);
    const sync = () => { authField.hidden = kind.value !== 'ntfy' && kind.value !== 'matrix'; };
    kind.addEventListener('change', sync);
    sync();
    const shown = fillId(h('p', { role: 'status' }), 'webhook-made');
    const tell = (made) => document.getElementById('webhook-made')
        .replaceChildren(t('ui.webhooks.secret'), ' ', h('code', {}, made.secret));
    return [h('h2', {}, t('ui.webhooks.title')), h('ul', {}, items.map((x) => {
        const base = `/api/v1/me/webhooks/${x.id}`;
        const on = x.state === 'on';
        const log = h('div', {});
        return h('li', {}, `${x.name || x.url} (${x.kind}) `,
            on ? t('ui.webhooks.on') : t('ui.webhooks.off', { reason: x.disabled_cause ?? '' }), ' ',
            action(app, on ? t('ui.webhooks.disable') : t('ui.webhooks.enable'), async () => { await patch(base, { state: on ? 'off' : 'on' }); await again(); }),
            action(app, t('ui.webhooks.ping'), async () => { await post(`${base}/ping`); say(t('ui.webhooks.pinged')); }),
            action(app, t('ui.webhooks.rotate'), async () => { tell(await post(`${base}/rotate`)); }),
            action(app, t('ui.webhooks.deliveries'), async () => { await deliveries(app, base, log); }),
            action(app, t('ui.webhooks.delete'), async () => { await del(base); await again(); }, { confirm: t('ui.webhooks.delete_sure') }), log);
    })), form(app, t('ui.webhooks.make'), async () => {
        const body = { url: url.value.trim(), kind: kind.value };
        if (name.value.trim()) body.name = name.value.trim();
        if (!authField.hidden && auth.value) body.auth = auth.value;
        const made = await post('/api/v1/me/webhooks', body);
        await again();
        tell(made);
    }, [field(t('ui.webhooks.url'), url, t('ui.webhooks.url_hint')), field(t('ui.webhooks.format'), kind),
        field(t('ui.webhooks.name'), name), authField]), shown];
}

async function deliveries(app, base, log) {
    const items = await all(`${base}/deliveries`, 50);
    put(log, items.length ? h('ol', {}, items.map((x) => h('li', {},
        `${instant(x.created_at)} ${t(`ui.class.${x.class}`)} ${t(`ui.delivery.${x.state}`)} `,
        x.attempts.map((a) => a.outcome).join(', '), ' ',
        action(app, t('ui.webhooks.redeliver'), async () => { await post(`${base}/deliveries/${x.id}/redeliver`); say(t('ui.webhooks.pinged')); })))) : h('p', {}, t('ui.webhooks.no_deliveries')));
}
