import { createHmac, timingSafeEqual } from 'node:crypto'
import type { SettingOperator } from '../operators/sessions.ts'
import type { Clock } from '../kernel/clock.ts'
import { minutes } from '../kernel/duration.ts'
import type { Secret } from '../kernel/secret.ts'

/** Lets the person who started the service in, once: the address has a key that soon ends. */
export interface OneTimeLink {
  /** Who is signed in by it. */
  readonly operator: SettingOperator
  /** A new key. */
  make(): string
  /** The UUID of a key that has not ended, by which its one use is recorded; else undefined. */
  idOf(key: string): string | undefined
}

const lasts = minutes(10)

interface OneTimeLinkOptions {
  readonly operator: SettingOperator
  /** Shared by all processes of a run: whichever is asked knows a key that another has made. */
  readonly secret: Secret
  readonly now: Clock
  readonly newId: () => string
}

export function oneTimeLink({ operator, secret, now, newId }: OneTimeLinkOptions): OneTimeLink {
  const signed = (text: string) =>
    createHmac('sha256', secret.reveal()).update(`one-time link ${text}`).digest('base64url')
  return {
    operator,
    make: () => {
      const text = `${newId()}.${now().getTime() + lasts}`
      return `${text}.${signed(text)}`
    },
    idOf: (key) => {
      const [id = '', end = '', signature = ''] = key.split('.')
      const isOurs = isSame(signature, signed(`${id}.${end}`))
      return isOurs && now().getTime() < Number(end) ? id : undefined
    },
  }
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.byteLength === other.byteLength && timingSafeEqual(one, other)
}
