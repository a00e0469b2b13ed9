import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Script } from 'node:vm'
import express from 'express'
import { returnCheck } from '../../src/billing/settings.ts'
import type { BillingCore } from '../../src/billing/types.ts'
import { createApp } from '../../src/http/app.ts'
import { nodeHandler } from '../../src/http/node-handler.ts'
import { newUuid } from '../../src/kernel/ids.ts'
import {
  createExpired,
  createPayment,
  createUnanswered,
  form,
  settle,
  shop,
  startPayerService,
} from '../pages/payer-service.ts'
import { listenWith } from './host-apps.ts'
import { eventually, maxBodyBytes, order, origin, type Service } from './service.ts'

let service: Service
const told: string[] = []
before(async () => {
  service = await startPayerService()
  service.core.on('PaymentLinkOpened', 'tellOpened', ({ payment }) => {
    told.push(`opened ${payment.id}`)
  })
  service.core.on('CheckoutReturned', 'tellReturned', ({ payment }) => {
    told.push(`returned ${payment.id}`)
  })
})
after(() => service[Symbol.asyncDispose]())

const inEnglish = { 'accept-language': 'en' }
const ask = (path: string, init: RequestInit = {}) =>
  fetch(service.listening.url + path, { redirect: 'manual', headers: inEnglish, ...init })

/** The same routes over a core of which some payment operations are replaced. */
function appWith(payments: Partial<BillingCore['payments']>) {
  const core = { ...service.core, payments: { ...service.core.payments, ...payments } }
  return createApp(core, {
    apiToken: undefined,
    maxBodyBytes,
    webhookMiddleware: [],
    log: service.log,
  })
}

/** Everything that is stored of a payment, as text. */
async function everythingOf(id: string): Promise<string> {
  const payment = await service.core.payments.get(id)
  const { events: _events, ...rest } = payment ?? { events: [] }
  return JSON.stringify(rest, (_name, value: unknown) =>
    typeof value === 'bigint' ? `${value}` : value,
  )
}

const paidPayment = async () => {
  const { id } = await createPayment(service)
  await settle(service, id, 'success')
  return id
}
const refundedPayment = (amount?: number) => async () => {
  const id = await paidPayment()
  await service.core.refunds.create(id, amount === undefined ? {} : { amount })
  return id
}
const failedPayment = async () => {
  const { id } = await createPayment(service)
  await settle(service, id, 'failure')
  return id
}
const canceledPayment = async () => {
  const { id } = await createPayment(service)
  await service.core.payments.cancel(id)
  return id
}
const unknown = '0199a000-0000-7000-8000-0000000000ff'

describe('the payment link', () => {
  test('leads to the checkout while the payment is pending or declined', async () => {
    for (const id of [(await createPayment(service)).id, await failedPayment()]) {
      const answer = await ask(`/billing/pay/${id}?any=query`)
      assert.equal(answer.status, 303)
      assert.equal(answer.headers.get('location'), `${origin}/billing/fake/checkout/${id}`)
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer')
    }
  })

  const closed: readonly (readonly [string, () => Promise<string>])[] = [
    ['Already paid', paidPayment],
    ['Partly refunded', refundedPayment(5_000)],
    ['Refunded', refundedPayment()],
    ['Payment canceled', canceledPayment],
    ['Link expired', () => createExpired(service)],
    ['Not ready yet', () => createUnanswered(service)],
    ['Not payable here', async () => (await createPayment(service, { checkout: false })).id],
  ]
  for (const [heading, make] of closed) {
    test(`says “${heading}” where there is no way to pay`, async () => {
      const id = await make()
      const answer = await ask(`/billing/pay/${id}`)
      assert.equal(answer.status, 200)
      const text = await answer.text()
      assert.ok(text.includes(`<h1>${heading}</h1>`), text)
      assert.equal(text.includes('Try again</a>'), heading === 'Not ready yet')
      assert.equal(/<form|<script/.test(text), false)
    })
  }

  test('ends without a line above an empty place where there is nothing to press', async () => {
    const { id } = await service.core.payments.create({ ...order, checkout: false })
    const text = await (await ask(`/billing/pay/${id}`)).text()
    assert.ok(text.includes('<div class="actions"></div>'), text)
  })

  test('redirects to nothing but http(s), and never in circles', async () => {
    const id = newUuid()
    for (const url of ['javascript:alert(1)', 'data:text/html,x', `${origin}/billing/pay/${id}`]) {
      const payment = await createPayment(service, {
        gateway: 'linkpay',
        description: url,
        ...(url.endsWith(id) && { id }),
      })
      assert.equal(payment.checkoutUrl, url)
      const answer = await ask(`/billing/pay/${payment.id}`)
      assert.equal(answer.status, 200)
      assert.match(await answer.text(), /Not payable here/)
    }
    const fine = await createPayment(service, {
      gateway: 'linkpay',
      description: 'https://provider.example/c/1?a=b',
    })
    const answer = await ask(`/billing/pay/${fine.id}`)
    assert.equal(answer.headers.get('location'), 'https://provider.example/c/1?a=b')
  })

  test('shows the form of a provider that wants one, every field escaped', async () => {
    form.action = 'https://provider.example/pay?x="y"'
    const { id } = await createPayment(service, { gateway: 'formpay' })
    const answer = await ask(`/billing/pay/${id}`)
    const text = await answer.text()
    assert.ok(text.includes('action="https://provider.example/pay?x=&quot;y&quot;"'))
    assert.ok(text.includes('name="signature" value="&quot;&gt;&lt;b&gt;&amp;"'))
    const policy = answer.headers.get('content-security-policy') ?? ''
    assert.match(policy, /; form-action https:\/\/provider\.example;/)
    assert.match(policy, /; script-src 'self'(;|$)/)
    form.action = 'javascript:alert(1)'
    assert.match(await (await ask(`/billing/pay/${id}`)).text(), /Not payable here/)
  })
})

describe('the return page', () => {
  const shown: readonly (readonly [string, () => Promise<string>, { retry: boolean }])[] = [
    ['Waiting for confirmation', async () => (await createPayment(service)).id, { retry: false }],
    ['Paid', paidPayment, { retry: false }],
    ['Partly refunded', refundedPayment(5_000), { retry: false }],
    ['Refunded', refundedPayment(), { retry: false }],
    ['Payment declined', failedPayment, { retry: true }],
    ['Payment canceled', canceledPayment, { retry: false }],
  ]
  for (const [heading, make, { retry }] of shown) {
    test(`says “${heading}”`, async () => {
      const id = await make()
      const text = await (await ask(`/billing/return/${id}`)).text()
      assert.ok(text.includes(`<h1>${heading}</h1>`), text)
      assert.equal(text.includes(`href="/billing/pay/${id}"`), retry)
      assert.ok(text.includes(`href="${shop}/thanks?order=42"`))
      // What is not settled is looked after.
      const isPaid = /^Paid|efunded$/.test(heading)
      assert.equal(text.includes('<script src="/billing/assets/follow-status-'), !isPaid)
      assert.equal(text.includes('<noscript><meta http-equiv="refresh"'), !isPaid)
      assert.equal(/Thank you|class="paid"/.test(text), heading === 'Paid')
      assert.equal(text.includes('and UAH 50.00 of it was returned'), heading === 'Partly refunded')
    })
  }

  test('says of a disputed payment on every page that it is', async () => {
    const id = await paidPayment()
    const disputed = { state: 'disputed', refunded: 0n } as const
    const app = appWith({
      standings: (ids) => Promise.resolve(new Map([[ids[0] ?? '', disputed]])),
    })
    for (const page of ['pay', 'return', 'fake/checkout']) {
      const answer = await app.request(`/billing/${page}/${id}`, { headers: inEnglish })
      const [text = ''] = /<main.*/s.exec(await answer.text()) ?? []
      assert.match(text, /Disputed/)
      assert.match(text, /class="(?:status )?disputed"/)
      assert.doesNotMatch(text, /Thank you|Paid|nothing left to do/, page)
    }
  })

  test('offers no other try where the checkout is over', async () => {
    const id = await createExpired(service)
    await settle(service, id, 'failure')
    const text = await (await ask(`/billing/return/${id}`)).text()
    assert.match(text, /Payment declined/)
    assert.equal(text.includes('Try again'), false)
  })

  test('leads on only to origins that are allowed now', async () => {
    const { id } = await createPayment(service)
    const linksAt = async (origins: readonly string[]) => {
      const allowsReturn = returnCheck([origin, ...origins], { production: true })
      const answer = await appWith({ allowsReturn }).request(`/billing/return/${id}`)
      return (await answer.text()).includes(shop)
    }
    assert.equal(await linksAt([shop]), true)
    assert.equal(await linksAt([]), false)
    assert.equal(await linksAt(['https://shop.example']), false)
  })

  test('changes nothing, whatever the browser brings along', async () => {
    const { id } = await createPayment(service)
    const stored = await everythingOf(id)
    const fields = { transactionStatus: 'Approved', order_status: 'approved', result: 'success' }
    const query = new URLSearchParams(fields).toString()
    for (const body of [query, JSON.stringify(fields), '', 'x'.repeat(100_000)]) {
      const posted = await ask(`/billing/return/${id}?${query}`, { method: 'POST', body })
      assert.equal(posted.status, 303)
      assert.equal(posted.headers.get('location'), `/billing/return/${id}`)
    }
    await (await ask(`/billing/return/${id}?${query}`)).text()
    assert.equal(await everythingOf(id), stored)
    assert.deepEqual((await service.core.calls.list({ paymentId: id })).data, [])
  })
})

describe('what a browser did', () => {
  test('is dispatched once, however often the pages are opened', async () => {
    const { id } = await createPayment(service)
    const stored = await everythingOf(id)
    const twenty = (path: string) => Promise.all(Array.from({ length: 20 }, () => ask(path)))
    for (const rounds of [1, 2]) {
      const links = await twenty(`/billing/pay/${id}`)
      const returns = await twenty(`/billing/return/${id}`)
      assert.ok(
        links.every(({ status }) => status === 303),
        `in round ${rounds}`,
      )
      assert.ok(
        returns.every(({ status }) => status === 200),
        `in round ${rounds}`,
      )
      await eventually(async () => {
        const { data } = await service.core.events.list({ paymentId: id })
        return data.length === 2 ? true : undefined
      })
    }
    const mine = () => told.filter((line) => line.endsWith(id)).sort()
    assert.deepEqual(mine(), [`opened ${id}`, `returned ${id}`])
    assert.equal(await everythingOf(id), stored)
  })

  test('is not dispatched for a HEAD, which no person sends', async () => {
    const { id } = await createPayment(service)
    for (const path of ['pay', 'return']) {
      const answer = await ask(`/billing/${path}/${id}`, { method: 'HEAD' })
      assert.equal(answer.status, path === 'pay' ? 303 : 200)
      assert.equal(await answer.text(), '')
    }
    let asked = 0
    const signal = () => {
      asked += 1
      return Promise.resolve(true)
    }
    const app = appWith({ signal })
    await app.request(`/billing/return/${id}`, { method: 'HEAD' })
    assert.equal(asked, 0)
    await app.request(`/billing/return/${id}`)
    assert.equal(asked, 1)
  })

  test('neither a failing listener nor a slow one disturbs the page', async () => {
    const { id } = await createPayment(service)
    const failing = appWith({ signal: () => Promise.reject(new Error('the listener failed')) })
    assert.equal((await failing.request(`/billing/return/${id}`)).status, 200)
    await eventually(async () =>
      service.logged.some((line) => line.includes('CheckoutReturned was lost')) ? true : undefined,
    )
    let begun = 0
    const slow = appWith({
      signal: () => {
        begun += 1
        return new Promise(() => {})
      },
    })
    for (let opened = 0; opened < 5; opened += 1) {
      assert.equal((await slow.request(`/billing/return/${id}`)).status, 200)
    }
    assert.equal(begun, 1, 'no second one waits behind the first')
  })
})

test('a listener that hangs runs once, not once a visit: the payment rests', async () => {
  await using hanging = await startPayerService({ listenerBudgetMs: 100 })
  let begun = 0
  hanging.core.on('PaymentLinkOpened', 'hang', () => {
    begun += 1
    return new Promise<void>(() => {})
  })
  const { id } = await createPayment(hanging)
  const visit = () => fetch(`${hanging.listening.url}/billing/pay/${id}`, { redirect: 'manual' })
  const notTold = () =>
    hanging.logged.some((line) => line.includes('PaymentLinkOpened was not dispatched'))
  await visit()
  await eventually(() => Promise.resolve(notTold() || undefined))
  for (let visits = 0; visits < 20; visits += 1) assert.equal((await visit()).status, 303)
  // Its second run would begin at once, before any work that is given to the database now.
  await hanging.core.payments.list()
  assert.equal(begun, 1)
})

test('many views of one payment at once cost two looks, later ones dispatch nothing again', async () => {
  const { id } = await createPayment(service)
  let looks = 0
  let signals = 0
  const app = appWith({
    find: (key) => {
      looks += 1
      return service.core.payments.find(key)
    },
    get: () => Promise.reject(new Error('a page needs no history')),
    signal: (type, payment) => {
      signals += 1
      return service.core.payments.signal(type, payment)
    },
  })
  const view = async () => app.request(`/billing/pay/${id}`)
  const views = () => Promise.all(Array.from({ length: 50 }, view))
  const answers = await views()
  await eventually(async () => told.includes(`opened ${id}`) || undefined)
  answers.push(...(await views()))
  assert.ok(answers.every(({ status }) => status === 303))
  assert.ok(looks <= 4, `${looks} looks for 100 views`)
  assert.equal(signals, 1)
})

describe('every page', () => {
  test('carries the headers that keep it to its payer', async () => {
    const { id } = await createPayment(service)
    for (const path of [
      `/billing/return/${id}`,
      `/billing/pay/${await paidPayment()}`,
      `/billing/fake/checkout/${id}`,
      '/billing/paddle/checkout?_ptxn=txn_1',
      `/billing/pay/${unknown}`,
    ]) {
      const { headers } = await ask(path)
      const policy = headers.get('content-security-policy') ?? ''
      assert.match(headers.get('content-type') ?? '', /^text\/html; charset=utf-8$/)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.ok(/^(no-referrer|strict-origin)$/.test(headers.get('referrer-policy') ?? ''), path)
      assert.match(policy, /^default-src 'none'; /)
      assert.match(policy, /base-uri 'none'; frame-ancestors 'none'/)
      assert.equal(/unsafe|\*/.test(policy), false, policy)
    }
  })

  test('has nothing inline: no script text, no handler, no style attribute', async () => {
    const { id } = await createPayment(service, { gateway: 'formpay' })
    form.action = 'https://provider.example/pay'
    for (const path of [
      `/billing/pay/${id}`,
      `/billing/return/${id}`,
      '/billing/beta/checkout?_ptxn=txn_1',
    ]) {
      const text = await (await ask(path)).text()
      assert.equal(/<script(?! src="[^"]+" defer><\/script>)/.test(text), false)
      assert.equal(/\s(?:style|on[a-z]+)=/.test(text.replace(/<style>.*?<\/style>/gs, '')), false)
      assert.equal(text.match(/<h1/g)?.length, 1)
      assert.match(text, /<html lang="en">/)
    }
  })

  test('of an unknown payment answers 404, and what is no id costs no look', async () => {
    const blind = appWith({ find: () => Promise.reject(new Error('the database was asked')) })
    for (const path of ['pay', 'return']) {
      for (const id of [unknown, unknown.toUpperCase()]) {
        assert.equal((await ask(`/billing/${path}/${id}`)).status, 404)
      }
      for (const id of ['x', '__proto__', `${unknown}0`, '%27', `{${unknown}}`]) {
        const answer = await blind.request(`/billing/${path}/${id}`)
        assert.equal(answer.status, 404, id)
        assert.match(await answer.text(), /No such payment/)
      }
    }
    assert.equal((await blind.request('/billing/return/x/status')).status, 404)
    assert.equal((await blind.request('/billing/return/x', { method: 'POST' })).status, 404)
  })

  test('of a refund answers 404: it is nobody’s to pay', async () => {
    const id = await paidPayment()
    const refund = await service.core.refunds.create(id)
    assert.equal((await ask(`/billing/pay/${refund.id}`)).status, 404)
    assert.equal((await ask(`/billing/return/${refund.id}`)).status, 404)
  })

  test('takes no other method', async () => {
    const { id } = await createPayment(service)
    const routes = [
      [`/billing/pay/${id}`, 'POST', 'GET, HEAD'],
      [`/billing/return/${id}`, 'PUT', 'GET, HEAD, POST'],
      [`/billing/return/${id}/status`, 'POST', 'GET, HEAD'],
      ['/billing/paddle/checkout', 'POST', 'GET, HEAD'],
      ['/billing/assets/x.js', 'DELETE', 'GET, HEAD'],
    ] as const
    for (const [path, method, allowed] of routes) {
      const answer = await ask(path, { method })
      assert.equal(answer.status, 405, path)
      assert.equal(answer.headers.get('allow'), allowed)
    }
  })

  test('says to try again while the database is away, and nothing of why', async () => {
    const app = appWith({ find: () => Promise.reject(new Error('password of the database')) })
    for (const path of ['pay', 'return']) {
      const answer = await app.request(`/billing/${path}/${unknown}`)
      assert.equal(answer.status, 503)
      assert.equal(answer.headers.get('retry-after'), '60')
      const text = await answer.text()
      assert.match(text, /try again in a minute/)
      assert.equal(text.includes('password'), false)
    }
  })

  test('is there in an app that mounts the handler, which hands on all else', async () => {
    const { id } = await createPayment(service)
    const app = createApp(service.core, {
      apiToken: undefined,
      maxBodyBytes,
      webhookMiddleware: [],
      log: service.log,
    })
    const mounted = nodeHandler({
      webhookPaths: service.core.webhookPaths,
      pages: service.core.pages,
      fetch: async (request, env) => app.fetch(request, env),
    })
    await using host = await listenWith(
      express()
        .use(mounted)
        .use((_request, response) => {
          response.status(418).end()
        }),
    )
    const statusAt = async (path: string) =>
      (await fetch(host.url + path, { redirect: 'manual' })).status
    assert.equal(await statusAt(`/billing/pay/${id}`), 303)
    assert.equal(await statusAt(`/billing/return/${id}`), 200)
    // As a framework that ends every path with a slash asks for them.
    assert.equal(await statusAt(`/billing/pay/${id}/`), 303)
    assert.equal(await statusAt(`/billing/return/${id}/?a=b`), 200)
    assert.equal(await statusAt('/billing/beta/checkout/'), 400)
    assert.equal(await statusAt('/billing/beta/checkout'), 400)
    assert.equal(await statusAt('/billing/assets/none.js'), 404)
    for (const path of [
      '/billing/payments',
      '/billing/shop/checkout',
      '/billing',
      '/billing/pay',
    ]) {
      assert.equal(await statusAt(path), 418, path)
    }
  })
})

describe('a script of ours', () => {
  test('is served for ever under an address of its content, and is a script', async () => {
    form.action = 'https://provider.example/pay'
    const { id } = await createPayment(service, { gateway: 'formpay' })
    const pages = [
      `/billing/pay/${id}`,
      `/billing/return/${id}`,
      '/billing/paddle/checkout?_ptxn=txn_1',
    ]
    const addresses = new Set<string>()
    for (const path of pages) {
      const text = await (await ask(path)).text()
      const [address = ''] = /\/billing\/assets\/[a-z-]+-[0-9a-f]{16}\.js/.exec(text) ?? []
      addresses.add(address)
      const answer = await ask(address)
      assert.equal(answer.status, 200)
      assert.equal(answer.headers.get('content-type'), 'text/javascript; charset=utf-8')
      assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable')
      const source = await answer.text()
      assert.doesNotThrow(() => new Script(source))
      assert.equal(await (await ask(address, { method: 'HEAD' })).text(), '')
    }
    assert.equal(addresses.size, 3)
    const other = await ask('/billing/assets/follow-status-0000000000000000.js')
    assert.equal(other.status, 404)
    assert.equal(other.headers.get('cache-control'), 'no-store')
  })
})

describe('the page that opens a checkout by the provider’s script', () => {
  const path = '/billing/paddle/checkout'
  const policyWith = async (token: string) => {
    await using live = await startPayerService({
      gateways: { paddle: { signing_secret: 'pdl_ntfset_secret', client_token: token } },
    })
    const answer = await fetch(`${live.listening.url}${path}?_ptxn=txn_1`)
    return answer.headers.get('content-security-policy') ?? ''
  }

  test('carries the token and the transaction, under the name and the alias alike', async () => {
    for (const name of ['paddle', 'beta']) {
      const text = await (await ask(`/billing/${name}/checkout?_ptxn=txn_01hv8w&x=1`)).text()
      assert.match(text, /data-token="test_7d279f61" data-transaction="txn_01hv8w"/)
      assert.match(text, /<script src="https:\/\/cdn\.paddle\.com\/paddle\/v2\/paddle\.js" defer>/)
    }
  })

  test('lets load what its environment needs and nothing of the other', async () => {
    const live = await policyWith('live_1')
    assert.match(live, /script-src 'self' https:\/\/cdn\.paddle\.com(;|$)/)
    assert.match(live, /frame-src https:\/\/buy\.paddle\.com /)
    assert.equal(live.includes('sandbox'), false)
    const sandbox = await policyWith('test_1')
    assert.match(sandbox, /frame-src https:\/\/sandbox-buy\.paddle\.com /)
    assert.equal(/https:\/\/buy\./.test(sandbox), false)
  })

  test('answers 400 to an address without a transaction', async () => {
    for (const query of ['', '?_ptxn=', '?_ptxn=pri_1', '?_ptxn=txn_%22%3E', '?_ptxn=TXN_1']) {
      const answer = await ask(path + query)
      assert.equal(answer.status, 400, query)
      assert.equal((await answer.text()).includes('<script'), false)
    }
  })

  test('names the setting that is missing, and no secret', async () => {
    await using without = await startPayerService({
      gateways: { paddle: { signing_secret: 'pdl_ntfset_secret', api_key: 'pdl_sdbx_apikey_1' } },
    })
    const answer = await fetch(`${without.listening.url}${path}?_ptxn=txn_1`)
    assert.equal(answer.status, 503)
    const text = await answer.text()
    assert.match(text, /PADDLE_CLIENT_TOKEN/)
    assert.equal(/pdl_|<script/.test(text), false)
  })
})
