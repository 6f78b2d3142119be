/* api.js - talks to /api/v1 and nothing else. */

/* An answer that is not 2xx: the problem document, with its status, code and detail. */
export class Problem extends Error {
    constructor(status, body) {
        super(body?.detail || body?.title || `HTTP ${status}`);
        this.status = status;
        this.code = body?.code ?? 'none';
        this.body = body ?? {};
    }
}

/* No answer, or half of one. */
export class Unreachable extends Error {}

const reach = async (promise) => {
    try {
        return await promise;
    } catch (error) {
        throw new Unreachable(error.message);
    }
};

export async function call(method, path, body, options = {}) {
    /* Refusals are told in the language of the page. */
    const headers = { Accept: 'application/json', 'Accept-Language': document.documentElement.lang || 'en' };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    /* One key an intention: a lost answer asked for again changes nothing twice. */
    if (options.key) headers['Idempotency-Key'] = `"${options.key}"`;
    const init = { method, headers, credentials: 'same-origin', cache: 'no-cache' };
    if (body !== undefined) init.body = JSON.stringify(body);
    let response;
    try {
        response = await reach(fetch(path, init));
    } catch (first) {
        if (method !== 'GET' && !options.key) throw first;
        response = await reach(fetch(path, init));
    }
    if (response.status === 204) return null;
    const type = response.headers.get('Content-Type') ?? '';
    const data = await reach(type.includes('json') ? response.json() : response.text());
    if (!response.ok) throw new Problem(response.status, typeof data === 'object' ? data : null);
    return data;
}

export const get = (path) => call('GET', path);
export const post = (path, body = undefined) => call('POST', path, body, { key: newKey() });
/* Where the server takes no Idempotency-Key. */
export const postOnce = (path, body) => call('POST', path, body);
export const patch = (path, body) => call('PATCH', path, body);
export const putTo = (path, body) => call('PUT', path, body);
export const del = (path) => call('DELETE', path);

function newKey() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    return Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
}

/* All pages of a list. */
export async function all(path, most = 500, from = 'after') {
    const items = [];
    let after = null;
    do {
        const join = path.includes('?') ? '&' : '?';
        const page = await get(after ? `${path}${join}${from}=${encodeURIComponent(after)}` : path);
        items.push(...page.items);
        after = page.next;
    } while (after && items.length < most);
    return items;
}

/* Follow a stream of events; returns how to stop.  The browser reconnects by itself and names the
 * last event it saw, so nothing is missed. */
export function follow(path, onEvent, onState) {
    const source = new EventSource(path);
    source.onmessage = (message) => onEvent(JSON.parse(message.data));
    source.addEventListener('resync', () => onEvent(null));
    source.onopen = () => onState?.(true);
    source.onerror = () => onState?.(false);
    return () => source.close();
}
