import type { Command } from 'commander'
import type { EventType } from '../../events/catalogue.ts'
import { counted } from '../../kernel/counted.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { addExamples } from '../examples.ts'
import type { ListenOptions } from '../forward-feed.ts'
import { print, printJson, printTable, shortTime, visible } from '../output.ts'
import { addPaging, type PagingOptions } from '../paging.ts'
import { readSince } from '../read-time.ts'
import { readTypes } from '../read-types.ts'
import type { TailOptions } from '../tail-events.ts'

interface ListOptions extends PagingOptions {
  readonly type?: readonly EventType[]
  readonly payment?: string
  readonly subscription?: string
  readonly json?: boolean
}

const exampleId = '0190163d-8694-739b-aea5-966c26f8ad90'

export function addEvents(program: Command): void {
  const events = program.command('events').description('what happened: one event an outcome')
  const listCommand = addPaging(events.command('list').description('newest first'))
    .option('--type <names>', 'only these, separated by commas', readTypes)
    .option('--payment <id>', 'only of this payment and its refunds')
    .option('--subscription <id>', 'only of this subscription')
    .action(list)
  addExamples(listCommand, [
    ['events list --type PaymentSucceeded,PaymentRefunded'],
    [`events list --payment ${exampleId}`],
  ])
  const showCommand = events
    .command('show')
    .description('one event: what it is about, and who got it')
    .argument('<id>')
    .action(show)
  addExamples(showCommand, [[`events show ${exampleId}`]])
  const resendCommand = events
    .command('resend')
    .description('send one event again: to an endpoint, or to an app on this machine')
    .argument('<id>')
    .option('--endpoint <name>', 'to which')
    .option('--forward-to <url>', 'where the app listens, as quittance listen does')
    .option('--secret <secret>', 'the one that listen printed (default: one made for this)')
    .action(resend)
  addExamples(resendCommand, [
    [`events resend ${exampleId} --endpoint shop`],
    [`events resend ${exampleId} --forward-to http://localhost:8000/hooks`],
  ])
  const tailCommand = events
    .command('tail')
    .description('follow the feed: each event once, in its order; --json: one a line')
    .option('--after <cursor>', 'the id of an event, start or end (default: end)')
    .option('--since <time>', 'from then on: 90m, 24h, 7d, or a time', readSince)
    .option('--type <names>', 'only these, separated by commas', readTypes)
    .option('--gateway <name>', 'only about what this gateway carries')
    .action(tail)
  addExamples(tailCommand, [
    ['events tail'],
    ['events tail --after start --type PaymentSucceeded --json'],
  ])
}

async function list(_options: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<ListOptions>()
  const { limit, cursor, type, payment: paymentId, subscription: subscriptionId, json } = options
  const { withCore } = await import('../open-core.ts')
  const { pageView } = await import('../../wire/page.ts')
  const { aboutEvent } = await import('../event-text.ts')
  const page = await withCore((core) =>
    core.events.list({
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
      ...(type !== undefined && { type }),
      ...(paymentId !== undefined && { paymentId }),
      ...(subscriptionId !== undefined && { subscriptionId }),
    }),
  )
  const shown = pageView(page, (event) => event.toJSON())
  if (json === true) printJson(shown)
  else if (shown.data.length === 0) print('No events.')
  else {
    printTable({
      headings: ['id', 'type', 'time (UTC)'],
      rows: page.data.map(({ id, type, createdAt }) => [id, type, shortTime(createdAt)]),
      notes: { headings: ['about'], rows: shown.data.map((one) => [aboutEvent(one).join('  ')]) },
    })
    if (page.nextCursor !== null) print(`more: --cursor ${page.nextCursor}`)
  }
}

async function show(id: string, _options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const { aboutEvent } = await import('../event-text.ts')
  const event = await withCore((core) => core.events.get(id))
  if (event === undefined) {
    throw new QuittanceError('event_not_found', `there is no event ${JSON.stringify(id)}`)
  }
  const view = event.toJSON()
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
    printJson(view)
    return
  }
  const facts: readonly (readonly [string, string | null])[] = [
    ['event', view.id],
    ['type', view.type],
    ['time', view.timestamp],
    ['position', view.position === null ? null : String(view.position)],
    ['key', view.dedup_key],
    ['source', view.source],
    ['about', aboutEvent(view).join('  ')],
    ['call', view.webhook_call_id],
  ]
  for (const [name, value] of facts) {
    if (value !== null) print(visible(`${name.padEnd(12)}${value}`))
  }
  for (const { listener, state, attempts, exception } of view.deliveries) {
    print(visible(`delivery    ${listener}  ${state}, ${counted(attempts, 'failed attempt')}`))
    const [error] = exception?.split('\n', 1) ?? []
    if (error !== undefined) print(visible(`  error     ${error}`))
  }
}

async function tail(_options: unknown, command: Command): Promise<void> {
  const { tailEvents } = await import('../tail-events.ts')
  await tailEvents(command.optsWithGlobals<TailOptions>())
}

interface ResendOptions extends Pick<ListenOptions, 'secret' | 'json'> {
  readonly endpoint?: string
  readonly forwardTo?: string
}

async function resend(event: string, _options: unknown, command: Command): Promise<void> {
  const { endpoint: name, forwardTo, ...rest } = command.optsWithGlobals<ResendOptions>()
  if (name !== undefined && forwardTo === undefined) {
    const actions = await import('../endpoint-actions.ts')
    await actions.resend({ name, event }, command)
  } else if (forwardTo !== undefined && name === undefined) {
    const { forwardOne } = await import('../forward-feed.ts')
    await forwardOne(event, { ...rest, forwardTo })
  } else throw new QuittanceError('usage', 'give --endpoint or --forward-to, and not both')
}
