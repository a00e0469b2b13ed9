import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { codeBlocks } from '../docs/markdown.ts'
import { apiToken, startService, type Service } from '../http/service.ts'
import { installedProject, npmEnvironment } from '../support/installed-project.ts'
import { read, root } from '../tidy/source-files.ts'

const execute = promisify(execFile)

const page = 'examples/clients/README.md'
const [command = ''] = codeBlocks({ path: page, text: read(page) })
  .filter(({ language }) => language === 'sh')
  .map(({ code }) => code.trim())

const project = await installedProject('test/clients/typescript')

describe('the client in TypeScript', { skip: project.missing }, () => {
  let folder: string
  let service: Service
  before(async () => {
    assert.ok('folder' in project)
    service = await startService()
    folder = mkdtempSync(join(project.folder, 'client-'))
    copyFileSync(join(root, 'examples/clients/typescript.ts'), join(folder, 'client.ts'))
    const [program = '', ...words] = command
      .replace('http://localhost:3000', service.listening.url)
      .split(' ')
    assert.equal(program, 'npx')
    await execute(program, ['--no-install', ...words], { cwd: folder, env: npmEnvironment() })
  })
  after(async () => {
    rmSync(folder, { recursive: true, force: true })
    await service[Symbol.asyncDispose]()
  })

  const checked = async (...files: readonly string[]) => {
    assert.ok('folder' in project)
    const compiler = join(project.folder, 'node_modules/typescript/bin/tsc')
    const flags = ['--noEmit', '--strict', '--exactOptionalPropertyTypes']
    const target = ['--target', 'es2024', '--module', 'nodenext', '--allowImportingTsExtensions']
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
    return execute(process.execPath, [compiler, ...flags, ...target, ...types, ...files], {
      cwd: folder,
    }).then(
      () => '',
      ({ stdout }: { readonly stdout: string }) => stdout,
    )
  }

  test('the types are made of the document, and the example type-checks with them', async () => {
    assert.equal(await checked('client.ts'), '')
  })

  test('a field that there is not, one of another type and an unknown route do not', async () => {
    writeFileSync(
      join(folder, 'wrong.ts'),
      `import createClient from 'openapi-fetch'
import type { components, paths } from './quittance.d.ts'
const client = createClient<paths>()
const body = { gateway: 'fake', amount: '1999', currency: 'EUR', payable: { type: 'o', id: '1' } }
await client.POST('/payments', { body })
await client.GET('/paymentz')
export const total = (payment: components['schemas']['Payment']) => payment.total
`,
    )
    const faults = await checked('wrong.ts')
    const lines = Array.from(faults.matchAll(/^wrong\.ts\((\d+),/gm), ([, line]) => line)
    assert.deepEqual(lines, ['5', '6', '7'], faults)
  })

  test('the example creates a payment and reads it again', async () => {
    const { stdout } = await execute(process.execPath, ['client.ts'], {
      cwd: folder,
      env: {
        ...npmEnvironment(),
        QUITTANCE_URL: service.listening.url,
        BILLING_API_TOKEN: apiToken,
      },
    })
    const said = stdout.trim().split('\n')
    assert.match(
      said[0] ?? '',
      /^pay order 42 at https:\/\/pay\.example\.test\/billing\/fake\/checkout\//,
    )
    assert.deepEqual(said.slice(1), ['it is pending'])
  })
})
