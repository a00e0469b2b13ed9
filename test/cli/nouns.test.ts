/** What commands list, show and do not find, each noun in its turn, beside one service. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { newUuid } from '../../src/kernel/ids.ts'
import { reasons } from '../../src/payments/reasons.ts'
import { inWords } from '../../src/payments/review-words.ts'
import { issuing } from '../invoices/sellers.ts'
import { runHosted } from '../support/command-host.ts'
import { onPostgres } from '../support/databases.ts'
import { lastingToday } from '../support/lasting-today.ts'
import type { Ending } from '../support/process.ts'
import { openStated, type StatedBilling } from '../support/stated-billing.ts'
import { paid } from '../support/statements.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { fillNouns, type NounWorld } from './noun-world.ts'

const gatewayFile = JSON.stringify(new URL('../support/stating-gateway.ts', import.meta.url).href)
const config = `import { stating } from ${gatewayFile}
export default { extraGateways: [stating] }`
/** Stands for the month in which the world was made. */
const thisMonth = 'this-month'

interface Noun {
  readonly noun: string
  readonly heads: RegExp
  /** Filters that both of the two fit. */
  readonly keep: string
  readonly row: (world: NounWorld) => string
  /** Filters that none fits. */
  readonly hide: readonly string[]
  readonly none: string
}

const nouns: readonly Noun[] = [
  {
    noun: 'payments',
    heads: /^id +status +amount +created \(UTC\) +gateway$/,
    keep: '--gateway stating --status paid --payable order:shelf --customer payer@example.com',
    row: ({ payment }) => String.raw`^${payment} +paid +100\.00 USD +\d\d-\d\d \d\d:\d\d +stating$`,
    hide: ['--status failed', '--payable order:none', '--customer nobody'],
    none: 'No payments.',
  },
  {
    noun: 'calls',
    heads: /^id +gateway +state +received \(UTC\) +payment +outcome$/,
    keep: '--gateway stating --state processed',
    row: ({ call, payment }) => `^${call} +stating +processed .* ${payment} +payment:paid$`,
    hide: ['--state failed', '--gateway fake', `--payment ${newUuid()}`],
    none: 'No calls.',
  },
  {
    noun: 'events',
    heads: /^id +type +time \(UTC\) +about$/,
    keep: '--type PaymentSucceeded',
    row: ({ event, payment }) =>
      String.raw`^${event} {2}PaymentSucceeded {2}\d\d-\d\d \d\d:\d\d {2}payment {2}${payment} {2}order:shelf {2}100\.00 USD {2}paid$`,
    hide: ['--type PaymentFailed', `--payment ${newUuid()}`, `--subscription ${newUuid()}`],
    none: 'No events.',
  },
  {
    noun: 'invoices',
    heads: /^id +number +status +total +buyer +issued \(UTC\)$/,
    keep: `--no-test --status issued --payable order:owed --month ${thisMonth}`,
    row: ({ invoice }) => String.raw`^${invoice} +INV-\d{4}-\d{4} +issued +100\.00 USD +=1\+1 +\d`,
    hide: ['--test --payable order:owed', '--series OTHER', `--payment ${newUuid()}`],
    none: 'No documents.',
  },
  {
    noun: 'subscriptions',
    heads: /^id +status +access +card +terms +paid until \(UTC\) +gateway$/,
    keep: '--payable account:7 --gateway fake --status active --managed-by local',
    row: ({ subscription }) =>
      String.raw`^${subscription} +active +yes +ok +199\.00 UAH every 3 months +\d.* fake$`,
    hide: ['--managed-by provider', '--status incomplete', '--payable account:8'],
    none: 'No subscriptions.',
  },
  {
    noun: 'reviews',
    heads: /^id +state +gateway +times +last \(UTC\) +payment +what$/,
    keep: '--reason amount_mismatch --gateway stating --state open',
    row: ({ review, doubtful }) =>
      String.raw`^${review}  open +stating +1 +\d\d-\d\d \d\d:\d\d +${doubtful} +99\.00 USD \(pi_2\) [a-z].* 100\.00 USD [a-z].*$`,
    hide: ['--state handled --gateway stating', `--payment ${newUuid()}`],
    none: 'No reviews.',
  },
  {
    noun: 'payment-methods',
    heads: /^id +status +card +saved \(UTC\) +gateway$/,
    keep: '--payable order:shelf --customer payer@example.com --status attached',
    row: ({ card }) => `^${card} +attached +visa 4242 .* stating$`,
    hide: ['--customer nobody', '--payable order:of-nobody', `--payment ${newUuid()}`],
    none: 'No saved cards.',
  },
]

function printed({ code, stdout, stderr }: Ending): readonly string[] {
  assert.deepEqual([code, stderr], [0, []])
  return stdout
}

onPostgres((engine) => {
  let billing: StatedBilling
  let folder: TemporaryFolder
  let world: NounWorld
  let month: string
  before(async () => {
    month = (await lastingToday()).slice(0, 7)
    folder = temporaryFolder()
    writeFileSync(join(folder.path, 'quittance.config.js'), config)
    billing = await openStated(engine, { invoices: issuing })
    world = await fillNouns(billing)
  })
  after(async () => {
    await billing.close()
    folder.remove()
  })
  const run = (...args: readonly string[]) =>
    runHosted(args, { cwd: folder.path, env: { DATABASE_URL: billing.url ?? '' } })

  describe('the newest are listed by their filters, and what follows them is said:', () => {
    for (const { noun, heads, keep, row, hide, none } of nouns) {
      test(noun, async () => {
        const list = async (filters: string) =>
          printed(await run(noun, 'list', ...filters.split(' ')))
        const kept = keep.replace(thisMonth, month)
        const [head = '', line = '', more = '', ...rest] = await list(`${kept} --limit 1`)
        assert.match(head, heads)
        assert.match(line, new RegExp(row(world)))
        assert.match(more, /^more: --cursor \S+$/)
        assert.deepEqual(rest, [])
        for (const filters of hide) assert.deepEqual(await list(filters), [none], filters)
      })
    }
  })

  const inOneSpace = (line: string) => line.replaceAll(/ +/g, ' ')

  test('one is shown a fact a line', async () => {
    const event = await billing.core.events.get(world.event)
    assert.ok(event)
    const { timestamp, position } = event.toJSON()
    const [doubted] = (await billing.core.calls.list({ paymentId: world.doubtful })).data
    const { callback, step, docs } = reasons.amount_mismatch
    const words = inWords({
      reason: 'amount_mismatch',
      detail: null,
      stated: { reference: 'pi_2', amount: 9_900n, currency: 'USD' },
      expected: { amount: 10_000n, currency: 'USD' },
    })
    const advice = [`do          ${step}`, `see         docs/${docs}`]
    await sql`update billing.payments set poll_error = ${'no answer\nstatus      paid'}
      where id = ${world.doubtful}`.execute(billing.database.db)
    for (const [noun, id, lines] of [
      [
        'events',
        world.event,
        [
          `event       ${world.event}`,
          'type        PaymentSucceeded',
          `time        ${timestamp}`,
          `position    ${position}`,
          `key         payment:paid:${world.payment}`,
          'caused by   call',
          `about       payment  ${world.payment}  order:shelf  100.00 USD  paid`,
        ],
      ],
      [
        'reviews',
        world.review,
        [
          `review      ${world.review}`,
          'state       open',
          'reason      amount_mismatch',
          `what        ${words}`,
          ...advice,
          `payment     ${world.doubtful}`,
          'stated      99.00 USD (pi_2)',
          'expected    100.00 USD',
          'version     1',
        ],
      ],
      ['calls', doubted?.id ?? '', [`why         ${callback}`, ...advice]],
      [
        'payments',
        world.doubtful,
        // The second line of a text does not look like a fact.
        [`review      ${world.review}  open  ${words}`, 'last poll', '  status      paid'],
      ],
    ] as const) {
      const facts = printed(await run(noun, 'show', id))
      const shown = facts.map(inOneSpace)
      for (const line of lines.map(inOneSpace))
        assert.ok(shown.includes(line), `${line} in\n${shown.join('\n')}`)
      if (noun === 'calls') {
        const columns = facts.flatMap(
          (fact) => /^(?:call|why|do|see) +/.exec(fact)?.[0].length ?? [],
        )
        assert.deepEqual([columns.length, new Set(columns).size], [4, 1], facts.join('\n'))
      }
      if (noun === 'reviews') {
        assert.doesNotMatch(shown.join('\n'), /handled|operator|note|period|null/)
      }
    }
  })

  test('what is not there, and a filter that is none, fail with a sentence', async () => {
    for (const [line, code, pattern] of [
      ['events show x', 1, /there is no event "x" — .*events list/],
      ['reviews show x', 1, /there is no review "x" — .*reviews list/],
      ['invoices show x', 1, /there is no document "x" — Check the id: quittance invoices list/],
      ['subscriptions show x', 1, /there is no subscription "x"/],
      ['usage show x', 1, /there is no subscription "x"/],
      [`payment-methods remove ${newUuid()}`, 1, /there is no saved card/],
      [
        'reviews list --reason amount_missmatch',
        2,
        /no such reason; did you mean amount_mismatch\?/,
      ],
      ['invoices list --payment x', 2, /must be a UUID/],
      ['events list --payment x', 2, /must be a UUID/],
    ] as const) {
      const ended = await run(...line.split(' '))
      assert.deepEqual([ended.code, ended.stdout], [code, []], line)
      assert.match(ended.stderr.join('\n'), pattern)
    }
  })

  test('find shows what has a text, and by what; words need no quotes', async () => {
    const id = world.payment
    const [heads, line = '', ...rest] = printed(await run('find', id))
    assert.match(heads ?? '', /^id +what +by +created \(UTC\) +payment$/)
    assert.match(line, new RegExp(`^${id}  payment +id +\\d\\d-\\d\\d \\d\\d:\\d\\d +paid, `))
    assert.deepEqual(rest, [])
    assert.deepEqual(printed(await run('find', '987.65', 'UAH', 'today')), [
      'Nothing has this id, reference, or amount and day. Inside callbacks: --in-calls',
    ])
    const { code, stderr } = await run('find', ' ')
    assert.equal(code, 1)
    assert.match(stderr.join('\n'), /text must be text of 1 to 500 characters/)
  })

  test('find --in-calls shows callbacks that contain a text, and how far it looked', async () => {
    const call = await billing.say({ type: 'ignored', reason: 'no_outcome', note: 'needle' })
    const [heads, line = '', end = ''] = printed(await run('find', '--in-calls', 'needle'))
    assert.match(heads ?? '', /^id +gateway +state +received \(UTC\)/)
    assert.match(line, new RegExp(`^${call.id}  stating +ignored`))
    assert.match(end, /^Looked back to \d{4}-/)
    const since = ['--since', '2026-01-01T00:00Z']
    assert.deepEqual(printed(await run('find', '--in-calls', 'no needle', ...since)), [
      'None was found. Looked back to 2026-01-01T00:00:00.000Z.',
    ])
  })

  test('reviews handle wants a note, and refuses the second of two operators', async () => {
    const payment = await billing.create({ gateway: 'echoing' })
    await billing.sayBy('echoing', { ...paid(payment), amount: 9_900n, providerReference: 'pi_e' })
    const [review] = (await billing.core.reviews.list({ paymentId: payment.id })).data
    const id = review?.id ?? ''
    const failure = ({ code, stderr }: Ending) => [code, stderr.join('\n')].join(' ')
    const handle = (...args: readonly string[]) => run('reviews', 'handle', id, ...args)
    assert.match(failure(await handle()), /^2 .*--note/)
    assert.match(failure(await handle('--note', 'x', '--if-version', 'x')), /^2 .*whole number/)
    const stale = await handle('--note', 'refunded', '--if-version', '2')
    assert.match(failure(stale), /^1 .*has changed: its version is 1 — .*reviews show/)
    const done = ['--note', 'refunded', '--operator', 'olena', '--if-version', '1']
    const first = printed(await handle(...done))
    assert.match(first.join('\n'), /^state +handled$/m)
    assert.match(first.join('\n'), /^operator +olena\nnote +refunded$/m)
    assert.deepEqual(printed(await handle(...done)), first)
    const second = await handle('--note', 'refunded', '--operator', 'taras')
    assert.match(failure(second), /^1 .*was handled by olena already — /)
  })
})
