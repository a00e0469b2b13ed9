import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runHosted } from '../support/command-host.ts'
import { fillDataFolder } from '../support/embedded-template.ts'
import { startService, type RunningService } from '../support/process.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

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

function installation() {
  const folder = temporaryFolder()
  const cwd = folder.path
  fillDataFolder(join(cwd, '.quittance'))
  writeFileSync(join(cwd, 'quittance.config.js'), config)
  return { cwd, remove: folder.remove }
}

async function run(args: string, cwd: string) {
  const { code, stdout, stderr } = await runHosted(args.split(' '), { cwd, env: secrets })
  return { code, stdout, last: stdout.at(-1), stderr: stderr.join('\n') }
}

async function create(cwd: string, gateway: string, payable = 'order:42'): Promise<string> {
  const money = `--amount 1999 --currency UAH --payable ${payable} --no-checkout --json`
  const { stdout, stderr } = await run(`payments create --gateway ${gateway} ${money}`, cwd)
  assert.equal(stderr, '')
  return (JSON.parse(stdout.join('\n')) as { readonly id: string }).id
}

describe('send waits, and says what became of its callback:', () => {
  const { cwd, remove } = installation()
  let service: RunningService
  before(async () => {
    service = await startService({ cwd, env: secrets })
  })
  after(async () => {
    await service.stop()
    remove()
  })

  test('processed, and what it did', async () => {
    await create(cwd, 'fake')
    const { code, last, stderr } = await run('send fake --scenario failure', cwd)
    assert.deepEqual([code, last, stderr], [0, 'processed: payment:failed', ''])
  })

  test('ignored, and why: exit code 1 if the scenario means otherwise', async () => {
    await create(cwd, 'stripe')
    const { code, last, stderr } = await run('send stripe --amount 1', cwd)
    assert.deepEqual([code, last], [1, 'ignored: needs review: amount_mismatch'])
    assert.match(stderr, /means a call that is processed; this one was ignored — .*calls show/)
  })

  test('ignored as the scenario means it: exit code 0', async () => {
    await create(cwd, 'stripe')
    const { code, last } = await run('send stripe --scenario pending', cwd)
    assert.deepEqual([code, last], [0, 'ignored: no_outcome'])
  })

  test('to be tried again, and what a listener threw: exit code 1', async () => {
    const id = await create(cwd, 'fake', 'order:burning')
    const { code, last, stderr } = await run(`send fake --payment ${id}`, cwd)
    assert.equal(code, 1)
    assert.match(last ?? '', /^pending: .*the printer is on fire/)
    assert.match(stderr, /tried again later — See why: quittance calls show/)
  })

  test('the same in JSON', async () => {
    await create(cwd, 'stripe')
    const { code, stdout, stderr } = await run('send stripe --amount 1 --json', cwd)
    assert.deepEqual([code, stderr], [1, ''])
    assert.partialDeepStrictEqual(JSON.parse(stdout.join('\n')), {
      status: 200,
      state: 'ignored',
      outcome: [{ reason: 'amount_mismatch' }],
      error: { code: 'send_unexpected' },
    })
  })

  test('nothing with --no-wait', async () => {
    await create(cwd, 'fake')
    const { code, last } = await run('send fake --no-wait', cwd)
    assert.deepEqual([code, last], [0, '200 {"message":"ok"}'])
  })

  test('a refund is about the newest paid payment, not an unpaid one', async () => {
    const id = await create(cwd, 'stripe')
    assert.equal((await run(`send stripe --payment ${id}`, cwd)).last, 'processed: payment:paid')
    await create(cwd, 'stripe')
    for (const scenario of ['refunded_half', 'refunded_rest']) {
      const { code, stdout, last } = await run(`send stripe --scenario ${scenario}`, cwd)
      assert.deepEqual([code, stdout[1]], [0, `${scenario} for payment ${id}`])
      assert.equal(last, 'processed: refund:paid')
    }
  })

  test('a card is saved and removed by callbacks about the newest paid payment', async () => {
    const id = await create(cwd, 'stripe')
    await run(`send stripe --payment ${id}`, cwd)
    for (const scenario of ['card_saved', 'card_removed']) {
      const { code, stdout } = await run(`send stripe --scenario ${scenario}`, cwd)
      assert.deepEqual([code, stdout[1]], [0, `${scenario} for payment ${id}`])
    }
  })

  test('an amount is refused where the callback cannot state it', async () => {
    await create(cwd, 'fake')
    const { code, stderr } = await run('send fake --amount 1', cwd)
    assert.equal(code, 2)
    assert.match(stderr, /a callback of fake states no money, so --amount .* — Leave them out/)
  })
})

test('a refund without any paid payment: send says that one must be paid first', async () => {
  const { cwd, remove } = installation()
  try {
    await create(cwd, 'stripe')
    const { code, stderr } = await run('send stripe --scenario refunded', cwd)
    assert.equal(code, 1)
    assert.match(stderr, /stripe has no paid payment — Pay one first: quittance send stripe/)
  } finally {
    remove()
  }
})

test('send says if no worker processes the call', async () => {
  const { cwd, remove } = installation()
  const service = await startService({ cwd, env: secrets, args: ['--no-worker'] })
  try {
    await create(cwd, 'fake')
    const { code, last, stderr } = await run('send fake', cwd)
    assert.deepEqual([code, last], [1, 'pending'])
    assert.match(stderr, /not processed after 10 s: no worker runs — Start one: quittance work/)
  } finally {
    await service.stop()
    remove()
  }
})
