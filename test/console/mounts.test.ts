import assert from 'node:assert/strict'
import type { RequestListener, Server } from 'node:http'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import express from 'express'
import type { FastifyInstance } from 'fastify'
import { nodeHandler } from '../../src/http/node-handler.ts'
import type { OperatorConsole } from '../../src/console/index.ts'
import { codeBlocks } from '../docs/markdown.ts'
import { embed, listenWith, type Embedded } from '../http/host-apps.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { read, root } from '../tidy/source-files.ts'
import { openBrowser } from './browser.ts'

const path = 'docs/19-console.md'
const [console = '', ...mounts] = codeBlocks({ path, text: read(path) })
  .filter(({ language, code }) => language === 'ts' && code.includes('pages'))
  .map(({ code }) => code)

let host: Embedded
let folder: TemporaryFolder

declare global {
  var billingOfMounts: Embedded['billing']
}

before(async () => {
  host = await embed()
  globalThis.billingOfMounts = host.billing
  folder = temporaryFolder()
  mkdirSync(join(folder.path, 'node_modules'))
  for (const name of ['express', 'fastify']) {
    symlinkSync(join(root, 'node_modules', name), join(folder.path, 'node_modules', name))
  }
  writeFileSync(join(folder.path, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder.path, 'billing.ts'), 'export const billing = billingOfMounts')
  await load('pages', console.replace('admin.example.com', '127.0.0.1'))
})
after(async () => {
  folder.remove()
  await host[Symbol.asyncDispose]()
})

/** A module as the page shows it, with the code of this checkout. */
function load(name: string, code: string): Promise<object> {
  const file = join(folder.path, `${name}.ts`)
  const entries = { node: 'http/node-handler.ts', console: 'console/index.ts' }
  const here = Object.entries(entries).reduce(
    (text, [entry, source]) =>
      text.replace(`'quittance/${entry}'`, `'${join(root, 'src', source)}'`),
    code,
  )
  writeFileSync(file, here)
  return import(file) as Promise<object>
}

/** What the page exports, as a listener of node:http. */
async function listenerOf(name: string, code: string): Promise<RequestListener> {
  const shown = (await load(name, code)) as {
    readonly app?: RequestListener | FastifyInstance
    readonly server?: Server
  }
  const { app, server } = shown
  if (server !== undefined)
    return (incoming, outgoing) => server.emit('request', incoming, outgoing)
  assert.ok(app)
  if (!('routing' in app)) return app
  await app.ready()
  return (incoming, outgoing) => app.routing(incoming, outgoing)
}

async function servesConsole(listener: RequestListener): Promise<void> {
  await using app = await listenWith(listener)
  const staff = { 'x-staff': 'yes' }
  const browser = openBrowser((request) => fetch(request), app.url)
  assert.equal((await browser.open('/admin/billing')).status, 403)
  assert.equal((await browser.open('/admin/billing', { headers: staff })).status, 200)
  assert.equal((await browser.open('/admin/billings', { headers: staff })).status, 404)

  const payable = { type: 'order', id: '42' }
  const order = { gateway: 'fake', amount: 1999, currency: 'USD', payable }
  const { id } = await host.billing.payments.create(order)
  const cancel = `/admin/billing/payments/${id}/cancel`
  const { text } = await browser.open(cancel, { headers: staff })
  const form = new URLSearchParams(
    Array.from(
      text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g),
      ([, name = '', value = '']) => [name, value],
    ),
  )
  assert.equal((await browser.press(form, cancel, { headers: staff })).status, 303)
  assert.equal((await host.billing.payments.find(id))?.status, 'canceled')
}

test('the page shows the mounts for Express, Fastify and node:http', () => {
  const names = mounts.map((code) => /from '(express|fastify|node:http)'/.exec(code)?.[1])
  assert.deepEqual(names, ['express', 'fastify', 'node:http'])
})

for (const [at, code] of mounts.entries()) {
  const [, name = ''] = /from '([\w:]+)'/.exec(code) ?? []
  test(`in ${name} the console is where the page puts it, its forms too`, async () => {
    await servesConsole(await listenerOf(`mount-${at}`, code))
  })
}

test('a guard of the app above it sees every path that it takes', async () => {
  const { pages } = (await import(join(folder.path, 'pages.ts'))) as { pages: OperatorConsole }
  const guarded = express()
    .use('/admin/billing', (_request, response) => void response.sendStatus(401))
    .use(nodeHandler(pages))
  await using app = await listenWith(guarded)
  const headers = { 'x-staff': 'yes' }
  const statusAt = async (at: string) => (await fetch(app.url + at, { headers })).status
  assert.equal(await statusAt('/admin/billing/payments'), 401)
  assert.equal(await statusAt('/admin/%62illing/payments'), 404)
})

test('alone on a server it answers everything', async () => {
  const { pages } = (await import(join(folder.path, 'pages.ts'))) as { pages: OperatorConsole }
  await servesConsole(nodeHandler(pages))
})
