/* words.js - texts from the one catalogue that the server keeps, by code and language. */

import { get } from './api.js';

let texts = {};
let language = 'en', dates = 'en-GB';
let rules = new Intl.PluralRules('en');

export const LANGUAGES = ['en', 'ru', 'ro'];

export async function loadWords(tag) {
    const wanted = LANGUAGES.find((l) => (tag ?? '').toLowerCase().startsWith(l)) ?? 'en';
    const catalogue = await get(`/api/v1/words/${wanted}`);
    texts = catalogue.texts;
    language = catalogue.language;
    dates = language === 'en' ? 'en-GB' : language; /* the day before the month */
    rules = new Intl.PluralRules(language);
    document.documentElement.lang = language;
}

export const currentLanguage = () => language;

/* The text of a code; {name} is replaced, plural forms are chosen by n. */
export function t(code, args = {}) {
    let text = texts[code];
    if (text === undefined && 'n' in args) {
        text = texts[`${code}.${rules.select(Number(args.n))}`] ?? texts[`${code}.other`]
            ?? texts[`${code}.many`];
    }
    if (text === undefined) return code;
    return text.replace(/\{(\w+)\}/g, (whole, name) => (name in args ? String(args[name]) : whole));
}

/* The same, or another text where the catalogue has none. */
export function tOr(code, other) {
    const text = t(code);
    return text === code ? other : text;
}

export function setZone(name) { zone = name; }
let zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/* "Thu, 3 Dec 2026, 18:30 CET" in the account's zone. */
export function instant(text) {
    const options = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric',
        hour: '2-digit', minute: '2-digit', timeZoneName: 'short', hourCycle: 'h23' };
    try {
        return new Intl.DateTimeFormat(dates, { ...options, timeZone: zone }).format(new Date(text));
    } catch {
        return new Intl.DateTimeFormat(dates, options).format(new Date(text));
    }
}

/* "6 d 4 h", rounded down; negative lengths count as over. */
export function span(ms) {
    const minutes = Math.floor(Math.abs(ms) / 60000);
    if (!minutes && ms) return t('ui.unit.below_min');
    const d = Math.floor(minutes / 1440), hours = Math.floor(minutes / 60) % 24, m = minutes % 60;
    const unit = (n, code) => `${n} ${t(code)}`;
    if (d) return hours ? `${unit(d, 'ui.unit.d')} ${unit(hours, 'ui.unit.h')}` : unit(d, 'ui.unit.d');
    if (hours) return m ? `${unit(hours, 'ui.unit.h')} ${unit(m, 'ui.unit.min')}` : unit(hours, 'ui.unit.h');
    return unit(m, 'ui.unit.min');
}

export function left(deadline) {
    const ms = new Date(deadline) - Date.now();
    return ms >= 0 ? t('ui.time.in', { span: span(ms) }) : t('ui.time.over', { span: span(ms) });
}
