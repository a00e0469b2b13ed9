import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onAnyDatabase } from '../support/databases.ts'
import { openBrowser } from './browse.ts'
import {
  isTogether,
  noteTransactions,
  rowsOf,
  startExample,
  type RunningExample,
} from './example.ts'

/** The order goes with the event or not at all. */
function granted(example: RunningExample) {
  return rowsOf<object>(
    example,
    `select type, state, ${isTogether('orders.id')} as together
     from orders join billing.events on events.payment_id = orders.id
       and type like 'Payment%d' order by created_at`,
  )
}

onAnyDatabase((engine) => {
  test('examples/express-shop: from the product to a granted order, and its refunds', async () => {
    await using example = await startExample('examples/express-shop/shop.ts', engine)
    const { running, url, core } = example
    const { open, press, follow, reload } = openBrowser()
    await noteTransactions(example, { table: 'orders', paymentId: 'id' })

    const checkout = await press(await open(url))
    assert.match(checkout.url, /\/billing\/fake\/checkout\//)
    const declined = await reload(await press(checkout, 'failure'), /declined/)
    const unpaid = await follow(declined, /^Return to/)
    assert.match(unpaid.text, /Not paid/)

    const again = await follow(unpaid, /^Pay$/)
    assert.equal(again.url, checkout.url)
    const paid = await reload(await press(again, 'success'), /Thank you/)
    assert.match(paid.url, /\/billing\/return\//)
    const order = await follow(paid, /^Return to/)
    assert.match(order.url, /\/orders\//)
    assert.match(order.text, /Paid/)
    const toldInOne = { type: 'PaymentSucceeded', state: 'granted', together: true }
    assert.deepEqual((await granted(example)).at(-1), toldInOne)

    // Twice the same page: one refund. Of a part: the order stays.
    const part = 'It came late: refund the shipping, $5.00'
    const twice = [press(order, part), press(order, part)]
    for (const pressed of await Promise.all(twice)) {
      assert.deepEqual([pressed.status, pressed.url], [200, order.url])
    }
    const partly = await reload(order, /Partly refunded/)
    assert.match(partly.text, /\$5\.00 went back/)
    await press(partly, 'Send it back: refund $14.99')
    await reload(order, />Refunded</)
    const { data } = await core.payments.list()
    assert.equal(data.length, 1)
    const payment = await core.payments.get(data[0]?.id ?? '')
    assert.deepEqual(payment?.events.map(({ type }) => type).toSorted(), [
      'CheckoutReturned',
      'PaymentFailed',
      'PaymentLinkOpened',
      'PaymentRefunded',
      'PaymentRefunded',
      'PaymentSucceeded',
    ])
    assert.deepEqual(
      payment?.refunds.map(({ status, amount }) => [status, amount]),
      [
        ['paid', 500n],
        ['paid', 1499n],
      ],
    )
    const receipts = running.stdout.filter((line) => /^receipt of .*: \$19\.99 \(/.test(line))
    assert.equal(receipts.length, 1)
    assert.equal((await fetch(`${url}/style.css`)).status, 200)

    const trouble = await open(`${order.url}/refund`, { method: 'POST' })
    assert.deepEqual([trouble.status, /refund_too_large/.test(trouble.text)], [409, true])
    assert.equal((await open(`${url}/orders/nobody`)).status, 404)

    await core.close()
    const { code, stdout } = await running.stop()
    assert.equal(code, 0)
    assert.deepEqual(stdout, [`listening on ${url}`, ...receipts])
  })
})
