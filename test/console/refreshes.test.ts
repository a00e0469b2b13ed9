import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { newPayment } from '../support/billing.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { consolePath, openWithOperators, serveConsole, signIn } from './console-service.ts'

const asRefresh = { headers: { 'x-quittance-refresh': '1', 'sec-fetch-site': 'same-origin' } }

onAnyDatabase((engine) => {
  test('a refresh has what is live of the page, for each role what it may see', async () => {
    const { billing, operator, viewer } = await openWithOperators(engine)
    const { id } = await newPayment(billing.core)
    const { browse } = serveConsole(billing)
    const olena = await signIn(browse(), operator.token)
    const taras = await signIn(browse(), viewer.token)
    const path = `${consolePath}/payments/${id}`
    const ids = (text: string) => [...text.matchAll(/id="([\w-]+)"[^>]* data-live/g)].map(String)
    const live = ids((await olena.open(path)).text)
    assert.ok(live.length > 1, 'the page has live parts')
    const refreshed = await olena.open(path, asRefresh)
    assert.deepEqual(ids(refreshed.text), live)
    assert.match(refreshed.text, /Cancel</)
    assert.doesNotMatch(refreshed.text, /olena|form_token|<html/, 'it is nobody’s own')
    const others = await taras.open(path, asRefresh)
    assert.equal(others.status, 200)
    assert.doesNotMatch(others.text, /Cancel</)
    await billing.core.payments.cancel(id)
    assert.doesNotMatch((await olena.open(path)).text, /Cancel</, 'whoever opens it sees it now')
    assert.equal((await browse().open(path, asRefresh)).status, 303, 'a stranger sees none')
    const gone = await olena.open(`${consolePath}/payments/${newUuid()}`, asRefresh)
    assert.equal(gone.status, 404)
    await billing.close()
  })
})
