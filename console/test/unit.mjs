// Runs the unit tests of the models: bundled as the page is, run by Node's own runner.
//
//     node test/unit.mjs
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'console-unit-'));
const tests = readdirSync(join(here, 'unit'));
await build({ entryPoints: tests.map(name => join(here, 'unit', name)), outdir: folder, outExtension: { '.js': '.mjs' }, bundle: true, platform: 'node', format: 'esm', target: 'es2022' });
const run = spawnSync(process.execPath, ['--test', ...tests.map(name => join(folder, name.replace(/\.\w+$/, '.mjs')))], { stdio: 'inherit' });
rmSync(folder, { recursive: true });
process.exit(run.status ?? 1);
