import type { Command } from 'commander'
import type { EventsQuery } from '../../database/events.ts'
import type { EventType } from '../../events/catalogue.ts'
import { eventFilters } from '../../events/event-record.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { addExamples } from '../examples.ts'
import type { ListenOptions } from '../forward-feed.ts'
import { addList, found, printOne, printPage, queryOf } from '../noun.ts'
import { readSince } from '../read-time.ts'
import { readTypes } from '../read-types.ts'
import type { TailOptions } from '../tail-events.ts'

const exampleId = '0190163d-8694-739b-aea5-966c26f8ad90'

export function addEvents(program: Command): void {
  const events = program.command('events').description('what happened: one event an outcome')
  const listCommand = addList(events, eventFilters)
    .option('--type <names>', 'only these, separated by commas', readTypes)
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
  const { type } = command.optsWithGlobals<{ readonly type?: readonly EventType[] }>()
  const { withCore } = await import('../open-core.ts')
  const page = await withCore(async (core) => {
    const query = await queryOf<EventsQuery>(core, command, eventFilters)
    return core.events.list({ ...query, ...(type && { type }) })
  })
  const { eventNoun } = await import('../event-noun.ts')
  await printPage(page, command, eventNoun)
}

async function show(id: string, _options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const event = found(await withCore((core) => core.events.get(id)), 'event', id)
  const { eventNoun } = await import('../event-noun.ts')
  await printOne(event, command, eventNoun)
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
