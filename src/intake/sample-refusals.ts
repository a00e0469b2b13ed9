import type { RefusalSample } from '../database/refusals.ts'
import type { Gateway } from '../gateways/gateway.ts'
import { hours, seconds, type Duration } from '../kernel/duration.ts'
import { senderNetwork } from '../kernel/sender-network.ts'
import { visibleText } from '../kernel/visible-text.ts'

/** What is known of a callback that is not accepted. */
export interface RefusedRequest {
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: it was not read. */
  readonly body?: Uint8Array
  readonly sender?: { readonly remoteAddress?: string | undefined } | undefined
}

export interface Refusal {
  /** Undefined: there is none of the name that the callback gives. */
  readonly gateway: Pick<Gateway, 'name' | 'credentialHeaders'> | undefined
  /** As the callback gives it. */
  readonly name: string
  readonly reason: string
  readonly clockSkewSeconds?: number | undefined
}

/** Keeps what a few refused callbacks looked like, so that a person can find the mistake. */
export interface RefusalSamples {
  /** Never waits, never throws. */
  add(refusal: Refusal, request: RefusedRequest): void
  /** Writes what is not written yet. */
  end(): Promise<void>
}

export interface RefusalSamplesOptions {
  /** A failure drops the sample. */
  write(sample: RefusalSample): Promise<void>
  readonly every?: Duration
  readonly forgetAfter?: Duration
}

/** Of gateways and reasons that a process tells apart; all further ones are one. */
const mostKinds = 79
const everythingElse = 'other'

/**
 * One of each gateway and reason waits to be written, and one is written a second, in turn: whoever
 * floods us with one kind hides no other. All that comes meanwhile is dropped unseen.
 */
export function sampleRefusals({
  write,
  every = seconds(1),
  forgetAfter = hours(1),
}: RefusalSamplesOptions): RefusalSamples {
  const waiting = new Map<string, RefusalSample>()
  // When each came last, the longest ago first: what has not come for long makes room for another.
  const kinds = new Map<string, number>()
  const isKnown = (key: string) => {
    const now = performance.now()
    const [oldest] = kinds
    if (oldest !== undefined && now - oldest[1] >= forgetAfter) kinds.delete(oldest[0])
    if (!kinds.delete(key) && kinds.size >= mostKinds) return false
    kinds.set(key, now)
    return true
  }
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let nextAt = 0
  let isOver = false
  const writeNext = async () => {
    const [first] = waiting
    if (first === undefined) return
    waiting.delete(first[0])
    nextAt = performance.now() + every
    await write(first[1]).catch(() => {})
  }
  const plan = () => {
    if (timer !== undefined || writing !== undefined || waiting.size === 0 || isOver) return
    timer = setTimeout(
      () => {
        timer = undefined
        writing = writeNext().finally(() => {
          writing = undefined
          plan()
        })
      },
      Math.max(0, nextAt - performance.now()),
    ).unref()
  }
  return {
    add(refusal, request) {
      if (isOver) return
      const key = `${refusal.gateway?.name ?? ''} ${refusal.reason}`
      const isOwnKind = isKnown(key)
      const kind = isOwnKind ? key : everythingElse
      if (waiting.has(kind)) return
      const sample = sampleOf(refusal, request)
      waiting.set(kind, isOwnKind ? sample : { ...sample, gateway: '', reason: everythingElse })
      plan()
    },
    async end() {
      isOver = true
      clearTimeout(timer)
      await writing
      while (waiting.size > 0) await writeNext()
    },
  }
}

const longestName = 40
const longestText = 100
const mostHeaders = 40
const largestInteger = 2 ** 31 - 1

function sampleOf(
  { gateway, name, reason, clockSkewSeconds }: Refusal,
  { headers, body, sender }: RefusedRequest,
): RefusalSample {
  const { 'content-type': contentType, 'content-length': announced = '' } = headers
  const bodyBytes = body?.byteLength ?? (/^\d{1,15}$/.test(announced) ? Number(announced) : null)
  const signatureHeaders = gateway?.credentialHeaders ?? []
  const isSigned = () => signatureHeaders.some((header) => headers[header] !== undefined)
  return {
    gateway: gateway?.name ?? '',
    reason: visible(reason, longestText),
    name: gateway === undefined ? visible(name, longestName) : null,
    network: senderNetwork(sender?.remoteAddress ?? ''),
    bodyBytes: bodyBytes === null ? null : Math.min(bodyBytes, largestInteger),
    contentType: contentType === undefined ? null : visible(contentType, longestText),
    headerNames: Object.keys(headers)
      .slice(0, mostHeaders)
      .map((header) => visible(header, longestText)),
    hasSignature: signatureHeaders.length === 0 ? null : isSigned(),
    clockSkewSeconds: clamped(clockSkewSeconds),
  }
}

/** Cut before, so that a long text takes no longer, and after: what is spelled out grows. */
function visible(text: string, longest: number): string {
  return visibleText(text.slice(0, longest).toWellFormed(), longest - 1)
}

/** A broken clock gives no number. */
function clamped(seconds: number | undefined): number | null {
  if (seconds === undefined || Number.isNaN(seconds)) return null
  return Math.trunc(Math.min(Math.max(seconds, -largestInteger), largestInteger))
}
