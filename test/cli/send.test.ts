import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres, type TestEngine } from '../support/databases.ts'
import { createOverHttp, deploy } from '../support/deployment.ts'
import { startLocalService } from '../support/local-service.ts'

const secrets = { STRIPE_SIGNING_SECRET: 'whsec_0123456789abcdef' }
const config = `export default {
  listeners: {
    grant: {
      on: 'PaymentSucceeded',
      run: ({ payment }) => {
        if (payment.payable.id === 'burning') throw new Error('the printer is on fire')
      },
    },
  },
}`

/** A folder with the configuration, a service in it, and commands beside that. */
async function serve(engine: TestEngine, ...args: readonly '--no-worker'[]) {
  const deployment = await deploy(engine)
  const { cwd } = deployment
  writeFileSync(join(cwd, 'quittance.config.js'), config)
  const env = { ...deployment.env, ...secrets }
  const service = await startLocalService({ cwd, env, args })
  const run = async (line: string) => {
    const beside = { ...env, PORT: new URL(service.url).port }
    const { code, stdout, stderr } = await runHosted(line.split(' '), { cwd, env: beside })
    return { code, stdout, last: stdout.at(-1), stderr: stderr.join('\n') }
  }
  /** By the service, for that costs less than a command. */
  const create = async (gateway: string) => {
    const id = newUuid()
    assert.ok(await createOverHttp(service.url, id, gateway))
    return id
  }
  const stop = async () => {
    await service.stop()
    await deployment.remove()
  }
  return { run, create, stop }
}

onPostgres((engine) => {
  describe('send waits, and says what became of its callback:', () => {
    let service: Awaited<ReturnType<typeof serve>>
    before(async () => {
      service = await serve(engine)
    })
    after(() => service.stop())
    const run = (line: string) => service.run(line)
    const create = (gateway: string) => service.create(gateway)

    test('a refund without any paid payment: send says that one must be paid first', async () => {
      await create('stripe')
      const { code, stderr } = await run('send stripe --scenario refunded')
      assert.equal(code, 1)
      assert.match(stderr, /stripe has no paid payment — Pay one first: quittance send stripe/)
    })

    test('processed, and what it did', async () => {
      await create('fake')
      const { code, last, stderr } = await run('send fake --scenario failure')
      assert.deepEqual([code, last, stderr], [0, 'processed: payment:failed', ''])
    })

    test('ignored, and why: exit code 1 if the scenario means otherwise', async () => {
      await create('stripe')
      const { code, last, stderr } = await run('send stripe --amount 1')
      assert.deepEqual([code, last], [1, 'ignored: needs review: amount_mismatch'])
      assert.match(stderr, /means a call that is processed; this one was ignored — .*calls show/)
    })

    test('ignored as the scenario means it: exit code 0', async () => {
      await create('stripe')
      const { code, last } = await run('send stripe --scenario pending')
      assert.deepEqual([code, last], [0, 'ignored: no_outcome'])
    })

    test('to be tried again, and what a listener threw: exit code 1', async () => {
      const money = '--amount 1999 --currency UAH --payable order:burning'
      const { stdout } = await run(`payments create --gateway fake ${money} --no-checkout --json`)
      const { id } = JSON.parse(stdout.join('\n')) as { readonly id: string }
      const { code, last, stderr } = await run(`send fake --payment ${id}`)
      assert.equal(code, 1)
      assert.match(last ?? '', /^pending: .*the printer is on fire/)
      assert.match(stderr, /tried again later — See why: quittance calls show/)
    })

    test('the same in JSON', async () => {
      await create('stripe')
      const { code, stdout, stderr } = await run('send stripe --amount 1 --json')
      assert.deepEqual([code, stderr], [1, ''])
      assert.partialDeepStrictEqual(JSON.parse(stdout.join('\n')), {
        status: 200,
        state: 'ignored',
        outcome: [{ reason: 'amount_mismatch' }],
        error: { code: 'send_unexpected' },
      })
    })

    test('nothing with --no-wait', async () => {
      await create('fake')
      const { code, last } = await run('send fake --no-wait')
      assert.deepEqual([code, last], [0, '200 {"message":"ok"}'])
    })

    test('refunds and cards are about the newest paid payment, not an unpaid one', async () => {
      const id = await create('stripe')
      assert.equal((await run(`send stripe --payment ${id}`)).last, 'processed: payment:paid')
      await create('stripe')
      for (const [scenario, said] of [
        ['card_saved', /./],
        ['card_removed', /./],
        ['refunded_half', /^processed: refund:paid$/],
        ['refunded_rest', /^processed: refund:paid$/],
      ] as const) {
        const { code, stdout, last } = await run(`send stripe --scenario ${scenario}`)
        assert.deepEqual([code, stdout[1]], [0, `${scenario} for payment ${id}`])
        assert.match(last ?? '', said)
      }
    })

    test('an amount is refused where the callback cannot state it', async () => {
      await create('fake')
      const { code, stderr } = await run('send fake --amount 1')
      assert.equal(code, 2)
      assert.match(stderr, /a callback of fake states no money, so --amount .* — Leave them out/)
    })
  })

  test('send says if no worker processes the call, which waits and is shown with the time when it is due', async () => {
    const { run, create, stop } = await serve(engine, '--no-worker')
    await create('fake')
    const { code, last, stderr } = await run('send fake')
    assert.deepEqual([code, last], [1, 'pending'])
    assert.match(stderr, /not processed after 10 s: no worker runs — Start one: quittance work/)
    const [headings, row = ''] = (await run('calls list')).stdout
    assert.match(headings ?? '', /received \(UTC\)/)
    const { stdout: shown } = await run(`calls show ${row.slice(0, 36)}`)
    const facts = new Map(shown.map((line) => [line.split(' ')[0], line.replace(/^\S+ +/, '')]))
    assert.equal(facts.get('state'), 'pending')
    const timeIn = (name: string) => Date.parse(facts.get(name) ?? '')
    assert.ok(Math.abs(timeIn('due') - timeIn('received')) < 60_000, shown.join('\n'))
    await stop()
  })
})
