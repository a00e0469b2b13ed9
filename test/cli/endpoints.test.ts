import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { refuse, startReceiver, type Receiver } from '../outbound/receiver.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import {
  apiToken,
  createOverHttp,
  deployOpen,
  postFake,
  type OpenDeployment,
} from '../support/deployment.ts'
import { startLocalService, type LocalService } from '../support/local-service.ts'
import type { Ending } from '../support/process.ts'
import { until } from '../support/until.ts'
import { doctor } from './doctor.ts'

function printed({ code, stdout, stderr }: Ending): readonly string[] {
  assert.equal(code, 0, stderr.join('\n'))
  return stdout
}

function refused({ code, stdout, stderr }: Ending, pattern: RegExp): void {
  assert.deepEqual([code === 0, stdout], [false, []])
  assert.match(stderr.join('\n'), pattern)
}

onPostgres((engine) => {
  let deployment: OpenDeployment
  let service: LocalService
  let receiver: Receiver
  let options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> }
  before(async () => {
    deployment = await deployOpen(engine)
    const key = randomBytes(32).toString('base64')
    const { cwd } = deployment
    options = { cwd, env: { ...deployment.env, BILLING_ENCRYPTION_KEY: key } }
    service = await startLocalService(options)
    receiver = await startReceiver()
  })
  after(async () => {
    await receiver[Symbol.asyncDispose]()
    await service.stop()
    await deployment.remove()
  })

  const endpoints = (...args: readonly string[]) => runHosted(['endpoints', ...args], options)
  const show = async (name: string) => printed(await endpoints('show', name))
  const json = async (...args: readonly string[]) =>
    JSON.parse(printed(await endpoints(...args, '--json')).join('')) as Record<string, unknown>

  async function pay(): Promise<string> {
    const id = newUuid()
    assert.ok(await createOverHttp(service.url, id))
    assert.equal(await postFake(service.url, id, 'success'), 200)
    return id
  }
  const fed = async () => {
    const headers = { authorization: `Bearer ${apiToken}` }
    const path = `${service.url}/billing/api/events?order=asc&after=start`
    return (await fetch(path, { headers })).text()
  }
  const taken = (count: number) =>
    until(() => receiver.taken.length === count, { what: `${count} are taken` })
  const makeShop = async () => {
    const made = printed(await endpoints('create', 'shop', '--url', receiver.url))
    receiver.secret = /whsec_\S+/.exec(made.join('\n'))?.[0] ?? ''
    return made
  }

  test('endpoints: made, seen, sent to, sent to again, replayed, and deleted', async () => {
    assert.deepEqual(printed(await endpoints('list')), ['No endpoints.'])
    const made = await makeShop()
    assert.match(made.join('\n'), /^name +shop$/m)
    assert.match(made.at(-2) ?? '', /^secret {6}whsec_\S{44}$/)
    assert.match(made.at(-1) ?? '', /shown this once/)
    refused(await endpoints('create', 'shop', '--url', receiver.url), /shop/)

    await pay()
    await taken(1)
    const [id = ''] = receiver.taken
    await until(async () => /^position +1$/m.test((await show('shop')).join('\n')), {
      what: 'its place is written',
    })
    const lines = await show('shop')
    const said = new Set(lines.map((line) => line.replaceAll(/ +/g, ' ')))
    for (const line of ['state enabled', `URL ${receiver.url}`, 'timeout 15 s']) {
      assert.ok(said.has(line), lines.join('\n'))
    }
    assert.ok(!lines.join('\n').includes('whsec_'))
    const [heads, row] = printed(await endpoints('list'))
    assert.match(heads ?? '', /^name +state +behind +URL$/)
    assert.match(row ?? '', /^shop +enabled +0 +http:/)
    const [, attempt] = printed(await endpoints('attempts', 'shop', '--event', id))
    assert.match(attempt ?? '', new RegExp(`^${id} +1 +delivered +204 +\\d+ ms +`))

    assert.deepEqual(printed(await endpoints('resend', 'shop', id)), [
      `Event ${id} is sent to shop again.`,
    ])
    await taken(2)
    assert.equal(receiver.taken[1], id)
    refused(await endpoints('resend', 'shop', newUuid()), /there is no event/)
    printed(await endpoints('replay', 'shop', '--after', 'start'))
    await taken(3)
    printed(await endpoints('replay', 'shop', '--since', '1h'))
    await taken(4)
    assert.deepEqual(new Set(receiver.taken), new Set([id]))
    refused(await endpoints('replay', 'shop'), /--after or --since/)

    assert.match(printed(await endpoints('test', 'shop')).join(), /^delivered: status 204 after/)
    receiver.answer = refuse(500)
    const failing = await endpoints('test', 'shop')
    assert.equal(failing.code, 1)
    assert.match(failing.stdout.join(), /^rejected: status 500 after/)
    assert.deepEqual(printed(await endpoints('delete', 'shop')), ['Deleted shop.'])
    refused(await endpoints('show', 'shop'), /no endpoint "shop"/)
  })

  test('endpoints: changed, given another secret, switched off and on', async () => {
    await makeShop()
    const secret = receiver.secret
    const update = ['update', 'shop', '--type', 'PaymentSucceeded,PaymentFailed', '--gateway']
    const changed = await json(...update, 'fake', '--max-concurrency', '2', '--payload', 'thin')
    assert.deepEqual(
      [changed['event_types'], changed['gateways'], changed['max_concurrency'], changed['payload']],
      [['PaymentSucceeded', 'PaymentFailed'], ['fake'], 2, 'thin'],
    )
    assert.equal((await json('update', 'shop', '--name', 'store'))['name'], 'store')
    refused(await endpoints('update', 'store'), /say what to change/)
    refused(await endpoints('update', 'store', '--timeout-seconds', '61'), /1 to 60/)
    const rotated = await json('rotate-secret', 'store')
    assert.match(String(rotated['secret']), /^whsec_/)
    assert.notEqual(rotated['secret'], secret)

    assert.equal((await json('disable', 'store'))['enabled'], false)
    assert.match(printed(await endpoints('list')).join('\n'), /store +disabled \(operator\)/)
    // An operator knows it.
    assert.equal((await doctor(options)).of('endpoints').state, 'ok')
    const id = await pay()
    // Otherwise it may come after the end from which the endpoint goes on.
    await until(async () => (await fed()).includes(id), { what: 'its event is in the feed' })
    assert.equal((await json('enable', 'store', '--from', 'end'))['enabled'], true)
    const { of } = await doctor(options)
    assert.match(of('endpoints').found, /none is far behind/)
    assert.equal(of('feed').state, 'ok')
    assert.equal((await json('delete', 'store'))['name'], 'store')
  })
})
