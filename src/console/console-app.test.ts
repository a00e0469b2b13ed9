import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from 'hono/html'
import type { Visit } from './context.ts'
import { sharingRefreshes } from './console-app.ts'
import type { ShowSharedPage } from './routes.ts'

const visit = (path: string, role = 'operator') =>
  ({ visitor: { role }, url: new URL(path, 'http://localhost') }) as Visit

/** A clock that is set, and a page that counts how often it is made. */
function counting(refreshSeconds?: number) {
  let [now, times] = [0, 0]
  const refresh = sharingRefreshes(() => now)
  const counted: ShowSharedPage = async () => {
    times += 1
    return { title: `made ${times}`, body: html``, ...(refreshSeconds && { refreshSeconds }) }
  }
  const titleOf = async (one: Visit, show = counted) =>
    /made \d+/.exec((await refresh(one, show)) ?? '')?.[0]
  return { titleOf, wait: (ms: number) => void (now += ms) }
}

test('refreshes of one page are made once for half of the time until the next', async () => {
  const { titleOf, wait } = counting(10)
  const all = Array.from({ length: 60 }, () => titleOf(visit('/calls?state=failed')))
  assert.deepEqual(new Set(await Promise.all(all)), new Set(['made 1']))
  wait(4_999)
  assert.equal(await titleOf(visit('/calls?state=failed')), 'made 1')
  wait(1)
  assert.equal(await titleOf(visit('/calls?state=failed')), 'made 2')
})

test('another role, and another address, have pages of their own', async () => {
  const { titleOf } = counting(10)
  assert.equal(await titleOf(visit('/')), 'made 1')
  assert.equal(await titleOf(visit('/', 'viewer')), 'made 2')
  assert.equal(await titleOf(visit('/?span=1h')), 'made 3')
  assert.equal(await titleOf(visit('/')), 'made 1')
})

test('what does not refresh itself any more, is not there, or failed, is asked for anew', async () => {
  const { titleOf } = counting()
  assert.equal(await titleOf(visit('/runs/1')), 'made 1')
  assert.equal(await titleOf(visit('/runs/1')), 'made 2')
  assert.equal(await titleOf(visit('/payments/1'), async () => undefined), undefined)
  assert.equal(await titleOf(visit('/payments/1')), 'made 3')
  const fails = () => Promise.reject(new Error('away'))
  await assert.rejects(() => titleOf(visit('/payments/2'), fails), /away/)
  assert.equal(await titleOf(visit('/payments/2')), 'made 4')
})

test('pages of very many addresses are kept no longer than they are shown', async () => {
  const { titleOf, wait } = counting(10)
  for (let page = 1; page <= 300; page += 1) await titleOf(visit(`/payments/${page}`))
  assert.equal(await titleOf(visit('/payments/1')), 'made 1')
  assert.equal(await titleOf(visit('/payments/300')), 'made 301')
  wait(5_000)
  assert.equal(await titleOf(visit('/payments/300')), 'made 302')
  assert.equal(await titleOf(visit('/payments/300')), 'made 302')
})
