import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { makeTemplate } from './embedded-template.ts'
import { freshBuild } from './fresh-build.ts'
import { makePostgresTemplate } from './postgres-template.ts'
import { setVariable } from './set-variable.ts'

/** Where the PostgreSQL server of this test run is; test files inherit it. */
const serverVariable = 'QUITTANCE_TEST_POSTGRES'
/** Why there is none. */
const missingVariable = 'QUITTANCE_TEST_POSTGRES_MISSING'

const compileCache = new URL('../../node_modules/.cache/compile/', import.meta.url)

let server: ChildProcess | undefined
const removals: (() => unknown)[] = []

/** Runs once before all test files: a build, one real PostgreSQL, templates of both databases. */
export async function globalSetup(): Promise<void> {
  // What the files and our programs have in common is compiled once, not in each of the processes.
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(compileCache)
  freshBuild()
  await Promise.all([makeTemplate().then((remove) => removals.push(remove)), preparePostgres()])
}

/** One real PostgreSQL with a template, for whoever needs nothing else. */
export async function preparePostgres(): Promise<void> {
  await findPostgres()
  const server = process.env[serverVariable]
  if (server !== undefined) removals.push(await makePostgresTemplate(server))
}

async function findPostgres(): Promise<void> {
  const given = setVariable('DATABASE_URL')
  // The services that tests start must not meet it by accident.
  delete process.env['DATABASE_URL']
  delete process.env[missingVariable]
  if (given !== undefined) {
    process.env[serverVariable] = given
    return
  }
  if (setVariable(serverVariable) !== undefined) return
  const started = await startServer()
  if ('url' in started) {
    process.env[serverVariable] = started.url
    return
  }
  process.env[missingVariable] = started.error
  process.stderr.write(`\nNO POSTGRESQL FOR THE TESTS: ${started.error}\n\n`)
  if (process.env['CI'] === 'true') throw new Error(`no PostgreSQL: ${started.error}`)
}

/** Runs once after all test files, failed ones included. */
export async function globalTeardown(): Promise<void> {
  for (const remove of removals) await remove()
  const ending = server
  if (ending === undefined || ending.exitCode !== null) return
  const ended = new Promise((end) => ending.once('exit', end))
  ending.stdin?.end()
  await ended
}

type Started = { readonly url: string } | { readonly error: string }

function startServer(): Promise<Started> {
  // Detached: Ctrl-C must reach the test run alone, which then closes the server's input.
  const child = spawn(
    process.execPath,
    [fileURLToPath(import.meta.resolve('./postgres-server.ts')), '--in-memory'],
    {
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  server = child
  return new Promise((started) => {
    let output = ''
    child.stdout.on('data', (text: Buffer) => {
      output += text.toString()
      if (output.includes('\n')) started(JSON.parse(output) as Started)
    })
    child.once('error', (error) => started({ error: error.message }))
    child.once('exit', (code) => started({ error: `its starter ended with ${code}` }))
  })
}
