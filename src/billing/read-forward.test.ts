import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readVariables } from '../cli/read-variables.ts'
import { isQuittanceError } from '../kernel/errors.ts'
import { urlFault } from '../outbound/connect.ts'
import type { BillingOptions } from './options.ts'
import { readSettings } from './settings.ts'

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const appBesideUs = 'http://app:8000/hooks'

/** What the service makes of these variables in production. */
function inProduction(environment: Readonly<Record<string, string>>) {
  const { values, faults } = readVariables(environment)
  assert.deepEqual(faults, [])
  const options: BillingOptions = {
    ...values,
    production: true,
    database: { url: 'postgres://db/billing' },
  }
  return readSettings(options).forward
}

function refusal(forward: object): string {
  try {
    readSettings({ forward })
    return 'it was taken'
  } catch (error) {
    assert.ok(isQuittanceError(error) && error.code === 'setting_invalid', String(error))
    return error.message
  }
}

test('two variables declare the endpoint default, at an app beside us, http and private too', () => {
  const { declared, connect } = inProduction({
    BILLING_FORWARD_URL: appBesideUs,
    BILLING_FORWARD_SECRET: `${secret},${secret}`,
  })
  const { url, secrets } = declared.get('default') ?? {}
  assert.deepEqual([url, secrets?.length, declared.size], [appBesideUs, 2, 1])
  assert.equal(urlFault(appBesideUs, connect), undefined)
  // Of its host nothing else: anybody with a token may make endpoints.
  for (const url of ['http://app:22/', 'http://app/hooks', 'https://app:8000/']) {
    const isNamed = url.startsWith('https:')
    assert.equal(urlFault(url, connect) === undefined, isNamed, url)
  }
})

test('in production other endpoints are https and public, or listed', () => {
  const { connect } = inProduction({ BILLING_FORWARD_ALLOW: 'internal.test, 10.0.0.0/8' })
  const fault = (url: string) => urlFault(url, connect)
  assert.match(fault('http://public.test/hooks') ?? '', /^must be https in production/)
  assert.match(fault('https://192.168.1.9/hooks') ?? '', /^must not lead to an address that is not/)
  for (const url of [
    'https://public.test/hooks',
    'http://internal.test/hooks',
    'http://10.1.2.3/hooks',
  ]) {
    assert.equal(fault(url), undefined, url)
  }
})

test('a declaration that cannot hold is refused at the start, and shows no secret', () => {
  const url = 'https://shop.test/hooks'
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ secret }, /^forward\.secret needs forward\.url/],
    [{ url }, /^the endpoint default: secret is required/],
    [{ url, secret: 'whsec_c2hvcnQ=' }, /secret must be whsec_ and 24 to 64 bytes in base64/],
    [{ url: 'ftp://shop.test', secret }, /^the endpoint default: url/],
    [{ url: 'https://me:pw@shop.test/', secret }, /must not contain a user or a password/],
    [{ url, secret, endpoints: { default: { url, secret } } }, /default is declared twice/],
    [{ endpoints: { 'Not a name': { url, secret } } }, /name must be/],
    [{ allow: ['http://shop.test'] }, /allow.*must be hosts, addresses or ranges/],
  ]
  for (const [forward, says] of cases) {
    const said = refusal(forward)
    assert.match(said, says)
    assert.ok(!said.includes(secret) && !said.includes('c2hvcnQ='), said)
  }
})
