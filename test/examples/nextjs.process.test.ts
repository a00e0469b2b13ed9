import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createCore } from '../../src/billing/create-core.ts'
import { newPayment, until } from '../support/billing.ts'
import { postgres } from '../support/databases.ts'
import { whileBusy } from '../support/deployment.ts'
import { muchPatience } from '../support/patience.ts'
import { runCommand } from '../support/process.ts'
import { sessionEvent, signedHeaders, signingSecret } from '../support/stripe-callbacks.ts'
import { settlesOnce } from './example.ts'
import { openBrowser } from './browse.ts'
import { installNextjs, makeNextjsApp } from './nextjs-app.ts'

const nextjs = await installNextjs()
const home = 'folder' in nextjs ? nextjs.folder : ''

test(
  'the Next.js example, built for production, takes payments and goes on after a kill',
  { skip: nextjs.missing },
  async () => {
    await using ends = new AsyncDisposableStack()
    const database = await postgres.create()
    ends.defer(() => database.drop())
    const app = ends.use(makeNextjsApp(home, 'nextjs'))
    await app.build()

    const env = {
      DATABASE_URL: database.url ?? '',
      STRIPE_SIGNING_SECRET: signingSecret,
      BILLING_FAKE: 'on',
    }
    const core = ends.use(
      createCore({ database: { url: database.url } }, { patience: muchPatience }),
    )
    const first = await app.run('start', env)
    const settled = await settlesOnce(core, first.url, (request) => fetch(request))
    await first.running.line(/^paid: order 42$/)

    // The server component and its action, as a browser without JavaScript uses them.
    const { open, press } = openBrowser()
    const checkout = await press(await open(first.url))
    assert.match(checkout.url, /\/billing\/fake\/checkout\//)
    await press(checkout, 'success')
    const second = async () => (await core.payments.list({ status: 'paid' })).data.length === 2
    await until(second, { what: 'the payment of the page is paid' })

    // The commands have the app's listeners, whose names no minifier has touched.
    const [bought] = (await core.payments.list({ gateway: 'fake' })).data
    const refund = ['refund', bought?.id ?? '']
    const beside = { cwd: app.folder, env: { ...env, APP_URL: first.url } }
    const { code, stderr } = await runCommand(refund, beside)
    assert.deepEqual([code, stderr], [0, []])

    await first.running.kill()
    const again = await app.run('start', env)
    assert.equal((await core.payments.get(settled))?.status, 'paid')
    const payment = await newPayment(core, { gateway: 'stripe' })
    const body = JSON.stringify(sessionEvent({ payment }))
    const callback = { method: 'POST', headers: signedHeaders(body), body }
    const send = async () => (await fetch(`${again.url}/billing/webhooks/stripe`, callback)).status
    assert.equal(await whileBusy(send), 200)
    await again.running.line(/^paid: order 42$/)
    // The listener has said so before the commit.
    const third = async () => (await core.payments.find(payment.id))?.status === 'paid'
    await until(third, { what: 'the payment after the kill is paid' })
    await again.running.stop()
  },
)

test('the Next.js shop has the types that its build wants', { skip: nextjs.missing }, async () => {
  using app = makeNextjsApp(home, 'nextjs-shop')
  await app.checkTypes()
})
