import { z } from 'zod'
import { databaseUrlFault } from '../database/database-url.ts'
import { defaultSchema, schemaNameFault } from '../database/schema.ts'
import type { InvoiceSeller } from '../invoices/invoice.ts'
import { isSeries } from '../invoices/number.ts'
import { encryptionKeyFault } from '../kernel/encryption.ts'
import { hasFields } from '../kernel/has-fields.ts'
import { currency, minorUnits, text as printable } from '../kernel/input-rules.ts'
import { parseSecrets } from '../kernel/secret.ts'
import { quotas } from '../money/quota-rules.ts'
import { every, timeZone as timeZoneName, trialDays } from '../money/subscription-rules.ts'
import type { Plan } from '../subscriptions/plan.ts'
import { isColor, isLogo, supportLink } from './brand.ts'
import type { PlanOption } from './declared-names.ts'
import type { ListenersOption } from './listeners-option.ts'

// The types of settings. A message continues the name of the setting: `must be ...`.

export const text = z.string('must be a text')
export const yesOrNo = z.boolean('must be true or false')

export const fn = <T>() => z.custom<T>((value) => typeof value === 'function', 'must be a function')

export function object<T>(must: string, has?: string) {
  const isOne = (value: unknown) =>
    typeof value === 'object' && value !== null && (has === undefined || has in value)
  return z.custom<T>(isOne, must)
}

/** The largest by default: the milliseconds that a timer can wait for. */
export function wholeNumber(of: string, least = 1, most = 2 ** 31 - 1) {
  const must = `must be a whole number ${of}from ${least} to ${most}`
  return z.int(must).min(least, must).max(most, must)
}

export function list<In, Out>(each: z.ZodType<Out, In>, must: string) {
  return z.array(each, must) as z.ZodType<readonly Out[], readonly In[]>
}

function origin(must: string) {
  return z
    .string(must)
    .refine(isOrigin, must)
    .transform((url) => new URL(url).origin)
}

function isOrigin(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  const { pathname, search, hash, username, password } = url
  return pathname === '/' && [search, hash, username, password].every((part) => part === '')
}

/** A blank one counts as not set: an app may pass on a variable as it is. */
export const unlessBlank = text.transform((value) => value.trim() || undefined)

export const publicOrigin = unlessBlank.pipe(
  origin('must be an origin such as https://pay.example.com, without a path').optional(),
)
const mustBeOrigins = 'must be origins such as https://shop.example.com, without a path'
export const origins = list(origin(mustBeOrigins), mustBeOrigins)

function textWithout(faultOf: (value: string) => string | undefined) {
  return text.superRefine((value, context) => {
    const message = faultOf(value)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })
}

/** Read as all secrets are: there may be several, and blank ones count as not set. */
export const tokens = text
  .refine(
    (value) => value.split(',').every((one) => /^[\x21-\x7e]*$/.test(one.trim())),
    'must be a text without spaces',
  )
  .transform((value) => {
    const secrets = parseSecrets(value)
    return secrets.length === 0 ? undefined : secrets
  })

export const encryptionKeys = textWithout(encryptionKeyFault)

export const databaseUrl = unlessBlank.pipe(textWithout(databaseUrlFault).optional())

export const schemaName = unlessBlank
  .transform((name = defaultSchema) => name)
  .pipe(textWithout(schemaNameFault))

export const brandName = printable(60)

export const brandLogo = text.refine(
  isLogo,
  'must be the https URL of an image, or a data: URL of one with at most 64 KiB',
)

export const brandColor = text.refine(
  isColor,
  'must be a colour of three or six hexadecimal digits such as #0b6b3a; it cannot be transparent',
)

export const brandSupport = text.refine(
  (value) => supportLink(value) !== undefined,
  'must be an e-mail address, a phone number or an https URL',
)

export const webhookPath = text
  .transform((path) => `/${path.replace(/^\/+/, '')}`)
  .refine(
    (path) => path.split('/').filter((segment) => segment === '{gateway}').length === 1,
    'must contain the segment {gateway} once',
  )

export const queueConnection = text.pipe(z.enum(['database', 'sync'], 'must be database or sync'))

/** Networks allow 15 attempts in 30 days. */
const mostRetries = 14
const retryRule = `must be whole numbers of days from 1 to 30, ascending, ${mostRetries} at most, such as [1, 3, 5, 7]`
const ascending = (days: readonly number[]) =>
  days.every((day, at) => at === 0 || day > (days[at - 1] ?? 0))
export const retryDays = list(z.int(retryRule).min(1, retryRule).max(30, retryRule), retryRule)
  .refine((days) => days.length <= mostRetries, retryRule)
  .refine(ascending, retryRule)

const leadRule = 'must be whole numbers of days from 1 to 365, each once, 10 at most, such as [3]'
export const leadDays = list(z.int(leadRule).min(1, leadRule).max(365, leadRule), leadRule).refine(
  (days) => days.length <= 10 && new Set(days).size === days.length,
  leadRule,
)

/** Each is an entry more in an index, for every payment that has it. */
const mostMetadata = 10
const metadataRule = `must be names of metadata such as invoice_no, each once, ${mostMetadata} at most`
export const metadataNames = list(printable(64), metadataRule).refine(
  (names) => names.length <= mostMetadata && new Set(names).size === names.length,
  metadataRule,
)

export const onUnpaid = z.enum(['cancel', 'pause'], 'must be cancel or pause')

export const timeZone = text.pipe(timeZoneName)

const planFields = z.strictObject(
  {
    amount: minorUnits(0n),
    currency,
    every,
    trialDays: trialDays.default(0),
    quotas: quotas.optional(),
  },
  {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `has the unknown key ${keys[0]}; there are amount, currency, every, trial_days, quotas`
        : 'must be an object with amount, currency and every',
  },
)

/** Keys of maps are data, so what is spelled as in the file is read here. */
function planOf(given: unknown): unknown {
  if (!hasFields(given) || !Object.hasOwn(given, 'trial_days')) return given
  const { trial_days, ...others } = given as Readonly<Record<string, unknown>>
  // Given twice it stays a fault.
  return Object.hasOwn(others, 'trialDays') ? given : { ...others, trialDays: trial_days }
}

const plansRule = 'must be an object with plans by their names'
export const plansByName = z.record(
  printable(64),
  z.preprocess(planOf, planFields),
  plansRule,
) as z.ZodType as z.ZodType<Readonly<Record<string, Plan>>, Readonly<Record<string, PlanOption>>>

const texts = 'must be an object with texts'
export const credentials = z.record(
  z.string(),
  z.record(z.string(), text.optional(), texts),
  texts,
) as z.ZodType as Typed<Readonly<Record<string, Readonly<Record<string, string>>>>>

/** What each one must be is said when it is registered. */
export const listeners = z.custom<ListenersOption>(hasFields, 'must be an object with listeners')

/** With a narrower type than zod infers. */
type Typed<T> = z.ZodType<T, T>

/** Who sells, as settings have it. */
export interface SellerOption extends InvoiceSeller {
  /** The same, as quittance.config.ts may write it. */
  readonly tax_id?: string
  readonly registration_number?: string
  readonly bank_details?: readonly string[]
}

const sellerKeys = 'name, address, tax_id, registration_number, email, phone, bank_details, note'
const addressLines = z
  .array(printable(200), 'must be a list of lines')
  .max(8, 'must be 8 lines at most')
const sellerFields = z.strictObject(
  {
    name: printable(200),
    address: addressLines.optional(),
    taxId: printable(64).optional(),
    registrationNumber: printable(64).optional(),
    email: printable(254).optional(),
    phone: printable(64).optional(),
    bankDetails: addressLines.optional(),
    note: printable(500).optional(),
  },
  {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `has the unknown key ${keys[0]}; there are ${sellerKeys}`
        : 'must be an object with a name',
  },
)

/** One setting, whatever it holds: what is spelled as in the file is read here. */
export const invoiceSeller = z.preprocess((given) => {
  if (!hasFields(given)) return given
  const spelled = Object.entries(given).map(([name, value]) => [
    name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    value as unknown,
  ])
  // Given twice it stays a fault.
  const names = new Set(spelled.map(([name]) => name))
  return names.size === spelled.length ? (Object.fromEntries(spelled) as unknown) : given
}, sellerFields) as z.ZodType as z.ZodType<InvoiceSeller, SellerOption>

export const seriesName = text.refine(
  isSeries,
  'must be 1 to 64 letters, digits, -, _, . and /, with {year} and {month}, such as INV-{year}; ' +
    'TEST- begins only those of test money',
)
