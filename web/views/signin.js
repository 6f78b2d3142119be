/* views/signin.js - logging in by link or password, and registering. */

import { postOnce } from '../api.js';
import { field, h, put, say, select } from '../dom.js';
import { currentLanguage, LANGUAGES, t } from '../words.js';
import { form } from './common.js';

/* An invitation's link leads here with its secret behind the #, which no server sees. */
const secret = () => new URLSearchParams(location.hash.slice(1)).get('invitation') ?? '';

/* Who is logged in wants no form for strangers; what the link is good for, he is told. */
function showSignedIn(app, main) {
    put(main, h('h1', {}, t('ui.signin.title')),
        h('p', {}, t('ui.signin.already', { name: app.me.name || app.me.handle })),
        secret() && h('p', { id: 'invited-already' }, t('ui.signin.invited_already')),
        h('p', {}, h('a', { href: '/' }, t('ui.home.my_games'))));
}

export async function showSignIn(app, main) {
    if (app.me) {
        showSignedIn(app, main);
        return;
    }
    /* From a game that the reader is invited to: back to it, with the invitation. */
    const game = new URLSearchParams(location.search).get('game') ?? '';
    const next = /^[0-9a-z]+$/.test(game) ? `/games/${game}${location.hash}` : '/';
    const login = h('input', { name: 'login', autocomplete: 'username', required: true, maxlength: 254 });
    const done = h('p', { role: 'status' });
    const byLink = form(app, t('ui.signin.send_link'), async () => {
        await postOnce('/api/v1/auth/link', { login: login.value.trim() });
        done.textContent = t('ui.signin.link_sent');
    }, [field(t('ui.signin.login'), login, t('ui.signin.login_hint'))], { id: 'send-link' });

    const who = h('input', { name: 'username', autocomplete: 'username', required: true, maxlength: 254 });
    const password = h('input', { type: 'password', name: 'password', autocomplete: 'current-password',
        required: true, maxlength: 1024 });
    const byPassword = form(app, t('ui.signin.by_password'), async () => {
        await postOnce('/api/v1/auth/password', { login: who.value.trim(), password: password.value });
        await app.refresh();
        app.go(next);
        say(t('ui.signin.welcome'));
    }, [field(t('ui.signin.login'), who), field(t('ui.signin.password'), password)], { id: 'sign-in' });

    put(main,
        h('h1', {}, t('ui.signin.title')),
        h('section', {}, h('h2', {}, t('ui.signin.by_link_title')), byLink, done),
        h('section', {}, h('h2', {}, t('ui.signin.by_password_title')), byPassword),
        app.service.registration !== 'closed' && register(app));
}

function register(app) {
    const handle = h('input', { required: true, maxlength: 32, autocomplete: 'username' });
    const name = h('input', { maxlength: 64, autocomplete: 'name' });
    const address = h('input', { type: 'email', required: true, maxlength: 254, autocomplete: 'email' });
    const zone = h('input', { value: Intl.DateTimeFormat().resolvedOptions().timeZone, required: true });
    const language = select(LANGUAGES.map((l) => [l, t(`ui.language.${l}`)]), currentLanguage());
    const invitation = h('input', { maxlength: 64, id: 'invitation', value: secret() });
    const done = h('p', { role: 'status' });
    const byInvitation = app.service.registration === 'invite';
    return h('section', {}, h('h2', {}, t('ui.register.title')), form(app, t('ui.register.do'), async () => {
        const body = { handle: handle.value.trim(), address: address.value.trim(), time_zone: zone.value.trim(),
            language: language.value };
        if (name.value.trim()) body.name = name.value.trim();
        if (byInvitation) body.invitation = invitation.value.trim();
        await postOnce('/api/v1/auth/register', body);
        done.textContent = t('ui.register.done');
    }, [
        field(t('ui.profile.handle'), handle, t('ui.register.handle_hint')),
        field(t('ui.profile.name'), name), field(t('ui.profile.address'), address, t('ui.register.address_hint')),
        field(t('ui.profile.zone'), zone), field(t('ui.profile.language'), language),
        byInvitation && field(t('ui.register.invitation'), invitation),
    ]), done);
}
