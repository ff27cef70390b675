// Makes src/api/types.ts from the hub's OpenAPI document:
//
//     node types.mjs OPENAPI.json > src/api/types.ts
import { readFileSync } from 'node:fs';

const { components: { schemas } } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const name = reference => reference.split('/').at(-1);
const property = key => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key));

function type(schema) {
  if (schema === true || schema === undefined) return 'unknown';
  if (schema === false) return 'never';
  if (schema.$ref) return name(schema.$ref);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map(value => JSON.stringify(value)).join(' | ');
  const several = schema.oneOf ?? schema.anyOf;
  if (several) {
    const choice = several.map(type).join(' | ');
    return schema.properties ? `(${choice}) & ${object(schema)}` : choice;
  }
  if (Array.isArray(schema.type)) return schema.type.map(one => type({ ...schema, type: one })).join(' | ');
  switch (schema.type) {
    case 'string': return 'string';
    case 'integer': case 'number': return 'number';
    case 'boolean': return 'boolean';
    case 'null': return 'null';
    case 'array': return schema.prefixItems ? `[${schema.prefixItems.map(type).join(', ')}]` : `(${type(schema.items)})[]`;
    case 'object': return object(schema);
    default: return schema.properties ? object(schema) : 'unknown';
  }
}

function object(schema) {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(([key, value]) => `${property(key)}${required.has(key) ? '' : '?'}: ${type(value)}`);
  if (rows.length === 0) {
    const rest = schema.additionalProperties;
    return `Record<string, ${rest === undefined || rest === false ? 'unknown' : type(rest)}>`;
  }
  return `{ ${rows.join('; ')} }`;
}

const lines = Object.keys(schemas).sort().map(key => `export type ${key} = ${type(schemas[key])};\n`);
process.stdout.write(`// Made by types.mjs from the OpenAPI document of the hub.\n\n${lines.join('')}`);
