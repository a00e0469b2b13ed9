import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { after, before, beforeEach, describe, test } from 'node:test'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import type { Authenticate, Operator } from '../../src/billing/authenticate.ts'
import { nodeHandler } from '../../src/http/node-handler.ts'
import { assertFailed } from './answers.ts'
import { embed, listenWith, type Embedded, type HostApp } from './host-apps.ts'
import { origin } from './service.ts'

/** What the guard of the app says; anew for each test. */
let authenticate: Authenticate
let host: Embedded
before(async () => {
  host = await embed({ api: { authenticate: (request, env) => authenticate(request, env) } })
})
after(() => host[Symbol.asyncDispose]())
beforeEach(() => {
  authenticate = ({ headers }) => {
    const role = /^session=(viewer|operator)$/.exec(headers.get('cookie') ?? '')?.[1]
    return role === undefined ? undefined : { name: 'ops-1', role: role as Operator['role'] }
  }
})

const wireOrder = {
  gateway: 'fake',
  amount: 1999,
  currency: 'USD',
  payable: { type: 'order', id: '7' },
}
const sameOrigin = { 'sec-fetch-site': 'same-origin' }
const ask = (headers: Readonly<Record<string, string>>, init: RequestInit = {}) =>
  host.billing.fetch(new Request(`${origin}/billing/api/payments`, { ...init, headers }))
const change = (headers: Readonly<Record<string, string>>) =>
  ask(
    { 'content-type': 'application/json', ...headers },
    { method: 'POST', body: JSON.stringify(wireOrder) },
  )
const payments = async () => (await host.billing.payments.list({ limit: 100 })).data.length

describe('who may ask', () => {
  test('an operator reads and changes, a viewer reads, and nobody else does either', async () => {
    const before = await payments()
    for (const [cookie, read, changed] of [
      ['session=operator', 200, 201],
      ['session=viewer', 200, 403],
      ['session=stranger', 403, 403],
      ['', 403, 403],
    ] as const) {
      assert.equal((await ask({ cookie })).status, read, cookie)
      assert.equal((await ask({ cookie }, { method: 'HEAD' })).status, read, cookie)
      assert.equal((await change({ cookie, ...sameOrigin })).status, changed, cookie)
    }
    assert.equal((await payments()) - before, 1)
  })

  test('the answer to whoever may not is a sentence, never cached, and says nothing of the guard', async () => {
    const answer = await ask({})
    assert.deepEqual(await answer.json(), { message: 'forbidden' })
    assert.equal(answer.headers.get('cache-control'), 'no-store')
    const viewing = await change({ cookie: 'session=viewer', ...sameOrigin })
    assert.deepEqual(await viewing.json(), { message: 'a viewer may only read' })
  })

  test('a Response of the guard is the answer', async () => {
    authenticate = () => Response.redirect('https://app.example.test/login', 303)
    const answer = await ask({})
    assert.deepEqual(
      [answer.status, answer.headers.get('location')],
      [303, 'https://app.example.test/login'],
    )
  })

  for (const [what, said] of [
    ['null', null],
    ['false', false],
    ['an empty text', ''],
  ] as const) {
    test(`a guard without types that says ${what} says no`, async () => {
      authenticate = () => said as unknown as undefined
      assert.equal((await ask({})).status, 403)
    })
  }

  for (const [what, said] of [
    ['true', true],
    ['a user without a role', { name: 'ops-1' }],
    ['an unknown role', { name: 'ops-1', role: 'admin' }],
    ['a user without a name', { role: 'operator' }],
    ['the name of a role', 'operator'],
    ['a list', [{ name: 'ops-1', role: 'operator' }]],
  ] as const) {
    test(`a guard that says ${what} lets nobody in`, async () => {
      authenticate = () => said as unknown as undefined
      assert.equal((await ask({})).status, 500)
    })
  }

  test('what a guard throws stays in the log', async () => {
    for (const thrown of [new Error('password hunter2'), 'a text', undefined]) {
      authenticate = () => Promise.reject(thrown)
      const answer = await ask({})
      await assertFailed(answer, host.logged)
    }
    assert.ok(host.logged.some((line) => line.includes('hunter2')))
  })

  test('the guard sees the request without its body, which is left for the route', async () => {
    const seen: unknown[] = []
    authenticate = async (request) => {
      seen.push(request.method, new URL(request.url).pathname, await request.text())
      return { name: 'ops-1', role: 'operator' }
    }
    assert.equal((await change(sameOrigin)).status, 201)
    assert.deepEqual(seen, ['POST', '/billing/api/payments', ''])
  })
})

describe('a change that another site asks for', () => {
  const cookie = 'session=operator'
  for (const [what, headers, status] of [
    ['a page of the same origin', { 'sec-fetch-site': 'same-origin' }, 201],
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['another origin of the same site', { 'sec-fetch-site': 'same-site' }, 403],
    ['the address bar', { 'sec-fetch-site': 'none' }, 403],
    ['another site that claims our origin', { 'sec-fetch-site': 'cross-site', origin }, 403],
    ['our origin, over plain HTTP', { origin }, 201],
    ['another origin, over plain HTTP', { origin: 'https://evil.example' }, 403],
    ['our origin at another port', { origin: `${origin}:8443` }, 403],
    ['an origin that is hidden', { origin: 'null' }, 403],
    ['nowhere', {}, 403],
    [
      'another site with a password',
      { origin: 'https://evil.example', authorization: 'Basic eA==' },
      403,
    ],
    ['a server with a bearer token', { authorization: 'Bearer x' }, 201],
    ['a server with an empty bearer token', { authorization: 'Bearer ' }, 403],
  ] as const) {
    test(`from ${what}: ${status}`, async () => {
      const before = await payments()
      assert.equal((await change({ cookie, ...headers })).status, status)
      assert.equal((await payments()) - before, status === 201 ? 1 : 0)
    })
  }

  test('is refused before the guard is asked', async () => {
    authenticate = () => assert.fail('it was asked')
    assert.equal((await change({ origin: 'https://evil.example' })).status, 403)
  })

  test('a name that an attacker gives our address is no origin of ours', async () => {
    const url = 'http://evil.example/billing/api/payments'
    const headers = { cookie, origin: 'http://evil.example' }
    const request = new Request(url, { method: 'POST', headers, body: JSON.stringify(wireOrder) })
    assert.equal((await host.billing.fetch(request)).status, 403)
  })
})

describe('mounted', () => {
  const apps: Readonly<Record<string, () => Promise<HostApp>>> = {
    'node:http': () => listenWith(nodeHandler(host.billing)),
    Express: () => {
      const app = express().use(nodeHandler(host.billing)).use(express.json())
      return listenWith(app.use((_request, response) => void response.json('the rest')))
    },
    Fastify: async () => {
      const app = fastify()
      const handle = nodeHandler(host.billing)
      app.removeAllContentTypeParsers()
      app.addContentTypeParser('*', (_request, _payload, done) => done(null))
      app.all('/billing/*', (request, reply) => {
        reply.hijack()
        handle(request.raw, reply.raw)
      })
      await app.ready()
      return listenWith((request, response) => app.routing(request, response))
    },
    Hono: () => {
      const app = new Hono().all('/billing/*', (c) => host.billing.fetch(c.req.raw, c.env))
      const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false })
      return listenWith((incoming, outgoing) => void listener(incoming, outgoing))
    },
  }
  for (const [framework, mount] of Object.entries(apps)) {
    test(`in ${framework}: the same routes behind the same guard`, async () => {
      await using app = await mount()
      const url = `${app.url}/billing/api/payments`
      const headers = { 'content-type': 'application/json', cookie: 'session=operator', origin }
      assert.equal((await fetch(url)).status, 403)
      assert.equal((await fetch(url, { headers })).status, 200)
      const made = await fetch(url, { method: 'POST', headers, body: JSON.stringify(wireOrder) })
      assert.equal(made.status, 201)
      const { id } = (await made.json()) as { readonly id: string }
      assert.equal((await fetch(`${url}/${id}`, { headers })).status, 200)
      const foreign = { ...headers, origin: 'https://evil.example' }
      const refused = await fetch(`${url}/${id}/cancel`, { method: 'POST', headers: foreign })
      assert.equal(refused.status, 403)
      assert.equal((await host.billing.payments.find(id))?.status, 'pending')
    })
  }

  test('on Node the guard gets what the app knows of the request', async () => {
    authenticate = (_request, env) => {
      const { incoming } = env as { readonly incoming: { readonly user?: string } }
      return incoming.user === undefined ? undefined : { name: incoming.user, role: 'viewer' }
    }
    const app = express().use((request, _response, next) => {
      if (request.headers['x-user'] !== undefined) Object.assign(request, { user: 'ops-1' })
      next()
    })
    await using mounted = await listenWith(app.use(nodeHandler(host.billing)))
    const url = `${mounted.url}/billing/api/gateways`
    assert.equal((await fetch(url)).status, 403)
    assert.equal((await fetch(url, { headers: { 'x-user': '1' } })).status, 200)
  })

  test('TRACE, of which no Request can be made for a guard, is refused and leaves no trace', async () => {
    authenticate = () => assert.fail('the guard is asked')
    const logged = host.logged.length
    await using mounted = await listenWith(express().use(nodeHandler(host.billing)))
    const asked = request(`${mounted.url}/billing/api/payments`, {
      method: 'TRACE',
      headers: { authorization: 'Bearer anything' },
    }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    assert.equal(answer.statusCode, 405)
    assert.equal(host.logged.length, logged)
  })

  test('without a guard there is no API, and its paths are the app’s own', async () => {
    await using bare = await embed({ database: { memory: true } })
    assert.equal(bare.billing.apiPath, undefined)
    const url = `${origin}/billing/api/payments`
    assert.equal((await bare.billing.fetch(new Request(url))).status, 404)
    const app = express().use(nodeHandler(bare.billing))
    await using mounted = await listenWith(app.use((_request, response) => void response.json(1)))
    assert.equal(await (await fetch(`${mounted.url}/billing/api/payments`)).json(), 1)
    assert.equal(host.billing.apiPath, '/billing/api')
  })
})
