// A whole mall for each test. The program is the one of this package; $MALLBOX names another.

import { fileURLToPath } from 'node:url';

process.env.MALLBOX ??= fileURLToPath(new URL('./bin/mallbox', import.meta.url));

export * from './mallbox.mjs';
