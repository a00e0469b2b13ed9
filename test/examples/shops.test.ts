import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../support/billing.ts'
import { forEachDatabase } from '../support/databases.ts'
import { root } from '../tidy/source-files.ts'
import {
  isTogether,
  noteTransactions,
  rowsOf,
  startExample,
  type RunningExample,
} from './example.ts'

interface Shop {
  readonly folder: string
  /** What runs it, and with which arguments. */
  readonly program: string
  readonly args?: readonly string[]
}

const shops: readonly Shop[] = [
  { folder: 'express-shop', program: 'examples/express-shop/shop.ts' },
  {
    folder: 'nextjs-shop',
    program: 'test/examples/serve-routes.ts',
    args: [join(root, 'examples/nextjs-shop')],
  },
]

/** What a payer's browser shows. */
interface Shown {
  readonly url: string
  readonly status: number
  readonly text: string
}

async function open(url: string | URL, init: RequestInit = {}): Promise<Shown> {
  const answer = await fetch(url, init)
  return { url: answer.url, status: answer.status, text: await answer.text() }
}

/** Presses a button of the page's form: posts what it holds, and follows to where that leads. */
function press({ url, text }: Shown, button = 'button'): Promise<Shown> {
  const [form = ''] = /<form method="post"[^]*?<\/form>/.exec(text) ?? []
  const [, action = url] = /^<form[^>]* action="([^"]*)"/.exec(form) ?? []
  const fields = [...form.matchAll(/<(input|button)[^>]* name="(\w+)" value="([^"]*)"/g)]
    .filter(([, kind, , value]) => kind === 'input' || value === button)
    .map(([, , name = '', value = '']) => [name, value])
  assert.ok(form.includes('<button'), `${url} has no button:\n${text}`)
  return open(new URL(action, url), { method: 'POST', body: new URLSearchParams(fields) })
}

/** Follows a link of the page, by what it says. */
function follow({ url, text }: Shown, words: RegExp): Promise<Shown> {
  const links = [...text.matchAll(/<a [^>]*href="([^"]*)"[^>]*>([^<]*)<\/a>/g)]
  const [, target] = links.find(([, , said = '']) => words.test(said)) ?? []
  assert.ok(target !== undefined, `${url} has no link ${words}:\n${text}`)
  return open(new URL(target, url))
}

/** The page again and again, as a payer does, until it says so. */
async function reload({ url }: Shown, words: RegExp): Promise<Shown> {
  let shown = await open(url)
  const says = async () => words.test((shown = await open(url)).text)
  await until(says, { what: `${url} says ${words}` })
  return shown
}

/** The order goes with the event or not at all. */
function granted(example: RunningExample) {
  return rowsOf<object>(
    example,
    `select type, state, ${isTogether('orders.id')} as together
     from orders join billing.events on events.payment_id::text = orders.id
       and type like 'Payment%d' order by created_at`,
  )
}

forEachDatabase((engine) => {
  for (const { folder, program, args } of shops) {
    test(`examples/${folder}: from the product to a granted order, and its refund`, async () => {
      await using example = await startExample(program, engine, args)
      const { running, url, core } = example
      await noteTransactions(example, { table: 'orders', paymentId: 'id' })

      const checkout = await press(await open(url))
      assert.match(checkout.url, /\/billing\/fake\/checkout\//)
      const declined = await reload(await press(checkout, 'failure'), /declined/)
      const unpaid = await follow(declined, /^Return to/)
      assert.match(unpaid.text, /Not paid yet/)

      const again = await follow(unpaid, /^Pay$/)
      assert.equal(again.url, checkout.url)
      const paid = await reload(await press(again, 'success'), /Thank you/)
      assert.match(paid.url, /\/billing\/return\//)
      const order = await follow(paid, /^Return to/)
      assert.match(order.url, /\/orders\//)
      assert.match(order.text, /Paid/)
      const toldInOne = { type: 'PaymentSucceeded', state: 'granted', together: true }
      assert.deepEqual((await granted(example)).at(-1), toldInOne)

      // Twice the same page: one refund.
      for (const pressed of await Promise.all([press(order), press(order)])) {
        assert.deepEqual([pressed.status, pressed.url], [200, order.url])
      }
      await reload(order, /Refunded/)
      const { data } = await core.payments.list()
      assert.equal(data.length, 1)
      const payment = await core.payments.get(data[0]?.id ?? '')
      assert.deepEqual(payment?.events.map(({ type }) => type).toSorted(), [
        'CheckoutReturned',
        'PaymentFailed',
        'PaymentLinkOpened',
        'PaymentRefunded',
        'PaymentSucceeded',
      ])
      assert.deepEqual(
        payment?.refunds.map(({ status, amount }) => [status, amount]),
        [['paid', 1999n]],
      )

      const trouble = await open(`${order.url}/refund`, { method: 'POST' })
      assert.deepEqual([trouble.status, /refund_too_large/.test(trouble.text)], [409, true])
      assert.equal((await open(`${url}/orders/nobody`)).status, 404)

      await core.close()
      const { code, stdout } = await running.stop()
      assert.equal(code, 0)
      assert.deepEqual(stdout, [`listening on ${url}`])
    })
  }
})
