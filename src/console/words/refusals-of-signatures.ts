import type { RefusalWords } from './refusal.ts'

type Words = Readonly<Record<string, RefusalWords>>

const notOfTheProvider = 'It does not come from the provider: a scanner, or somebody who tries.'
const strangers =
  'Nothing, if it is rare: strangers try every address. If the provider sends it, report it.'
const proxy = 'Something in front of the service changes the request, or a stranger made it up.'
const checkProxy =
  'Let what is in front pass headers and bodies on unchanged. Nothing else is to be done about strangers.'

/** The header, or the field, that carries the signature. */
const form = {
  signature_missing: {
    meaning: 'It is not signed.',
    cause: notOfTheProvider,
    fix: strangers,
  },
  signature_header_repeated: {
    meaning: 'It has more than one header with a signature.',
    cause: proxy,
    fix: checkProxy,
  },
  signature_header_has_space: {
    meaning: 'The header with the signature has white space in it.',
    cause: 'The header came twice, and was joined on the way; or a stranger made it up.',
    fix: checkProxy,
  },
  signature_header_malformed: {
    meaning: 'The header with the signature has not the form that the provider gives it.',
    cause: proxy,
    fix: checkProxy,
  },
  signature_scheme_missing: {
    meaning: 'It has a time, but no signature of the kind that counts.',
    cause: 'It is signed by a scheme for tests alone, or a stranger made it up.',
    fix: strangers,
  },
  signature_malformed: {
    meaning: 'What should be the signature is none: it has another length, or other characters.',
    cause: proxy,
    fix: checkProxy,
  },
  signature_too_long: {
    meaning: 'What should be the signature is longer than any.',
    cause: notOfTheProvider,
    fix: strangers,
  },
  signature_not_base64: {
    meaning: 'The signature is not written in base64.',
    cause: proxy,
    fix: checkProxy,
  },
  signature_not_der: {
    meaning: 'The signature is not a pair of numbers, as it must be.',
    cause: proxy,
    fix: checkProxy,
  },
  too_many_signatures: {
    meaning: 'It carries more signatures than the provider ever sends.',
    cause: notOfTheProvider,
    fix: strangers,
  },
} as const satisfies Words

/** Who signed it, and when. */
const proof = {
  signature_mismatch: {
    meaning: 'The signature is not one of the secrets that are set here.',
    cause:
      'The secret is of another endpoint, account or mode (test, live), was renewed at the provider, or was cut where it is set. Or the body was changed on the way.',
    fix: 'Copy the secret of this callback URL from the dashboard, and restart. While it is renewed, set both, with a comma between them.',
  },
  merchant_account_mismatch: {
    meaning: 'It is of another merchant account than the one that is set here.',
    cause: 'The callback URL is set in two accounts, or the account here is wrong.',
    fix: 'Compare the account in the dashboard with the one that is set here.',
  },
  timestamp_missing: {
    meaning: 'It does not say when it was signed.',
    cause: notOfTheProvider,
    fix: strangers,
  },
  timestamp_repeated: {
    meaning: 'It says twice when it was signed.',
    cause: notOfTheProvider,
    fix: strangers,
  },
  timestamp_malformed: {
    meaning: 'The time at which it was signed is no time.',
    cause: notOfTheProvider,
    fix: strangers,
  },
  timestamp_in_future: {
    meaning: 'It was signed at a time that has not come yet.',
    cause: 'The clock of this machine is slow.',
    fix: 'Set the clock by NTP. The provider sends the callbacks again.',
  },
  timestamp_too_old: {
    meaning: 'It was signed longer ago than is accepted.',
    cause:
      'The clock of this machine is fast, something in front held the request back, or somebody repeats an old one.',
    fix: 'Set the clock by NTP, and look for queues in front of the service.',
  },
  tolerance_invalid: {
    meaning: 'How old a signature may be is set to something that is no number of seconds.',
    cause: 'A program has made the settings of the gateway without checking them.',
    fix: 'Set the tolerance to whole seconds from 1 to 3600, or not at all.',
  },
} as const satisfies Words

/** The provider's public key, which is fetched. */
const keys = {
  key_unavailable: {
    meaning: 'The key to check it by could not be fetched: the provider did not answer in time.',
    cause: 'The provider is away, or this machine does not reach it.',
    fix: 'Nothing, if it ends: 503 was answered, so the callback comes again. Else look at the network.',
  },
  key_refused: {
    meaning: 'The provider does not give out the key to check it by.',
    cause: 'The token that is set here is wrong, or was withdrawn.',
    fix: 'Set the token of the account, and restart. 503 was answered: the callback comes again.',
  },
  key_unusable: {
    meaning: 'What the provider gave out is no key to check it by.',
    cause: 'The address of its API is set to something else, or the provider has a fault.',
    fix: 'Take out the address of the API if you set it. 503 was answered: the callback comes again.',
  },
} as const satisfies Words

export const signatureRefusals = { ...form, ...proof, ...keys }
