import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Gateway, SignedCallback } from '../../src/gateways/gateway.ts'
import type { AskedRequest, StandInReply } from '../support/stand-in.ts'

/**
 * What a provider can be asked. `look_up` is everything that a callback's interpretation reads,
 * `subscription` how one stands that it manages, `wish` what is asked for one.
 */
export type Asking =
  | 'checkout'
  | 'poll'
  | 'refund'
  | 'charge'
  | 'close'
  | 'remove'
  | 'look_up'
  | 'subscription'
  | 'wish'
  | 'endpoints'
  | 'events'

/**
 * How the provider treats one request instead of doing it and answering:
 * - `late`: does it, and answers after half a second;
 * - `never`: does it, and never answers;
 * - `lost`: does nothing, and never answers;
 * - `cut`: does it, and cuts the connection;
 * - `garbled`: does it, and answers something that is no JSON;
 * - `wrong`: does it, and answers as if another payment had been asked about;
 * - `refuse`: does nothing, and says no in the provider's own way;
 * - `down`: does nothing, and answers 503.
 */
export type Misbehaviour =
  | 'late'
  | 'never'
  | 'lost'
  | 'cut'
  | 'garbled'
  | 'wrong'
  | 'refuse'
  | 'down'

/** A refund as the provider has it. */
export interface MadeRefund {
  readonly amount: bigint
  readonly status: 'paid' | 'pending' | 'failed'
}

/** A request as the provider understood it. */
export interface Asked {
  readonly asking: Asking
  readonly request: AskedRequest
}

/**
 * A provider's API on this machine, over real HTTP: it has a state of its own, checks what it is
 * sent as strictly as the provider's documentation allows, and can misbehave.
 */
export interface ProviderStandIn extends ProviderServer {
  readonly gateway: Gateway
  /** Settings with which the gateway talks to it: credentials, `api_base`. */
  readonly config: Readonly<Record<string, string>>
  /** What is answered without naming anything, so that an answer about another payment is the same. */
  readonly namesNothing?: readonly Asking[]

  /** The payer pays the checkout that was opened under this payment's id. */
  pay(paymentId: string): void
  /** The payer's card is refused; he may try again. */
  decline(paymentId: string): void
  /** The checkout's time is over. */
  expire(paymentId: string): void
  /** Money goes back without our asking: in the provider's dashboard. */
  refundByHand(paymentId: string, amount: bigint): void
  /** A refund that is pending is done. */
  completeRefunds(paymentId: string): void
  /** What went back, and what is on its way. */
  refunds(paymentId: string): readonly MadeRefund[]
  /** From now on charges of saved cards are declined with this code; undefined: they are not. */
  declineCharges?(code: string | undefined): void
  /** Saved cards that were charged under this payment's id; 0 or 1, if all is well. */
  charges(paymentId: string): number
  /** Checkouts that were opened under this payment's id; 0 or 1, if all is well. */
  checkouts(paymentId: string): number
  /** What the provider's callback about the payment says now, signed. */
  paymentCallback(paymentId: string): SignedCallback
  /** What its callback about the payment's refunds says now, signed. */
  refundCallback(paymentId: string): SignedCallback
}

/** An object of the provider's API, as its JSON has it. */
export type ApiObject = Readonly<Record<string, unknown>>

/** Makes of what a provider says of a payment what it might say one day, or by mistake. */
export type Rewording = (object: ApiObject) => ApiObject

/** Where a provider's reply about one payment has its object, and how that is signed. */
interface Wording {
  readonly within?: string
  readonly sign?: Rewording
}

interface Understanding extends Wording {
  /** Reads a request; undefined is answered 404. */
  readonly understand: (request: AskedRequest) => Understood | undefined
  /** `understand` adds what is sent otherwise than the provider documents it. */
  readonly faults: string[]
}

/** A request that was understood, and what may come of it. */
export interface Understood {
  readonly asking: Asking
  /** Does it; the answer. */
  perform(): StandInReply
  /** The answer of a provider that mixes up two payments. */
  wrong?(): StandInReply
  /** How this provider says no. */
  readonly refusal: StandInReply
}

export interface ProviderServer extends AsyncDisposable {
  readonly base: string
  readonly asked: readonly Asked[]
  /** While true, every request is answered 503. */
  down: boolean
  /** The next requests of this kind are treated so, one each. */
  misbehave(asking: Asking, ...misbehaviours: readonly Misbehaviour[]): void
  /** Calls this whenever it will never answer a request that it has. */
  whenSilent(tell: () => void): void
  /** Words what polls are told of a payment otherwise, and signs it anew; without one as it is. */
  reword(rewording?: Rewording): void
  /** What was sent otherwise than the provider documents it, for a test that means it. */
  takeFaults(): readonly string[]
  /** Fails where anything else was sent otherwise, and so does the test that disposes of it. */
  close(): Promise<void>
}

const lateMs = 500

/** The HTTP of a stand-in. */
export async function startProvider({
  understand,
  faults,
  ...wording
}: Understanding): Promise<ProviderServer> {
  const asked: Asked[] = []
  const planned = new Map<Asking, Misbehaviour[]>()
  const state: { down: boolean; rewording: Rewording | undefined; tell: () => void } = {
    down: false,
    rewording: undefined,
    tell: () => {},
  }
  const server = createServer((incoming, response) => {
    void answer(incoming, response)
  })
  const answer = async (incoming: IncomingMessage, response: ServerResponse) => {
    const { method = '', url: target = '', headers } = incoming
    const request = { method, target, headers, body: await text(incoming) }
    if (state.down) return reply(response, unavailable)
    const understood = understand(request)
    if (understood === undefined) return reply(response, { status: 404, body: {} })
    asked.push({ asking: understood.asking, request })
    const misbehaviour = planned.get(understood.asking)?.shift()
    const { rewording } = state
    if (misbehaviour === 'never' || misbehaviour === 'lost') setImmediate(state.tell)
    if (understood.asking !== 'poll' || rewording === undefined) {
      return treat(understood, { response, misbehaviour })
    }
    const perform = () => reworded(understood.perform(), wording, rewording)
    return treat({ ...understood, perform }, { response, misbehaviour })
  }
  // On a slow machine an idle connection would end just as the next request is sent on it.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const takeFaults = () => faults.splice(0)
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    assert.deepEqual(takeFaults(), [], 'what was sent is not what the provider documents')
  }
  return {
    base: `http://127.0.0.1:${port}`,
    asked,
    get down() {
      return state.down
    },
    set down(down) {
      state.down = down
    },
    misbehave(asking, ...misbehaviours) {
      planned.set(asking, [...(planned.get(asking) ?? []), ...misbehaviours])
    },
    whenSilent(tell) {
      state.tell = tell
    },
    reword(rewording) {
      state.rewording = rewording
    },
    takeFaults,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Lists stay as they are. */
function reworded(
  { body, ...reply }: StandInReply,
  { within, sign = (object) => object }: Wording,
  rewording: Rewording,
): StandInReply {
  const all = JSON.parse(typeof body === 'string' ? body : JSON.stringify(body)) as ApiObject
  const object = within === undefined ? all : all[within]
  const isList = Array.isArray(object) || all['object'] === 'list' || 'list' in all
  if (isList || typeof object !== 'object' || object === null) return { ...reply, body }
  const changed = sign(rewording(object as ApiObject))
  return { ...reply, body: within === undefined ? changed : { ...all, [within]: changed } }
}

const unavailable: StandInReply = { status: 503, body: {} }

async function treat(
  understood: Understood,
  {
    response,
    misbehaviour,
  }: { readonly response: ServerResponse; readonly misbehaviour: Misbehaviour | undefined },
): Promise<void> {
  if (misbehaviour === 'lost') return
  if (misbehaviour === 'down') return reply(response, unavailable)
  if (misbehaviour === 'refuse') return reply(response, understood.refusal)
  const done = understood.perform()
  if (misbehaviour === 'never') return
  if (misbehaviour === 'cut') {
    response.destroy()
    return
  }
  if (misbehaviour === 'garbled') return reply(response, { body: '<html>busy</html>' })
  if (misbehaviour === 'wrong') return reply(response, understood.wrong?.() ?? { body: {} })
  if (misbehaviour === 'late') await new Promise((resolve) => setTimeout(resolve, lateMs))
  return reply(response, done)
}

function reply(response: ServerResponse, { status = 200, headers, body }: StandInReply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(typeof body === 'string' ? body : JSON.stringify(body))
}
