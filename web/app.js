/* app.js - the shell: who is logged in, which page is shown. */

import { get, postOnce, Problem, Unreachable } from './api.js';
import { h, put } from './dom.js';
import { loadWords, setZone, t, tOr } from './words.js';
import { showGame } from './views/game.js';
import { showHome, showOpen, showPlayer } from './views/lists.js';
import { showNew } from './views/new.js';
import { showSettings } from './views/settings.js';
import { showSignIn } from './views/signin.js';

/* What every view is given: the account or null, the service document, and how to go on. */
const app = { me: null, service: null, go, problem, refresh };

const ROUTES = [
    [/^\/$/, showHome],
    [/^\/open$/, showOpen],
    [/^\/new$/, showNew],
    [/^\/settings$/, showSettings],
    [/^\/sign-in$/, showSignIn],
    [/^\/games$/, showHome],
    [/^\/games\/([0-9a-z]+)$/, showGame],
    [/^\/users\/([^/]+)$/, showPlayer],
];

let leave = null; /* what the view on show wants done when it goes */
let shown = 0; /* which view is on show: one that comes too late keeps off the page */

function go(path) {
    history.pushState(null, '', path);
    show();
}

/* "/seats/west: …" → "West: …": a pointer into what was sent is nothing for people. */
function plain(detail) {
    const m = /^\/(\S*): (.*)$/s.exec(detail ?? '');
    if (!m) return detail;
    const name = m[1].split('/').pop();
    const label = tOr(`ui.seat.${name}`, tOr(`ui.man.${name}`, ''));
    return label ? `${label}: ${m[2]}` : m[2];
}

/* A sentence for a failure, in the reader's language where the catalogue has one. */
function problem(error) {
    if (error instanceof Unreachable) return t('ui.problem.network');
    if (!(error instanceof Problem)) { /* ours: no network is to blame */
        console.error(error);
        return t('ui.problem.script', { text: String(error?.message ?? error) });
    }
    const title = t(`reason.${error.code}`);
    const detail = plain(error.body.detail);
    if (title === `reason.${error.code}`) return detail ?? error.message;
    return detail && detail !== title ? `${title}: ${detail}` : title;
}

async function refresh() {
    try {
        app.me = await get('/api/v1/me');
    } catch (error) {
        if (!(error instanceof Problem) || error.status !== 401) throw error;
        app.me = null;
    }
    await loadWords(app.me?.language ?? navigator.language);
    if (app.me) setZone(app.me.time_zone);
    head();
}

const siteName = () => app.service?.name ?? 'Fourhanded';

function link(path, text) {
    const here = location.pathname === path;
    return h('a', { href: path, 'aria-current': here ? 'page' : null }, text);
}

function head() {
    document.querySelector('.skip').textContent = t('ui.nav.skip');
    put(document.getElementById('head'), h('nav', { 'aria-label': t('ui.nav.label') },
        h('a', { href: '/', class: 'name' }, siteName()),
        link('/open', t('ui.nav.open')),
        app.me && link('/new', t('ui.nav.new')),
        app.me && link('/settings', t('ui.nav.settings')),
        app.me
            ? h('button', { class: 'plain', onclick: signOut }, t('ui.nav.sign_out', { name: app.me.name || app.me.handle }))
            : link('/sign-in', t('ui.nav.sign_in'))), suspended());
}

/* Who cannot be reached is told so on every page, and what to do about it. */
function suspended() {
    if (app.me?.address_state !== 'suspended') return null;
    return h('p', { class: 'banner', role: 'status' }, t('ui.address.suspended', { address: app.me.address ?? '–' }), ' ',
        t('ui.address.suspended_do'), ' ', link('/settings', t('ui.address.change')));
}

async function signOut() {
    await postOnce('/api/v1/auth/logout');
    await refresh();
    go('/');
}

async function show() {
    const main = document.getElementById('main');
    const turn = ++shown;
    leave?.();
    leave = null;
    head();
    for (const [pattern, view] of ROUTES) {
        const m = pattern.exec(location.pathname);
        if (!m) continue;
        const page = h('div', {});
        put(main, page);
        let done = null;
        try {
            done = (await view(app, page, ...m.slice(1).map(decodeURIComponent))) ?? null;
        } catch (error) {
            put(page, h('h1', {}, t('ui.problem.title')), h('p', { role: 'alert' }, problem(error)));
        }
        if (turn !== shown) {
            done?.();
            return;
        }
        leave = done;
        entitle(main);
        return;
    }
    put(main, h('h1', {}, t('ui.problem.no_page')));
    entitle(main);
}

function entitle(main) {
    document.title = `${main.querySelector('h1')?.textContent ?? ''} · ${siteName()}`;
}

/* Links inside the page do not load it anew. */
document.addEventListener('click', (event) => {
    const a = event.target.closest?.('a[href^="/"]');
    if (!a || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    if (a.pathname.startsWith('/api/') || a.hasAttribute('download') || a.target) return;
    event.preventDefault();
    go(a.getAttribute('href'));
    document.getElementById('main').focus();
});
window.addEventListener('popstate', show);

(async () => {
    try {
        app.service = await get('/api/v1');
        await refresh();
        await show();
    } catch (error) {
        /* Before the catalogue has come there are no words for it. */
        const text = document.documentElement.lang && t('ui.save') !== 'ui.save' ? problem(error) : String(error.message ?? error);
        put(document.getElementById('main'), h('p', { role: 'alert' }, text));
    }
})();
