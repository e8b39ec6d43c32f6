// The exercises that ./learn has passed on this machine: it writes them into the site that it has built.
globalThis.learned = { passed: [] };
