#!/usr/bin/env node
// Nothing is imported before the check: the rest may not even parse on an older Node.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(
    `quittance: Node ${process.versions.node} is too old — ` +
      'Use Node 22.18 or newer; in a checkout `npm start` brings its own.\n',
  )
  process.exitCode = 1
} else {
  const { enableCompileCache } = await import('node:module')
  // Beside the packages, where nobody else may write: the cache halves the loading time.
  enableCompileCache(`${import.meta.dirname}/../../node_modules/.cache/quittance`)
  const { run } = await import('./run.ts')
  await run(process.argv.slice(2))
}
