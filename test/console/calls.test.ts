import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { reasons } from '../../src/payments/reasons.ts'
import { idle } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { stating } from '../support/stating-gateway.ts'
import { paid } from '../support/statements.ts'
import { consolePath, visiting, type Visitor } from './visitor.ts'

const card = '4111 1111 1111 1111'
const hostile = `<script>alert(1)</script>"onmouseover="x \u{202e}${card} ${'ж'.repeat(10_000)}`

onAnyDatabase((engine) => {
  describe('the calls in the console', () => {
    let billing: StatedBilling
    let olena: Visitor
    let taras: Visitor
    let isBroken = false
    before(async () => {
      billing = await openStated(engine, {
        extraGateways: [
          stating,
          { ...stating, name: 'silent', webhook_requires_dashboard_setup: true },
        ],
        listen: ({ core }) =>
          core.on('PaymentSucceeded', 'grant', () => {
            if (isBroken) throw new Error(`no access: ${hostile}`)
          }),
      })
      const as = visiting(billing.core)
      olena = as('olena')
      taras = as('taras', 'viewer')
    })
    after(() => billing.close())

    const actions = async () => (await billing.core.operators.actions({ limit: 100 })).data

    test('say why there may be none, before the first has come', async () => {
      const { text } = await olena.open('/calls')
      assert.match(text, /There is no such call/)
      assert.match(text, /No secret is set for: .*stripe/)
      assert.match(text, /is not registered at the provider of: silent/)
      assert.match(text, /None came in the last 30 days/)
      assert.match(text, /What came was refused/)
      const { text: other } = await olena.open('/calls?gateway=stating&state=failed')
      assert.match(other, /None fits what is chosen above/)
      assert.doesNotMatch(other, /No secret is set/)
    })

    test('are listed with what became of them in words, by what was chosen', async () => {
      const payment = await billing.create()
      const applied = await billing.say(paid(payment))
      const ignored = await billing.say(paid({ ...payment, id: newUuid() }))
      const { text, html } = await olena.open('/calls')
      assert.match(text, /payment:paid: applied|payment.*: applied/)
      assert.ok(text.includes(reasons.unknown_payment.callback ?? ''))
      assert.ok(html.includes(`${consolePath}/payments/${payment.id}`))
      const rows = async (query: string) => {
        const page = await olena.open(`/calls?${query}`)
        return [applied, ignored].map(({ id }) => page.html.includes(`/calls/${id}"`))
      }
      assert.deepEqual(await rows('state=ignored'), [false, true])
      assert.deepEqual(await rows('state=processed&gateway=stating'), [true, false])
      assert.deepEqual(await rows('gateway=fake'), [false, false])
      assert.deepEqual(await rows(`payment=${payment.id}`), [true, false])
      assert.deepEqual(await rows('state=nonsense&review='), [true, true])
      assert.deepEqual(await rows('review=true'), [false, false])
      assert.deepEqual(await rows('review=false'), [true, true])
      const chosen = await olena.open('/calls?review=false')
      assert.match(chosen.html, /<option value="false" selected>/)
      const wrong = await olena.open('/calls?payment=42')
      assert.deepEqual([wrong.status, /payment must be a whole id/.test(wrong.text)], [400, true])
    })

    test('that are looked for among very many say how far back that was', async () => {
      await sql`insert into billing.webhook_calls (id, gateway, queue, url, headers, kind, payload,
          outcome, received_at, state)
        select ('00000000-0000-7000-8000-' || lpad(number::text, 12, '0'))::uuid, 'stating', 'default',
          '/', '{}', 'json', '[]', '[]', '1970-01-01', 'ignored'
        from generate_series(1, 21500) as number`.execute(billing.database.db)
      const { text } = await olena.open('/calls?gateway=silent')
      assert.match(text, /None of those that were looked at fits/)
      assert.match(text, /Looked back to 01 Jan 1970 00:00:00 ?; there may be more before/)
      assert.match(text, /Look further/)
      await sql`delete from billing.webhook_calls where received_at = '1970-01-01'`.execute(
        billing.database.db,
      )
    })

    test('show each attempt that failed, with hostile text made harmless, and its headers', async () => {
      isBroken = true
      const payment = await billing.create()
      const answer = await billing.core.receive({
        gateway: 'stating',
        target: '/billing/webhooks/stating',
        headers: { 'x-stated': 'yes', 'x-note': hostile },
        body: Buffer.from(
          JSON.stringify([{ ...paid(payment), amount: `${payment.amount}`, note: hostile }]),
        ),
      })
      assert.equal(answer.status, 200)
      const [call] = (await billing.core.calls.list({ limit: 1 })).data
      assert.ok(call)
      await billing.attempted(call, 1)
      const page = await olena.open(`/calls/${call.id}`)
      isBroken = false
      assert.match(page.text, /Attempt 1, .*listener grant/)
      assert.match(page.text, /Due \d\d/)
      for (const path of ['', '?as=exact', '?as=fields', '?as=hex']) {
        const { html } = await olena.open(`/calls/${call.id}${path}`)
        for (const one of ['<script>', '"onmouseover="', '\u{202e}', card]) {
          assert.ok(!html.includes(one), `${path}: ${one}`)
        }
      }
      assert.match(page.html, /\\u\{202e\}/)
      assert.match(page.html, /<details class="panel">/)
      await billing.retry()
      const done = await olena.open(`/calls/${call.id}`)
      assert.match(done.text, /Events that it claimed/)
      assert.match(done.text, /payment:paid:/)
    })

    test('show their payload in four forms, up to 64 kB of it, and say how much there is', async () => {
      const long = 'x'.repeat(300)
      const body = `[{"type":"ignored","reason":"no_outcome","n":1.10,"deep":{"list":[1e2,{}]},"text":"${long}"}${',{"type":"ignored","reason":"no_outcome"}'.repeat(3_000)}]`
      await billing.core.receive({
        gateway: 'stating',
        target: '/billing/webhooks/stating',
        headers: { 'x-stated': 'yes' },
        body: Buffer.from(body),
      })
      await idle(billing.core)
      const [call] = (await billing.core.calls.list({ limit: 1 })).data
      const at = `/calls/${call?.id}`
      const pretty = await olena.open(at)
      assert.match(pretty.html, /\n {4}&quot;n&quot;: 1\.10,\n {4}&quot;deep&quot;: \{\n/)
      assert.match(pretty.text, /These are the first 64 kB of 123,\d{3} bytes/)
      assert.match(pretty.text, /And 2,951 more\./)
      assert.ok(pretty.html.length < 200_000)
      assert.match((await olena.open('/calls')).text, /And 2998 more\./)
      const exact = await olena.open(`${at}?as=exact`)
      assert.match(exact.html, /\[\{&quot;type&quot;:&quot;ignored&quot;,/)
      assert.match(exact.text, /These are the first 64 kB/)
      const fields = await olena.open(`${at}?as=fields`)
      assert.match(fields.text, /\[0\]\.deep\.list\[0\] 1e2/)
      assert.match(fields.text, /\[0\]\.n 1\.10/)
      assert.match(fields.text, /These are the first 500 fields/)
      const hex = await olena.open(`${at}?as=hex`)
      assert.match(hex.html, /000000 {2}5b 7b 22 74 79 70 65/)
      assert.match(hex.text, /These are the first 16 kB/)
      const nonsense = await olena.open(`${at}?as=%3Cscript%3E`)
      assert.match(nonsense.html, /aria-current="page">Pretty/)
    })

    test('give their whole body as a file, to a viewer too, and the audit says to whom', async () => {
      const [call] = (await billing.core.calls.list({ limit: 1 })).data
      assert.ok(call)
      const stored = (await billing.core.calls.get(call.id))?.payload
      const before = (await actions()).length
      const file = await taras.open(`/calls/${call.id}/body`)
      assert.equal(file.html, stored)
      assert.equal(file.headers.get('content-type'), 'application/octet-stream')
      assert.equal(
        file.headers.get('content-disposition'),
        `attachment; filename="call-${call.id}.bin"`,
      )
      assert.equal(file.headers.get('x-content-type-options'), 'nosniff')
      const [action] = await actions()
      assert.equal((await actions()).length, before + 1)
      assert.deepEqual(
        [action?.operator, action?.action, action?.subject, action?.outcome],
        ['taras', 'downloadCallBody', call.id, 'done'],
      )
      assert.equal((await taras.open(`/calls/${newUuid()}/body`)).status, 404)
    })

    test('that are unknown, or no ids at all, are not found', async () => {
      for (const path of [newUuid(), '42', `${newUuid()}/replay`, 'x/body']) {
        assert.equal((await olena.open(`/calls/${path}`)).status, 404, path)
      }
    })

    test('are replayed once, however often the form is sent', async () => {
      const payment = await billing.createPaid()
      const { data } = await billing.core.calls.list({ paymentId: payment.id })
      const [call] = data
      assert.ok(call)
      const at = `/calls/${call.id}/replay`
      const asked = await olena.open(at)
      assert.match(asked.text, /What was dispatched is not dispatched again/)
      const form = await olena.hidden(at)
      const answers = [await olena.send(at, form), await olena.send(at, form)]
      assert.deepEqual(
        answers.map(({ status, headers }) => [status, headers.get('location')]),
        ['replayed', 'already'].map((done) => [
          303,
          `${consolePath}/calls/${call.id}?done=${done}`,
        ]),
      )
      await billing.retry()
      assert.deepEqual(await billing.events(payment), ['PaymentSucceeded'])
      const own = (await actions()).filter(({ subject }) => subject === call.id)
      assert.deepEqual(
        own.map(({ operator, action, outcome }) => [operator, action, outcome]),
        [['olena', 'replayWebhookCall', 'done']],
      )
    })

    test('that are marked are replayed, each once, and those on their way are counted out', async () => {
      const payments = [await billing.createPaid(), await billing.createPaid()]
      const ids: string[] = []
      for (const { id } of payments) {
        const [call] = (await billing.core.calls.list({ paymentId: id })).data
        ids.push(call?.id ?? '')
      }
      const list = await olena.open('/calls')
      for (const id of ids)
        assert.match(list.html, new RegExp(`form="marked"\\s+name="call"\\s+value="${id}"`))
      const query = [...ids, ids[0], 'x', newUuid()].map((id) => `call=${id}`).join('&')
      const path = `/calls/replay?${query}&back=${consolePath}/calls?state=failed`
      const asked = await olena.open(path)
      assert.match(asked.text, /Replay 2 calls\?/)
      const form = await olena.hidden(path)
      assert.deepEqual(form.getAll('call'), ids)
      const answer = await olena.send(path, form)
      assert.equal(
        answer.headers.get('location'),
        `${consolePath}/calls?state=failed&done=replayed_all`,
      )
      await billing.retry()
      for (const payment of payments) {
        assert.deepEqual(await billing.events(payment), ['PaymentSucceeded'])
      }
      const again = await olena.hidden(path)
      again.append('call', newUuid())
      const some = await olena.send(path, again)
      assert.match(some.headers.get('location') ?? '', /done=replayed_some/)
      const [action] = await actions()
      assert.deepEqual([action?.action, action?.outcome], ['replayWebhookCalls', 'replayed 2 of 3'])
      assert.ok(String(action?.detail['calls']).includes(ids[0] ?? ''))
      await billing.retry()
    })

    test('are marked fifty at most, and one at least', async () => {
      const many = Array.from({ length: 51 }, () => `call=${newUuid()}`).join('&')
      for (const query of ['', `?${many}`, '?call=x']) {
        const { text, html } = await olena.open(`/calls/replay${query}`)
        assert.match(text, /Mark 1 to 50 calls/)
        assert.ok(!html.slice(html.indexOf('<main')).includes('method="post"'))
      }
      const form = await olena.hidden(
        `/calls/${(await billing.core.calls.list()).data[0]?.id}/replay`,
      )
      for (const one of many.split('&')) form.append('call', one.slice('call='.length))
      form.set('id', newUuid())
      const refused = await olena.send('/calls/replay', form)
      assert.equal(refused.status, 400)
      assert.match(refused.text, /must be 50 at most/)
    })
  })

  test('a body that is stored encrypted is not decrypted: the page says so', async () => {
    await using billing = await openStated(engine, {
      billing: { encryptionKey: Buffer.alloc(32, 7).toString('base64') },
    })
    const olena = visiting(billing.core)('olena')
    const call = await billing.say({ type: 'ignored', reason: 'no_outcome', token: 'tok_canary' })
    const body = Buffer.from('{"token": tok_canary_unreadable')
    await billing.core.receive({
      gateway: 'stating',
      target: '/',
      headers: { 'x-stated': 'yes' },
      body,
    })
    const [unreadable] = (await billing.core.calls.list({ limit: 1 })).data
    for (const { id } of [call, unreadable ?? call]) {
      for (const as of ['pretty', 'exact', 'fields', 'hex']) {
        const page = await olena.open(`/calls/${id}?as=${as}`)
        assert.match(page.text, /does not decrypt them/)
        assert.ok(!page.html.includes('tok_canary'))
      }
    }
    const masked = await olena.open(`/calls/${call.id}/body`)
    assert.ok(masked.html.includes('no_outcome') && !masked.html.includes('tok_canary'))
    const none = await olena.open(`/calls/${unreadable?.id}/body`)
    assert.deepEqual([none.status, /does not decrypt it/.test(none.text)], [404, true])
  })
})
