import { once } from 'node:events'
import type { BillingCore } from '../billing/types.ts'
import type { EventType } from '../events/catalogue.ts'
import { systemClock } from '../kernel/clock.ts'
import { seconds } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { scrubber, secret as hidden } from '../kernel/secret.ts'
import { allowedPlaces } from '../outbound/address.ts'
import { bodyOf } from '../outbound/body.ts'
import { createConnections, type Connections } from '../outbound/connect.ts'
import { newSecretText } from '../outbound/secrets.ts'
import { send, type Sent } from '../outbound/send.ts'
import { signedHeaders, signingKey } from '../outbound/sign.ts'
import type { FeedEvent } from '../wire/outgoing-event.ts'
import { aboutEvent } from './event-text.ts'
import { followPages, untilInterrupted, type Following } from './follow-feed.ts'
import { gatewayQuery } from './gateway-query.ts'
import { visible } from './output.ts'

export interface ListenOptions {
  readonly forwardTo: string
  readonly secret?: string
  readonly type?: readonly EventType[]
  readonly gateway?: string
  readonly json?: boolean
}

const timeout = seconds(15)

/** Sends the events of the feed to a URL as they come, once each, until it is interrupted. */
export async function forwardFeed(options: ListenOptions): Promise<void> {
  await connected(options, forward)
}

/** Sends one event to a URL. */
export async function forwardOne(id: string, options: ListenOptions): Promise<void> {
  await connected(options, async (core, signed, run) => {
    const event = await findInFeed(core, id, run.signal)
    if (event === undefined) return
    await writeBegin(signed)
    const sent = await sendOne(event, signed, run)
    if (sent.result !== 'delivered') process.exitCode = 1
    await write(options.json === true ? jsonOf(event, sent) : lineOf(event, sent))
  })
}

async function connected(
  options: ListenOptions,
  act: (core: BillingCore, options: SignedWith, run: Run) => Promise<void>,
): Promise<void> {
  const text = options.secret ?? newSecretText()
  if (signingKey(text) === undefined) {
    throw new QuittanceError('usage', '--secret must be whsec_ and base64 of 24 to 64 bytes')
  }
  // This machine and its containers are where it goes.
  const connections = createConnections({ production: false, places: allowedPlaces([]) })
  const fault = connections.fault(options.forwardTo)
  if (fault !== undefined) throw new QuittanceError('usage', `--forward-to ${fault}`)
  try {
    await untilInterrupted((core, following) =>
      act(core, { ...options, text }, { connections, ...following }),
    )
  } finally {
    connections.end()
  }
}

/** As it goes out; undefined: it was interrupted before. */
async function findInFeed(
  core: BillingCore,
  id: string,
  signal: AbortSignal,
): Promise<FeedEvent | undefined> {
  const known = await core.events.get(id)
  if (known === undefined) {
    throw new QuittanceError('event_not_found', `there is no event ${JSON.stringify(id)}`)
  }
  for await (const event of core.events.read({ since: known.createdAt, signal })) {
    if (event.id === id) return event
  }
  return undefined
}

async function writeBegin({ forwardTo: url, text, json }: SignedWith): Promise<void> {
  if (json === true) await write(JSON.stringify({ forward_to: url, secret: text }))
  else await write(visible(`Events go to ${url}, signed with ${text}`))
}

interface Run extends Following {
  readonly connections: Connections
}

type SignedWith = ListenOptions & { readonly text: string }

async function forward(core: BillingCore, options: SignedWith, run: Run): Promise<void> {
  const { type: types, gateway, json } = options
  const filter = { ...gatewayQuery(core, gateway), ...(types && { types }) }
  // What comes once the secret is printed is sent.
  const { nextCursor: after } = await core.events.feed({ after: 'end', limit: 1 })
  await writeBegin(options)
  if (json !== true) await write('Ctrl-C ends it.')
  for await (const { data } of followPages(core, { ...filter, after }, run)) {
    for (const event of data) {
      if (run.signal.aborted) return
      const sent = await sendOne(event, options, run)
      if (run.signal.aborted && sent.status === null) return
      await write(json === true ? jsonOf(event, sent) : lineOf(event, sent))
    }
  }
}

function sendOne(
  event: FeedEvent,
  { forwardTo: url, text }: SignedWith,
  { connections, signal }: Run,
): Promise<Sent> {
  const body = bodyOf(event, 'full')
  const signed = { id: event.id, body }
  const headers = { ...signedHeaders(signed, [hidden(text)], systemClock()) }
  return send({ url, headers, body, timeout, scrub: scrubber([hidden(text)]) }, connections, signal)
}

function jsonOf(event: FeedEvent, sent: Sent): string {
  const { result, status, durationMs, response } = sent
  return JSON.stringify({
    at: systemClock().toISOString(),
    event_id: event.id,
    type: event.type,
    result,
    status,
    duration_ms: durationMs,
    response,
  })
}

function lineOf(event: FeedEvent, { result, status, durationMs, response }: Sent): string {
  const { type, ...rest } = event.toJSON()
  const time = `${systemClock().toISOString().slice(0, 19)}Z`
  const isTaken = result === 'delivered'
  const answer = isTaken
    ? String(status)
    : `FAILED: ${result}${status === null ? '' : ` ${status}`}`
  const why = isTaken || response === null ? [] : [response.replaceAll(/\s+/g, ' ').slice(0, 200)]
  const parts = [time, type, ...aboutEvent(rest), answer, `${durationMs} ms`, ...why]
  return visible(parts.join('  '))
}

/** A reader that is slower than the feed is waited for. */
async function write(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain')
}
