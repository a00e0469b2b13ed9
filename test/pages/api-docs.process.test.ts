import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { installReader } from '../../src/http/api/docs-page.ts'
import { installedProject, npmEnvironment } from '../support/installed-project.ts'
import { startService, type RunningService } from '../support/process.ts'
import { read, root } from '../tidy/source-files.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { missing, openBrowser, pagesOrigin, visit } from './browser.ts'

const execute = promisify(execFile)
const token = 'a-token-to-try-the-api-with'
const pictures = fileURLToPath(new URL('../../reports/pages/', import.meta.url))

const { config } = JSON.parse(read('test/api-reader/package.json')) as {
  readonly config: { readonly reader: string; readonly integrity: string }
}

/** The package alone: its file for browsers brings what it depends on, which is 180 packages. */
async function fetchReader(folder: string): Promise<void> {
  const where = { cwd: folder, env: npmEnvironment() }
  const { stdout } = await execute('npm', ['pack', '--json', config.reader], where)
  const [packed] = JSON.parse(stdout) as { readonly filename: string; readonly integrity: string }[]
  assert.equal(packed?.integrity, config.integrity)
  const place = join(folder, 'node_modules', config.reader.replace(/@[\d.]+$/, ''))
  mkdirSync(place, { recursive: true })
  await execute('tar', ['-xzf', packed?.filename ?? '', '-C', place, '--strip-components=1'], where)
}

const { peerDependencies, peerDependenciesMeta } = JSON.parse(read('package.json')) as {
  readonly peerDependencies: object
  readonly peerDependenciesMeta: object
}
/** What their `package.json` says, as far as it matters, and their lockfile too. */
const folders = { 'a checkout': { peerDependencies, peerDependenciesMeta }, 'an app': {} }

const project = await installedProject('test/api-reader', fetchReader)
for (const [what, described] of Object.entries(folders)) {
  test(
    `what the page says installs its package in ${what}`,
    { skip: project.missing },
    async () => {
      using folder = temporaryFolder()
      const lock = { lockfileVersion: 3, requires: true, packages: { '': described } }
      writeFileSync(join(folder.path, 'package.json'), JSON.stringify(described))
      writeFileSync(join(folder.path, 'package-lock.json'), JSON.stringify(lock))
      const [program = '', ...words] = installReader.split(' ')
      const flags = ['--dry-run', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
      const where = { cwd: folder.path, env: npmEnvironment() }
      const { stdout } = await execute(program, [...words, ...flags], where)
      assert.match(stdout, /^add @scalar\/api-reference \d/m)
    },
  )
}

const skip = missing === false ? project.missing : missing

describe('the page of the management API', { skip }, () => {
  let folder: string
  let service: RunningService
  let browser: Browser
  before(async () => {
    assert.ok('folder' in project)
    // As it is installed beside the package in a merchant's project.
    folder = mkdtempSync(join(project.folder, 'run-'))
    for (const name of ['dist', 'package.json']) {
      cpSync(join(root, name), join(folder, name), { recursive: true })
    }
    service = await startService({
      file: join(folder, 'dist/cli/main.js'),
      cwd: folder,
      env: { BILLING_API_TOKEN: token, APP_URL: pagesOrigin },
    })
    browser = await openBrowser(Number(new URL(service.url).port))
  })
  after(async () => {
    await browser.close()
    await service.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** What a page asks for, but for what it carries itself. */
  function requestsOf(page: Page): string[] {
    const requests: string[] = []
    page.on('request', (request) => {
      if (!/^(?:data|blob):/.test(request.url())) requests.push(request.url())
    })
    return requests
  }

  test('is read and tried in a browser; nothing is asked of others, nothing is refused', async () => {
    await using visited = await visit(browser, { viewport: { width: 1280, height: 900 } })
    const { page, faults } = visited
    const requests = requestsOf(page)
    const answer = await page.goto(`${pagesOrigin}/billing/api/docs`)
    const policy = answer?.headers()['content-security-policy'] ?? ''
    assert.match(policy, /^default-src 'none'; script-src 'self' 'nonce-[\w+/=]{24}'; /)
    assert.doesNotMatch(policy, /unsafe-eval|https?:|\*/)
    await page.getByRole('heading', { name: 'Quittance', exact: true }).waitFor()
    mkdirSync(pictures, { recursive: true })
    await page.screenshot({ path: join(pictures, 'api-docs.png') })

    await page
      .getByRole('link', { name: /^Lists payments, newest first/ })
      .first()
      .click()
    const section = page.getByRole('region', { name: /^Lists payments/ })
    await section.getByText('payable', { exact: true }).first().waitFor()
    await page.screenshot({ path: join(pictures, 'api-docs-route.png') })

    await section.getByRole('button', { name: /^Test Request/ }).click()
    const client = page.getByRole('dialog')
    await client.getByPlaceholder('Token').fill(token)
    const [asked] = await Promise.all([
      page.waitForResponse((one) => one.url().startsWith(`${pagesOrigin}/billing/api/payments`)),
      client.getByRole('button', { name: /^Send/ }).first().click(),
    ])
    assert.equal(asked.status(), 200)
    await client.getByText('next_cursor').first().waitFor()
    await page.screenshot({ path: join(pictures, 'api-docs-tried.png') })

    assert.deepEqual(faults, [])
    const others = requests.filter((url) => !url.startsWith(`${pagesOrigin}/billing/api/`))
    assert.deepEqual(others, [])
    assert.ok(requests.length >= 4, `the page asked for too little: ${requests.join(' ')}`)
  })

  test('a script is cached for ever under an address of its own, and no other is there', async () => {
    const page = await fetch(`${service.url}/billing/api/docs`)
    const [, path = ''] = /src="([^"]+\.js)"/.exec(await page.text()) ?? []
    const script = await fetch(service.url + path)
    assert.equal(script.status, 200)
    assert.match(script.headers.get('content-type') ?? '', /^text\/javascript/)
    assert.match(script.headers.get('cache-control') ?? '', /immutable/)
    assert.ok((await script.arrayBuffer()).byteLength > 1_000_000)
    for (const other of ['reader.js', '..%2fpackage.json', 'reader-0123456789abcdef.js']) {
      assert.equal((await fetch(`${service.url}/billing/api/docs/${other}`)).status, 404, other)
    }
  })
})
