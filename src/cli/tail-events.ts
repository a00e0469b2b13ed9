import { once } from 'node:events'
import type { BillingCore } from '../billing/types.ts'
import type { EventType } from '../events/catalogue.ts'
import type { FeedEvent } from '../wire/outgoing-event.ts'
import { aboutEvent } from './event-text.ts'
import { followPages, untilInterrupted, type Following } from './follow-feed.ts'
import { gatewayQuery } from './gateway-query.ts'
import { visible } from './output.ts'

export interface TailOptions {
  readonly after?: string
  readonly since?: Date
  readonly type?: readonly EventType[]
  readonly gateway?: string
  readonly json?: boolean
}

/** Prints the events of the feed as they come, until SIGINT or SIGTERM; a second one ends it at once. */
export async function tailEvents(options: TailOptions): Promise<void> {
  await untilInterrupted((core, following) => printFeed(core, options, following))
}

async function printFeed(
  core: BillingCore,
  { after, since, type: types, gateway, json }: TailOptions,
  following: Following,
): Promise<void> {
  const filter = { ...gatewayQuery(core, gateway), ...(types && { types }) }
  const start = since === undefined ? { after: after ?? 'end' } : { since, after }
  for await (const { data } of followPages(core, { ...filter, ...start }, following)) {
    for (const event of data) await write(json === true ? JSON.stringify(event) : lineOf(event))
  }
}

/** A reader that is slower than the feed is waited for. */
async function write(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
}

function lineOf(event: FeedEvent): string {
  const { type, timestamp, ...rest } = event.toJSON()
  const time = `${timestamp.slice(0, 19)}Z`
  return visible([time, type.padEnd(typeWidth), ...aboutEvent(rest)].join('  ').trimEnd())
}

/** Most names are as short. */
const typeWidth = 'PaymentSucceeded'.length
