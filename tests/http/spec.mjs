// Reads web/openapi.yaml and holds every answer against it.
//
// spec.check(method, path, response, text) throws unless the operation is described, the status is
// one of its responses, and the body is of a media type and shape that this response has.  Answers
// may grow, so the description leaves objects open; here they are closed, so that a field that is
// answered and not described is found.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

const here = path.dirname(fileURLToPath(import.meta.url));
export const source = path.resolve(here, '../..');

function close(schema) {
  if (Array.isArray(schema)) return schema.map(close);
  if (!schema || typeof schema !== 'object') return schema;
  const closed = {};
  for (const [key, value] of Object.entries(schema)) {
    closed[key] = key === 'properties'
      ? Object.fromEntries(Object.entries(value).map(([k, v]) => [k, close(v)]))
      : ['example', 'examples', 'enum', 'const', 'required'].includes(key) ? value : close(value);
  }
  if (closed.properties && closed.additionalProperties === undefined) {
    closed.additionalProperties = false;
  }
  return closed;
}

export class Spec {
  constructor(file = path.join(source, 'web/openapi.yaml')) {
    this.document = parse(fs.readFileSync(file, 'utf8'));
    this.ajv = new Ajv2020({ strict: false, allErrors: true });
    addFormats(this.ajv);
    this.open = new Ajv2020({ strict: false, allErrors: true });
    addFormats(this.open);
    this.ajv.addSchema({ $id: 'spec', components: close(this.document.components) });
    this.open.addSchema({ $id: 'spec', components: this.document.components });
    this.compiled = new Map();
    this.seen = new Set(); // "operationId status"
    this.operations = [];
    for (const [template, item] of Object.entries(this.document.paths)) {
      for (const method of ['get', 'post', 'put', 'patch', 'delete']) {
        const operation = item[method];
        if (!operation) continue;
        const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])]
          .map((p) => this.resolve(p));
        this.operations.push({
          id: operation.operationId, method: method.toUpperCase(), template, operation, parameters,
          [Symbol.for('fast-check/toStringMethod')]() { return this.id; },
          pattern: new RegExp(`^${template.replace(/[.]/g, '\\.').replace(/\{[^}]+\}/g, '[^/]+')}$`),
        });
      }
    }
  }

  resolve(node) {
    if (!node?.$ref) return node;
    return node.$ref.slice(2).split('/').reduce((at, key) => at[key], this.document);
  }

  // References of a schema that stands outside of components, made absolute.
  absolute(schema) {
    return JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"spec#/components'));
  }

  validator(schema, closed = true) {
    const key = `${closed} ${JSON.stringify(schema)}`;
    if (!this.compiled.has(key)) {
      const absolute = this.absolute(schema);
      this.compiled.set(key, (closed ? this.ajv : this.open).compile(closed ? close(absolute) : absolute));
    }
    return this.compiled.get(key);
  }

  find(method, target) {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const bare = target.split('?')[0];
    // A path without parameters goes before one with.
    const fits = this.operations.filter((o) => o.method === wanted && o.pattern.test(bare));
    return fits.sort((a, b) => a.template.split('{').length - b.template.split('{').length)[0];
  }

  requestSchema(operation) {
    return operation.operation.requestBody?.content?.['application/json']?.schema;
  }

  check(method, target, response, text) {
    const found = this.find(method, target);
    const where = `${method} ${target} -> ${response.status}`;
    if (!found) throw new Error(`${where}: no such operation is described`);
    const described = this.resolve(found.operation.responses[String(response.status)]);
    if (!described) throw new Error(`${where}: this status is not described; ${text.slice(0, 300)}`);
    this.seen.add(`${found.id} ${response.status}`);
    for (const name of Object.keys(described.headers ?? {})) {
      if (['ETag', 'Location', 'Set-Cookie', 'Retry-After', 'WWW-Authenticate'].includes(name) &&
          !response.headers.has(name)) {
        throw new Error(`${where}: the header ${name} is missing`);
      }
    }
    if (!described.content) {
      if (text) throw new Error(`${where}: a body where none is described`);
      return;
    }
    if (method === 'HEAD') return;
    const type = (response.headers.get('content-type') ?? '').split(';')[0];
    const content = described.content[type];
    if (!content) throw new Error(`${where}: the media type ${type} is not described`);
    if (!/[/+]json$/.test(type)) return;
    const validate = this.validator(content.schema);
    const body = JSON.parse(text);
    if (!validate(body)) {
      const errors = validate.errors.filter((e) => e.keyword !== 'anyOf').slice(0, 5)
        .map((e) => `${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`).join('; ');
      throw new Error(`${where}: ${errors}\n${text.slice(0, 600)}`);
    }
  }
}

// What somebody sends; every answer is checked.
export class Client {
  constructor(spec, url, token) {
    Object.assign(this, { spec, url, token });
  }

  async send(method, target, { body, headers = {}, raw, token = this.token } = {}) {
    // A connection of its own: one that is kept is shut when a test turns the clock.
    const all = { connection: 'close', ...headers };
    if (token) all.authorization = `Bearer ${token}`;
    let payload = raw;
    if (body !== undefined) {
      payload = JSON.stringify(body);
      all['content-type'] ??= 'application/json';
    }
    const response = await fetch(this.url + target, {
      method, headers: all, body: payload, redirect: 'manual',
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const text = bytes.toString('utf8');
    this.spec.check(method, target, response, /png/.test(response.headers.get('content-type')) ? 'png' : text);
    const type = response.headers.get('content-type') ?? '';
    return {
      status: response.status, headers: response.headers, text, bytes,
      json: /[/+]json/.test(type) && text ? JSON.parse(text) : undefined,
    };
  }

  get(target, options) { return this.send('GET', target, options); }
  post(target, body, options) { return this.send('POST', target, { body, ...options }); }
}
