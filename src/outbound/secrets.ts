import { randomBytes } from 'node:crypto'
import type { Cipher } from '../kernel/encryption.ts'
import { hours } from '../kernel/duration.ts'
import { QuittanceError } from '../kernel/errors.ts'
import { secret, type Secret } from '../kernel/secret.ts'
import { secretTextOf } from './sign.ts'

/** A secret of an endpoint, as it is stored: encrypted. */
interface StoredSecret {
  readonly text: string
  /** Milliseconds since 1970: from then on it no longer signs. Missing: it is the newest. */
  readonly until?: number
}

const keyBytes = 32
/** Both sign for so long when one replaces another. */
const replacedFor = hours(24)

export function newSecretText(): string {
  return secretTextOf(randomBytes(keyBytes))
}

function contextOf(endpointId: string): string {
  return `endpoints/${endpointId}/secrets`
}

/** Error: `encryption_key_missing`. */
export function sealSecret(
  cipher: Cipher | undefined,
  { endpointId, text }: { readonly endpointId: string; readonly text: string },
): Uint8Array {
  return seal(cipher, endpointId, [{ text }])
}

/** The new one first; those before it sign for a day more. */
export function sealRotated(
  cipher: Cipher | undefined,
  {
    endpointId,
    stored,
    text,
    now,
  }: {
    readonly endpointId: string
    readonly stored: Uint8Array
    readonly text: string
    readonly now: Date
  },
): Uint8Array {
  const until = now.getTime() + replacedFor
  const kept = (open(cipher, endpointId, stored) ?? []).filter((one) => isValid(one, now))
  const replaced = kept.map((one) => ({ text: one.text, until: one.until ?? until }))
  return seal(cipher, endpointId, [{ text }, ...replaced])
}

/** Those that sign now, the newest first; undefined: they cannot be decrypted here. */
export function openSecrets(
  cipher: Cipher | undefined,
  {
    endpointId,
    stored,
    now,
  }: {
    readonly endpointId: string
    readonly stored: Uint8Array
    readonly now: Date
  },
): readonly Secret[] | undefined {
  const opened = open(cipher, endpointId, stored)
  return opened?.filter((one) => isValid(one, now)).map(({ text }) => secret(text))
}

function isValid({ until }: StoredSecret, now: Date): boolean {
  return until === undefined || until > now.getTime()
}

function seal(
  cipher: Cipher | undefined,
  endpointId: string,
  secrets: readonly StoredSecret[],
): Uint8Array {
  if (cipher === undefined) {
    throw new QuittanceError('encryption_key_missing', 'secrets of endpoints are stored encrypted')
  }
  return cipher.encrypt(Buffer.from(JSON.stringify(secrets)), contextOf(endpointId))
}

function open(
  cipher: Cipher | undefined,
  endpointId: string,
  stored: Uint8Array,
): readonly StoredSecret[] | undefined {
  const opened = cipher?.decrypt(stored, contextOf(endpointId))
  return opened && (JSON.parse(Buffer.from(opened).toString()) as StoredSecret[])
}
