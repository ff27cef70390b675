// Builds the console into the crate that embeds it:
//
//     node build.mjs [FOLDER]
//
// FOLDER is crates/interlingua/assets/console unless another one is named. Names carry a digest of the content; `documents.rs` is
// the table that the crate includes. The same sources give the same bytes.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2] ?? join(here, '../crates/interlingua/assets/console');
const MEDIA = {
  html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8', css: 'text/css; charset=utf-8', woff2: 'font/woff2', svg: 'image/svg+xml', txt: 'text/plain; charset=utf-8',
};

const { outputFiles } = await build({
  absWorkingDir: here,
  entryPoints: { main: 'src/main.tsx', base: 'style/console.css' },
  outdir: '/',
  bundle: true,
  minify: true,
  write: false,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.woff2': 'file' },
  entryNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  legalComments: 'none',
  charset: 'utf8',
});
const files = outputFiles.map(({ path, contents }) => ({ name: path.split('/').at(-1), bytes: Buffer.from(contents) }));
const found = (start, end) => files.find(({ name }) => name.startsWith(start) && name.endsWith(end)).name;
const named = (start, end, bytes) => `${start}-${createHash('sha256').update(bytes).digest('hex').slice(0, 8).toUpperCase()}.${end}`;
const icon = readFileSync(join(here, 'src/icon.svg'));
files.push({ name: named('icon', 'svg', icon), bytes: icon });
const page = readFileSync(join(here, 'src/index.html'), 'utf8')
  .replace('{style}', found('base-', '.css')).replace('{script}', found('main-', '.js'))
  .replace('{icon}', found('icon-', '.svg'));
files.push({ name: 'index.html', bytes: Buffer.from(page) });
const licences = ['preact', '@preact/signals', '@preact/signals-core', '@fontsource-variable/inter', '@fontsource-variable/jetbrains-mono'];
const texts = licences.map(name => `${name}\n\n${readFileSync(join(here, 'node_modules', name, 'LICENSE'), 'utf8')}`);
const text = Buffer.from(texts.join(`\n${'-'.repeat(80)}\n`));
files.push({ name: named('licences', 'txt', text), bytes: text });
files.sort((a, b) => (a.name < b.name ? -1 : 1));

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const rows = files.map(({ name, bytes }) => {
  const packed = !name.endsWith('.woff2');
  writeFileSync(join(folder, name), bytes);
  if (packed) writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  const media = MEDIA[name.split('.').at(-1)];
  const gzip = packed ? `include_bytes!("${name}.gz")` : '&[]';
  return `    Document {\n        name: "${name}",\n        media: "${media}",\n        plain: include_bytes!("${name}"),\n        gzip: ${gzip},\n    },\n`;
});
writeFileSync(join(folder, 'documents.rs'), `// Made by console/build.mjs.\nconst DOCUMENTS: &[Document] = &[\n${rows.join('')}];\n`);
