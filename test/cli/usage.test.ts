import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { newUuid } from '../../src/kernel/ids.ts'
import { createdSubscriptionSchema } from '../../src/wire/subscription.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { deployOpen } from '../support/deployment.ts'

onPostgres((engine) => {
  let deployment: Awaited<ReturnType<typeof deployOpen>>
  before(async () => {
    deployment = await deployOpen(engine)
  })
  after(() => deployment.remove())

  const run = async (...args: readonly string[]) => {
    const options = { cwd: deployment.cwd, env: deployment.env }
    const { code, stdout, stderr } = await runHosted(args, options)
    return { code, out: stdout.join('\n'), err: stderr.join('\n') }
  }

  test('usage is recorded and shown; what does not fit fails', async () => {
    const quotas = '{"api_calls":{"limit":10},"seats":{"limit":null}}'
    const terms = '--gateway fake --payable account:7 --amount 0 --currency UAH --every month'
    const made = await run(
      'subscriptions',
      'create',
      ...terms.split(' '),
      '--quotas',
      quotas,
      '--json',
    )
    const { id } = createdSubscriptionSchema.parse(JSON.parse(made.out)).subscription
    const record = (...args: readonly string[]) => run('usage', 'record', id, ...args)
    assert.deepEqual(await record('api_calls', '6', '--key', 'a', '--enforce'), {
      code: 0,
      out: 'Counted. 6 used, 4 of 10 left.',
      err: '',
    })
    assert.equal(
      (await record('api_calls', '6', '--key', 'a')).out,
      'Counted before. 6 used, 4 of 10 left.',
    )
    const refused = await record('api_calls', '6', '--key', 'b', '--enforce')
    assert.deepEqual([refused.code, refused.out], [1, 'Refused. 6 used, 4 of 10 left.'])
    assert.equal((await record('seats', '--key', 'a')).out, 'Counted. 1 used, no limit.')
    const unknown = await record('other', '--key', 'a', '--json')
    assert.equal(unknown.code, 1)
    assert.match(
      `${unknown.out}${unknown.err}`,
      /quota .*other.* is unknown; there are api_calls, seats/i,
    )
    assert.equal((await record('seats', '0', '--key', 'a')).code, 2)

    const shown = (await run('usage', 'show', id)).out.split('\n')
    assert.match(shown[0] ?? '', /^quota +used +limit +left +window ends \(UTC\)$/)
    assert.match(shown[1] ?? '', /^api_calls +6 +10 +4 +\d\d-\d\d \d\d:\d\d$/)
    assert.match(shown[2] ?? '', /^seats +1 +none +\d\d-\d\d \d\d:\d\d$/)
    const one = JSON.parse((await run('usage', 'show', id, 'seats', '--json')).out) as object
    assert.equal(JSON.stringify(one).includes('api_calls'), false)

    const changed = ['subscriptions', 'change', id, '--quotas', '{"api_calls":null,"seats":null}']
    assert.equal((await run(...changed)).code, 0)
    assert.equal((await run('usage', 'show', id)).out, 'No quotas.')
    const missing = await run('usage', 'show', newUuid())
    assert.equal(missing.code, 1)
    assert.match(missing.err, /there is no subscription/)
  })
})
