import assert from 'node:assert/strict'
import test from 'node:test'
import { builtin } from '../../src/gateways/builtin.ts'
import type { Gateway } from '../../src/gateways/gateway.ts'
import type { Operations } from '../../src/gateways/operations.ts'
import { filesIn, importedPath, importsOf, read } from './source-files.ts'

/** What a provider is asked, each in the file of its name. */
const operations = {
  'checkout.ts': 'checkout',
  'money-fault.ts': 'moneyFault',
  'poll.ts': 'poll',
  'refund.ts': 'refund',
  'charge-saved-card.ts': 'chargeSavedCard',
  'declines.ts': 'declines',
  'remove-saved-card.ts': 'removeSavedCard',
  'close-checkout.ts': 'closeCheckout',
  'registration.ts': 'registration',
  'backfill.ts': 'backfill',
} as const satisfies Record<string, keyof Operations>

/** Files that are there if, and only if, the gateway is one that needs them. */
const fixed: Record<string, (gateway: Gateway) => boolean> = {
  'README.md': () => true,
  'index.ts': () => true,
  'payload.ts': () => true,
  'interpret.ts': () => true,
  'signature.ts': ({ verification }) => verification === 'signature',
  'dashboard-url.ts': ({ dashboardUrl }) => dashboardUrl !== undefined,
  'samples/sign.ts': ({ signer }) => signer !== undefined,
  ...Object.fromEntries(
    Object.entries(operations).map(([file, name]) => [file, (one) => one[name] !== undefined]),
  ),
}

/** `{name}-*.ts` and the folder `{name}-*`: parts of these. */
const divided = ['api', ...Object.keys(operations).map((file) => file.replace('.ts', ''))]

/** Words that begin the names of files with a meaning: no other file's name begins with them. */
const reserved = new Set(
  (
    'read find api acknowledge signature samples scenarios payload interpret index money close ' +
    'checkout poll refund charge remove registration backfill'
  ).split(' '),
)
/** What the reserved names are called instead of. */
const others = new Set(
  (
    'on parse verify sign sample scenario open ask check get fetch look make create send handle ' +
    'refunds polls checkouts charges cancel register operations'
  ).split(' '),
)

/** The gateway's own product files, with paths from its folder. */
const filesOf = ({ name }: Gateway) =>
  filesIn(`src/gateways/${name}`, /\.(?:ts|md)$/)
    .filter(({ path }) => !path.endsWith('.test.ts'))
    .map((file) => ({ ...file, name: file.path.slice(`src/gateways/${name}/`.length) }))

function isInPlace(file: string, gateway: Gateway): boolean {
  if (Object.hasOwn(fixed, file)) return fixed[file]?.(gateway) === true
  if (/^(?:api|acknowledge)\.ts$|^(?:read|find)-[a-z-]+\.ts$|^samples\/[a-z-]+\.ts$/.test(file)) {
    return true
  }
  const part = divided.find((name) => file.startsWith(`${name}-`))
  if (part !== undefined) return part === 'api' || fixed[`${part}.ts`]?.(gateway) === true
  const [first = ''] = file.split(/[-./]/)
  return !file.includes('/') && !reserved.has(first) && !others.has(first)
}

test('the files of a gateway are called what the list says, and hold nothing else', () => {
  for (const gateway of builtin) {
    const names = filesOf(gateway).map(({ name }) => name)
    const missing = Object.entries(fixed).filter(
      ([file, needs]) => needs(gateway) && !names.includes(file),
    )
    assert.deepEqual(missing, [], gateway.name)
    const misplaced = names.filter((name) => !isInPlace(name, gateway))
    assert.deepEqual(misplaced, [], gateway.name)
  }
})

test('what a callback says is read without asking a provider to change anything', () => {
  const changes = ['checkout', 'refund', 'charge-saved-card', 'close-checkout', 'registration']
  const isReading = (name: string) => /^(?:read-.*|payload|signature|interpret)\.ts$/.test(name)
  const offences = builtin.flatMap((gateway) =>
    filesOf(gateway)
      .filter(({ name }) => isReading(name))
      .flatMap((file) => importsOf(file).map((specifier) => importedPath(file, specifier)))
      .filter((target) => changes.some((name) => target?.endsWith(`/${gateway.name}/${name}.ts`))),
  )
  assert.deepEqual(offences, [])
})

test('samples are for tests: of a gateway only its descriptor imports them', () => {
  const offences = builtin.flatMap((gateway) =>
    filesOf(gateway)
      .filter(({ name }) => name !== 'index.ts' && !name.startsWith('samples/'))
      .filter((file) => importsOf(file).some((specifier) => specifier.startsWith('./samples/')))
      .map(({ path }) => path),
  )
  assert.deepEqual(offences, [])
})

test('CONTRIBUTING says what each of the names means', () => {
  const rows = read('CONTRIBUTING.md').match(/(?<=^\| )`[^|]+?(?= +\|)/gm) ?? []
  const named = new Set(rows.join(' ').match(/(?<=`)[^` ]+(?=`)/g))
  const patterns = ['read-*.ts', 'find-*.ts', 'api.ts', 'acknowledge.ts', '{name}-*']
  for (const name of [...Object.keys(fixed), ...patterns]) assert.ok(named.has(name), name)
})
