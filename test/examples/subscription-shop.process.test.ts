import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onAnyDatabase } from '../support/databases.ts'
import { until } from '../support/until.ts'
import { openBrowser, type Browser, type Shown } from './browse.ts'
import { complaintsOf, rowsOf, startExample } from './example.ts'
import { passTime } from './pass-time.ts'

onAnyDatabase((engine) => {
  test('examples/subscription-shop: from a first payment to the end, and a trial', async () => {
    await using example = await startExample('examples/subscription-shop/shop.ts', engine)
    const { running, url, core } = example
    const mails = () => running.stdout.filter((line) => line.startsWith('mail to '))
    const said = (words: RegExp) => mails().filter((line) => words.test(line)).length
    const readers = () =>
      rowsOf<{ readonly access: boolean }>(example, 'select access from readers order by 1')
    const succeed = async ({ press, follow, reload }: Browser, checkout: Shown) => {
      // A check of a card has come back by the time that a slow browser looks.
      const paid = await reload(await press(checkout, 'success'), /Thank you|was returned/)
      return follow(paid, /^Return to/)
    }

    const reader = openBrowser()
    const { open, press, follow, reload } = reader
    assert.equal((await open(`${url}/issue`)).status, 403)
    assert.equal((await open(`${url}/account`)).url, `${url}/`)
    const front = await open(url)
    const checkout = await press(front, 'Subscribe')
    assert.match(checkout.url, /\/billing\/fake\/checkout\//)
    // Twice the same page: one subscription.
    assert.match((await press(front, 'Subscribe')).text, /The first payment is not here yet/)
    const declined = await reload(await press(checkout, 'failure'), /declined/)
    const unpaid = await follow(declined, /^Return to/)
    assert.deepEqual([unpaid.url, /Closed/.test(unpaid.text)], [`${url}/account`, true])
    const again = await press(await follow(unpaid, /^Pay \$9\.00$/))
    assert.equal(again.url, checkout.url)
    const account = await reload(await succeed(reader, again), /Open/)
    assert.match(account.text, /\$9\.00 on/)
    assert.match((await open(`${url}/issue`)).text, /you have access/)
    assert.deepEqual(await readers(), [{ access: true }])
    await until(async () => said(/Welcome, \$9\.00/) === 1, { what: 'a welcome is sent' })

    await passTime(example, '31 days')
    await until(async () => said(/Your receipt, \$9\.00/) === 1, { what: 'the renewal is told' })

    // Another card, with which later charges are declined: what it took comes back.
    const check = await press(await open(account.url), 'Change card')
    assert.match(check.text, /\$1\.00/)
    const stolen = { ...check, text: check.text.replace('value="good"', 'value="hard"') }
    await succeed(reader, stolen)
    const cards = async () => (await core.subscriptions.list()).data[0]?.paymentMethodId
    const { data: saved } = await core.paymentMethods.list()
    assert.equal(saved.length, 2)
    await until(async () => (await cards()) === saved[0]?.id, { what: 'it is the card' })
    const checks = async () =>
      (await core.payments.list()).data.filter(({ payable }) => payable.type === 'card')
    await until(async () => (await checks())[0]?.refunded === 100n, { what: 'it has come back' })
    assert.deepEqual(
      (await checks()).map(({ amount, refunded }) => [amount, refunded]),
      [[100n, 100n]],
    )
    await passTime(example, '31 days')
    const due = await reload(account, /Your card was declined/)
    assert.match(due.text, /to be paid by you/)
    await until(async () => said(/please pay \$9\.00 http/) === 1, { what: 'a mail asks for it' })
    assert.match(
      (await succeed(reader, await press(await follow(due, /^Pay \$9\.00$/)))).url,
      /\/account$/,
    )
    await reload(account, /\$9\.00 on/)

    await press(await open(account.url), 'Cancel')
    const ending = await reload(account, /Ends on/)
    await press(ending, 'Go on')
    await press(await reload(account, /\$9\.00 on/), 'Cancel')
    await passTime(example, '31 days')
    await reload(account, /Ended on/)
    assert.equal((await open(`${url}/issue`)).status, 403)
    await until(async () => said(/bye/) === 1, { what: 'the end is told' })
    assert.deepEqual(await readers(), [{ access: false }])
    // No second trial.
    const back = await press(await follow(await open(account.url), /Subscribe again/), 'Try it')
    assert.match(back.text, /\$90\.00/)

    const other = openBrowser()
    const offer = await other.open(url)
    const twice = await Promise.all([other.press(offer, 'Try it'), other.press(offer, 'Try it')])
    const [trial] = twice
    assert.deepEqual(
      twice.map((shown) => shown.url),
      [account.url, account.url],
    )
    assert.equal((await core.subscriptions.list()).data.length, 3)
    assert.deepEqual([trial.url, /Free until/.test(trial.text)], [`${url}/account`, true])
    assert.match((await other.open(`${url}/issue`)).text, /you have access/)
    const isReader = async () => (await readers()).some((one) => one.access)
    await until(isReader, { what: 'the trial is told' })
    await passTime(example, '12 days')
    await until(async () => said(/your trial ends/) === 1, { what: 'a notice is sent' })
    await succeed(other, await other.press(trial, 'Add a card'))
    await other.reload(trial, /free until then/)
    await passTime(example, '3 days')
    await other.reload(trial, /\$90\.00 on/)
    await until(async () => said(/Your receipt, \$90\.00/) === 1, { what: 'it is told' })

    assert.equal((await open(`${url}/nothing`)).status, 404)
    const own = { method: 'POST', headers: { origin: url } }
    const foreign = { method: 'POST', headers: { origin: 'http://evil.example' } }
    assert.equal((await open(`${url}/account/cancel`, foreign)).status, 403)
    assert.equal((await open(`${url}/account/steal`, own)).status, 404)
    await core.close()
    const { code, stdout, stderr } = await running.stop()
    assert.deepEqual([code, complaintsOf(stderr)], [0, []])
    assert.deepEqual(stdout, [`listening on ${url}`, ...mails()])
  })
})
