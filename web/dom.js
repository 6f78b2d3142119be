/* dom.js - making elements without markup, so that no text from outside can become markup. */

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, props, kids) {
    for (const [key, value] of Object.entries(props ?? {})) {
        if (value === null || value === undefined || value === false) continue;
        if (key.startsWith('on')) node.addEventListener(key.slice(2), value);
        else if (key === 'text') node.textContent = value;
        else if (key === 'value' && 'value' in node) node.value = value;
        else node.setAttribute(key, value === true ? '' : String(value));
    }
    for (const kid of kids.flat(Infinity)) {
        if (kid === null || kid === undefined || kid === false) continue;
        node.append(kid);
    }
    return node;
}

/* h('p', {class: 'x', onclick: f}, 'text', otherNode): an HTML element. */
export function h(name, props, ...kids) {
    return fill(document.createElement(name), props, kids);
}

/* The same in SVG. */
export function s(name, props, ...kids) {
    return fill(document.createElementNS(SVG, name), props, kids);
}

/* Replace what a node holds. */
export function put(node, ...kids) {
    node.replaceChildren(...kids.flat(Infinity).filter((kid) => kid || kid === 0));
    return node;
}

let counter = 0;
/* A label and its control, tied together. */
export function field(label, control, hint) {
    const id = control.id || `f${++counter}`;
    control.id = id;
    const parts = [h('label', { for: id }, label), control];
    if (hint) {
        const note = h('small', { id: `${id}-hint` }, hint);
        control.setAttribute('aria-describedby', note.id);
        parts.push(note);
    }
    return h('div', { class: 'field' }, parts);
}

export function select(options, chosen) {
    return h('select', {}, options.map(([value, text]) =>
        h('option', { value, selected: value === chosen }, text)));
}

/* Tell people who do not see the page what has happened. */
export function say(text) {
    const said = document.getElementById('said');
    said.textContent = '';
    setTimeout(() => { said.textContent = text; }, 30);
}
