#!/usr/bin/env node
import module from 'node:module'

// Node 22 and later keep the compiled code between runs; it has to be asked before the rest is loaded.
const { enableCompileCache } = module as { enableCompileCache?: () => unknown }
enableCompileCache?.()

void import('./program.ts').then(({ run }) => run(process.argv.slice(2)))
