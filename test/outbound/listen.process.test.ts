import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { runHosted } from '../support/command-host.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { createOverHttp, deploy, makeTable, postFake } from '../support/deployment.ts'
import { startProcess, startService } from '../support/process.ts'
import { until } from '../support/until.ts'
import { accept, refuse, startReceiver } from './receiver.ts'

onAnyDatabase((engine) => {
  test('listen sends each event beside a running service, signed, and says what came back', async () => {
    const deployment = await deploy(engine)
    const { cwd, env } = deployment
    const service = await startService({ cwd, env })
    const database = await deployment.connect()
    await makeTable(database)
    await database.close()
    await using receiver = await startReceiver()
    const jsonOf = async (...args: readonly string[]) => {
      const { stdout } = await runHosted([...args, '--json'], deployment)
      return JSON.parse(stdout.join('\n')) as { readonly data: readonly { readonly id: string }[] }
    }
    try {
      const listening = startProcess(['listen', '--forward-to', receiver.url], deployment)
      const begun = await listening.line(/signed with whsec_/)
      receiver.secret = /whsec_\S+/.exec(begun)?.[0] ?? ''
      const pay = async () => {
        const id = newUuid()
        assert.ok(await createOverHttp(service.url, id))
        assert.equal(await postFake(service.url, id, 'success'), 200)
        return id
      }
      const first = await pay()
      await until(() => receiver.taken.length === 1, { what: 'it is taken' })
      assert.equal(receiver.received[0]?.event.data['payment']?.['id'], first)
      await listening.line(new RegExp(`PaymentSucceeded .*${first}.* 204  \\d+ ms`))
      receiver.answer = refuse(500)
      const second = await pay()
      await listening.line(new RegExp(`${second}.*FAILED: rejected 500`))
      const [failed] = (await jsonOf('events', 'list', '--payment', second)).data
      receiver.answer = accept
      const again = ['--forward-to', receiver.url, '--secret', receiver.secret]
      const resent = await runHosted(['events', 'resend', failed?.id ?? '', ...again], deployment)
      assert.deepEqual([resent.code, resent.stderr], [0, []])
      assert.match(resent.stdout.join('\n'), new RegExp(`PaymentSucceeded .*${second}.* 204 `))
      assert.equal(receiver.taken.at(-1), failed?.id)
      listening.child.kill('SIGINT')
      const { code, stderr } = await listening.ended
      assert.deepEqual([code, stderr], [0, []])
      assert.deepEqual([receiver.received.length, receiver.forged], [3, []])

      const both = await runHosted(['events', 'resend', failed?.id ?? ''], deployment)
      assert.match(both.stderr.join(), /give --endpoint or --forward-to, and not both/)
      const run = (...args: readonly string[]) => runHosted(['endpoints', ...args], deployment)
      assert.deepEqual((await run('list')).stdout, ['No endpoints.'])
      const none = await run('show', 'none')
      assert.equal(none.code, 1)
      assert.match(none.stderr.join(), /no endpoint "none"/)
    } finally {
      await service.stop()
      await deployment.remove()
    }
  })
})
