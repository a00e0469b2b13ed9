import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { fakeCallback, order, startService, type Service } from '../http/service.ts'
import { until } from '../support/until.ts'
import { startReceiver, type Receiver } from './receiver.ts'

type Json = Readonly<Record<string, unknown>>

const declaredSecret = `whsec_${randomBytes(32).toString('base64')}`

describe('/endpoints', () => {
  let service: Service
  let receiver: Receiver
  before(async () => {
    const encryptionKey = randomBytes(32).toString('base64')
    const endpoints = { declared: { url: 'http://127.0.0.1:9/hooks', secret: declaredSecret } }
    service = await startService({
      billing: { billing: { encryptionKey }, forward: { endpoints } },
    })
    receiver = await startReceiver()
  })
  after(async () => {
    await service[Symbol.asyncDispose]()
    await receiver[Symbol.asyncDispose]()
  })

  const call = async (method: string, path: string, given?: unknown) => {
    const answer = await service.api(path, {
      method,
      ...(given !== undefined && { body: JSON.stringify(given) }),
      headers: {
        authorization: 'Bearer test-token-for-the-management-api',
        'content-type': 'application/json',
      },
    })
    return { status: answer.status, body: (await answer.json()) as Json }
  }
  const get = (path: string) => call('GET', path)
  const post = (path: string, given?: unknown) => call('POST', path, given)
  const refused = async (asked: Promise<{ status: number; body: Json }>) => {
    const { status, body } = await asked
    return [status, body['code']]
  }
  const rows = ({ body }: { readonly body: Json }) => body['data'] as readonly Json[]

  /** One that is made anew, whose secret the receiver knows. */
  const make = async (name: string, more: Json = {}) => {
    const { status, body } = await post('/endpoints', { name, url: receiver.url, ...more })
    assert.equal(status, 201)
    const { secret, ...endpoint } = body
    receiver.secret = String(secret)
    return endpoint
  }
  /** It is in the feed as well: a place that is taken from now on is behind it. */
  const pay = async () => {
    const payment = await service.core.payments.create(order)
    await service.post('/billing/webhooks/fake', fakeCallback(payment))
    const isNumbered = async () => {
      const [event] = (await service.core.events.list({ paymentId: payment.id })).data
      return typeof event?.position === 'number'
    }
    await until(isNumbered, { what: 'it is in the feed' })
    return payment.id
  }
  const taken = (count: number) =>
    until(() => receiver.taken.length >= count, { what: `${count} are taken` })

  test('one is made, shown by its id and its name, changed and deleted; its secret is shown once', async () => {
    const more = { event_types: ['PaymentSucceeded'], payload: 'thin', rate_per_second: 5 }
    const { status, body } = await post('/endpoints', { name: 'crm', url: receiver.url, ...more })
    assert.equal(status, 201)
    const { secret, ...endpoint } = body
    assert.match(String(secret), /^whsec_[\w+/]{43}=$/)
    const { id, position: _, created_at: __, updated_at: ___, ...rest } = endpoint
    assert.deepEqual(rest, {
      name: 'crm',
      source: 'api',
      url: receiver.url,
      description: null,
      event_types: ['PaymentSucceeded'],
      gateways: null,
      payload: 'thin',
      max_concurrency: 4,
      rate_per_second: 5,
      timeout_seconds: 15,
      enabled: true,
      disabled_reason: null,
      disabled_at: null,
      behind: 0,
      oldest_at: null,
      failures: 0,
      failing_since: null,
      next_at: null,
    })
    assert.deepEqual((await get('/endpoints/crm')).body, endpoint)
    assert.deepEqual((await get(`/endpoints/${String(id)}`)).body, endpoint)
    const names = rows(await get('/endpoints')).map(({ name }) => name)
    assert.deepEqual(names, ['crm', 'declared'])
    const changed = await call('PATCH', '/endpoints/crm', { name: 'crm2', event_types: null })
    assert.deepEqual(
      [changed.status, changed.body['name'], changed.body['event_types'], changed.body['payload']],
      [200, 'crm2', null, 'thin'],
    )
    const deleted = await call('DELETE', '/endpoints/crm2')
    assert.deepEqual([deleted.status, deleted.body['id']], [200, id])
    assert.deepEqual(await refused(get('/endpoints/crm2')), [404, 'endpoint_not_found'])
    assert.ok(!service.logged.join('').includes(String(secret)))
  })

  test('what is wrong with one is said, naming the field', async () => {
    await make('taken')
    const url = receiver.url
    const cases = [
      [{ name: 'Taken!', url }, 422, 'endpoint_invalid', /^name must be/],
      [{ name: 'other' }, 422, 'endpoint_invalid', /^url is required/],
      [{ name: 'other', url, secret: 'mine' }, 422, 'endpoint_invalid', /unknown field "secret"/],
      [{ name: 'other', url, event_types: ['No'] }, 422, 'endpoint_invalid', /^event_types/],
      [{ name: 'other', url, max_concurrency: 65 }, 422, 'endpoint_invalid', /^max_concurrency/],
      [{ name: 'taken', url }, 409, 'endpoint_exists', /called taken/],
      [{ name: 'other', url: 'http://me:pw@a.test/' }, 422, 'endpoint_url_refused', /^url must/],
    ] as const
    for (const [given, status, code, says] of cases) {
      const answer = await post('/endpoints', given)
      assert.deepEqual([answer.status, answer.body['code']], [status, code])
      assert.match(String(answer.body['message']), says)
    }
    await make('second')
    const change = (name: string, given: Json) =>
      refused(call('PATCH', `/endpoints/${name}`, given))
    assert.deepEqual(await change('second', { name: 'taken' }), [409, 'endpoint_exists'])
    assert.deepEqual(await change('second', { url: 'ftp://a' }), [422, 'endpoint_invalid'])
    assert.deepEqual(await change('none', { url }), [404, 'endpoint_not_found'])
    for (const name of ['taken', 'second']) await call('DELETE', `/endpoints/${name}`)
  })

  test('a declared one is changed where it is declared, and switched off here', async () => {
    const path = '/endpoints/declared'
    const isDeclared = [409, 'endpoint_declared']
    assert.deepEqual(await refused(call('PATCH', path, { payload: 'thin' })), isDeclared)
    assert.deepEqual(await refused(call('DELETE', path)), isDeclared)
    assert.deepEqual(await refused(post(`${path}/rotate-secret`)), isDeclared)
    const shown = JSON.stringify((await get(path)).body)
    assert.ok(!shown.includes(declaredSecret.slice(6)), shown)
    const { body } = await post(`${path}/disable`)
    assert.deepEqual([body['enabled'], body['disabled_reason']], [false, 'operator'])
  })

  test('a test shows what came back; a rotated secret signs beside the one before', async () => {
    await make('tested')
    const { status, body } = await post('/endpoints/tested/test')
    const { duration_ms: duration, ...answer } = body
    assert.deepEqual([status, answer], [200, { result: 'delivered', status: 204, response: null }])
    assert.equal(typeof duration, 'number')
    assert.equal(receiver.received.at(-1)?.event.type, 'EndpointTest')
    const rotated = await post('/endpoints/tested/rotate-secret')
    assert.notEqual(rotated.body['secret'], receiver.secret)
    const before = receiver.received.length
    await post('/endpoints/tested/test')
    receiver.secret = String(rotated.body['secret'])
    await post('/endpoints/tested/test')
    assert.equal(receiver.received.length, before + 2)
    assert.deepEqual(receiver.forged, [])
    await call('DELETE', '/endpoints/tested')
  })

  // To be switched off is an event too.
  const paymentsAlone = { event_types: ['PaymentSucceeded'] }

  test('disabled it waits; enabled it gets what it has missed', async () => {
    await make('paused', paymentsAlone)
    receiver.taken.length = 0
    await post('/endpoints/paused/disable')
    const paymentId = await pay()
    const [event] = (await service.core.events.list({ paymentId })).data
    const { behind, oldest_at: since } = (await get('/endpoints/paused')).body
    assert.deepEqual([behind, since], [1, event?.createdAt.toISOString()])
    assert.deepEqual(await refused(post('/endpoints/paused/enable', { from: 'start' })), [
      422,
      'endpoint_invalid',
    ])
    const { body } = await post('/endpoints/paused/enable')
    assert.deepEqual([body['enabled'], body['disabled_reason']], [true, null])
    await taken(1)
    await call('DELETE', '/endpoints/paused')
  })

  test('enabled from the end it gets nothing of what it has missed', async () => {
    // Nobody takes it before it is disabled: there is nothing to send.
    await until(
      async () =>
        (await service.core.events.list()).data.every(({ position }) => position !== null),
      { what: 'all is in the feed' },
    )
    await make('skipping', paymentsAlone)
    await post('/endpoints/skipping/disable')
    receiver.taken.length = 0
    await pay()
    await post('/endpoints/skipping/enable', { from: 'end' })
    const last = await pay()
    await taken(1)
    assert.equal(receiver.received.at(-1)?.event.data['payment']?.['id'], last)
    assert.equal(receiver.taken.length, 1)
    await call('DELETE', '/endpoints/skipping')
  })

  test('replay and resend send the same ids again; attempts and forwards tell of them', async () => {
    await make('again', paymentsAlone)
    receiver.taken.length = 0
    await pay()
    await taken(1)
    const [event = ''] = receiver.taken
    const path = '/endpoints/again'
    const sentAgain = await post(`${path}/resend`, { event_id: event })
    assert.equal(sentAgain.status, 202)
    await taken(2)
    assert.deepEqual(receiver.taken, [event, event])
    const written = async (count: number) =>
      until(async () => rows(await get(`${path}/attempts?event_id=${event}`)).length === count, {
        what: `${count} attempts are written`,
      })
    await written(2)
    const [attempt] = rows(await get(`${path}/attempts?limit=1`))
    assert.deepEqual(
      [attempt?.['event_id'], attempt?.['result'], attempt?.['status']],
      [event, 'delivered', 204],
    )
    assert.deepEqual(rows(await get(`${path}/attempts?event_id=${newUuid()}`)), [])
    const [forward] = rows(await get(`${path}/forwards?state=delivered`))
    assert.deepEqual([forward?.['event_id'], forward?.['cause']], [event, 'resend'])
    assert.deepEqual(rows(await get(`${path}/forwards?state=failed`)), [])
    const all = rows(await get('/events?order=asc&type=PaymentSucceeded')).length
    receiver.taken.length = 0
    assert.equal((await post(`${path}/replay`, { after: 'start' })).status, 200)
    await taken(all)
    assert.equal(receiver.taken.filter((id) => id === event).length, 1)
    receiver.taken.length = 0
    const future = new Date(Date.now() + 3_600_000).toISOString()
    assert.equal((await post(`${path}/replay`, { since: future })).status, 200)
    await call('DELETE', path)
  })

  test('what is asked of none, or of nothing, is refused', async () => {
    await make('asked')
    const path = '/endpoints/asked'
    for (const action of ['enable', 'disable', 'test', 'rotate-secret']) {
      assert.deepEqual(await refused(post(`/endpoints/none/${action}`)), [
        404,
        'endpoint_not_found',
      ])
      assert.equal((await get(`${path}/${action}`)).status, 405)
    }
    for (const list of ['attempts', 'forwards']) {
      assert.deepEqual(await refused(get(`/endpoints/none/${list}`)), [404, 'endpoint_not_found'])
      assert.equal((await get(`${path}/${list}?limit=0`)).status, 400)
    }
    assert.equal((await get(`${path}/attempts?event_id=no-id`)).status, 400)
    assert.equal((await get(`${path}/forwards?state=lost`)).status, 400)
    const replay = (given: Json) => refused(post(`${path}/replay`, given))
    assert.deepEqual(await replay({}), [400, 'query_invalid'])
    assert.deepEqual(await replay({ since: 'yesterday' }), [400, 'query_invalid'])
    assert.deepEqual(await replay({ after: 'middle' }), [400, 'cursor_invalid'])
    assert.deepEqual(await replay({ after: newUuid() }), [410, 'cursor_unknown'])
    const resend = (given: Json) => refused(post(`${path}/resend`, given))
    assert.deepEqual(await resend({}), [422, 'endpoint_invalid'])
    assert.deepEqual(await resend({ event_id: newUuid() }), [404, 'event_not_found'])
    await call('DELETE', path)
  })
})

test('without a key nothing is made, because its secret could not be kept', async () => {
  await using service = await startService({ work: false })
  const answer = await service.api('/endpoints', {
    method: 'POST',
    body: JSON.stringify({ name: 'shop', url: 'http://127.0.0.1:9/hooks' }),
  })
  assert.equal(answer.status, 422)
  assert.equal(((await answer.json()) as Json)['code'], 'encryption_key_missing')
})
