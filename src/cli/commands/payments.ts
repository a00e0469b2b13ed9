import { InvalidArgumentError, Option, type Command } from 'commander'
import { QuittanceError } from '../../kernel/errors.ts'
import { paymentStatuses, type Payment, type PaymentStatus } from '../../payments/payment.ts'
import type { CreatePaymentInput } from '../../processing/create-payment.ts'
import { addExamples, exampleGateway } from '../examples.ts'
import { print, printJson, printTable, shortTime } from '../output.ts'
import { addPaging, type Paging } from '../paging.ts'

type JsonObject = Readonly<Record<string, unknown>>

interface CreateOptions extends Omit<CreatePaymentInput, 'live' | 'expiresAt' | 'amount'> {
  readonly amount: number
  readonly live?: boolean
  readonly test?: boolean
  readonly json?: boolean
}

interface ListOptions extends Paging {
  readonly gateway?: string
  readonly status?: PaymentStatus
  readonly json?: boolean
}

export function addPayments(program: Command): void {
  const payments = program.command('payments').description('payments: create, show, list')
  const createCommand = payments
    .command('create')
    .description('create a pending payment')
    .requiredOption('--gateway <name>', 'gateway that takes the payment')
    .requiredOption('--amount <units>', 'minor units, e.g. 1999 for 19.99', readAmount)
    .requiredOption('--currency <code>', 'ISO 4217 code, e.g. UAH')
    .requiredOption('--payable <type:id>', 'what is paid for, e.g. order:42', readPayable)
    .option('--id <uuid>', 'id of your own choice: makes the command repeatable')
    .option('--description <text>', 'what the payer and the operator read')
    .option('--return-url <url>', 'where the browser goes afterwards')
    .option('--customer <json>', 'a JSON object', readObject)
    .option('--metadata <json>', 'a JSON object', readObject)
    .option('--merchant-account <id>', 'the provider’s id of the account that gets the money')
    .addOption(new Option('--live', 'live money').conflicts('test'))
    .option('--test', 'the provider’s test mode')
    .option('--checkout-reference <id>', 'the provider’s id of a checkout that began elsewhere')
    .option('--provider-reference <id>', 'the provider’s id of the charge')
    .action(create)
  addExamples(createCommand, [
    [`payments create --gateway ${exampleGateway} --amount 1999 --currency UAH --payable order:42`],
  ])
  const showCommand = payments
    .command('show')
    .description('one payment with its transitions, events, refunds, disputes and saved cards')
    .argument('<id>')
    .action(show)
  addExamples(showCommand, [['payments show 0190163d-8694-739b-aea5-966c26f8ad90']])
  const listCommand = addPaging(payments.command('list').description('newest first'))
    .option('--gateway <name>', 'only of this gateway')
    .addOption(new Option('--status <status>', 'only these').choices(paymentStatuses))
    .action(list)
  addExamples(listCommand, [['payments list'], ['payments list --status pending --limit 100']])
}

function readAmount(text: string): number {
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
  throw new InvalidArgumentError('It must be a whole number of minor units.')
}

function readPayable(text: string): CreatePaymentInput['payable'] {
  const [, type, id] = /^([^:]+):(.+)$/.exec(text) ?? []
  if (type === undefined || id === undefined) {
    throw new InvalidArgumentError('It must be type:id, e.g. order:42.')
  }
  return { type, id }
}

function readObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return value as JsonObject
    }
  } catch {
    // Said below.
  }
  throw new InvalidArgumentError('It must be a JSON object.')
}

async function create(_options: unknown, command: Command): Promise<void> {
  const { live, test, json, ...input } = command.optsWithGlobals<
    CreateOptions & { verbose?: boolean }
  >()
  const mode = live === true ? { live: true } : test === true ? { live: false } : {}
  const { verbose: _, ...fields } = input
  const { paymentView } = await import('../../http/wire.ts')
  const { withCore } = await import('../open-core.ts')
  const payment = await withCore((core) => core.payments.create({ ...fields, ...mode }))
  if (json === true) printJson(paymentView(payment))
  else printPayment(payment)
}

async function show(id: string, _options: unknown, command: Command): Promise<void> {
  const { paymentDetailsView } = await import('../../http/wire.ts')
  const { withCore } = await import('../open-core.ts')
  const payment = await withCore((core) => core.payments.get(id))
  if (payment === undefined) {
    throw new QuittanceError('payment_not_found', `there is no payment ${JSON.stringify(id)}`)
  }
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
    printJson(paymentDetailsView(payment))
    return
  }
  printPayment(payment)
  for (const { from, to, cause, at } of payment.transitions) {
    print(`transition  ${at.toISOString()}  ${from} -> ${to}, by ${cause}`)
  }
  for (const event of payment.events) {
    print(`event       ${event.createdAt.toISOString()}  ${event.type}`)
  }
  for (const refund of payment.refunds) {
    print(`refund      ${refund.id}  ${refund.status}  ${money(refund)}`)
  }
  for (const dispute of payment.disputes) {
    print(`dispute     ${dispute.providerReference}  ${dispute.status}`)
  }
  for (const method of payment.paymentMethods) {
    const { brand, lastFour } = method.details
    print(`card        ${method.id}  ${method.status}  ${brand ?? ''} ${lastFour ?? ''}`.trimEnd())
  }
}

function printPayment(payment: Payment): void {
  print(`payment     ${payment.id}`)
  print(`status      ${payment.status}`)
  print(`amount      ${money(payment)} (minor units)`)
  print(`gateway     ${payment.gateway}`)
  print(`payable     ${payment.payable.type}:${payment.payable.id}`)
  print(`created     ${payment.createdAt.toISOString()}`)
  if (payment.checkoutUrl !== null) print(`checkout    ${payment.checkoutUrl}`)
}

function money({ amount, currency }: Payment): string {
  return `${amount} ${currency}`
}

async function list(_options: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<ListOptions>()
  const { pageView, paymentView } = await import('../../http/wire.ts')
  const { withCore } = await import('../open-core.ts')
  const { gatewayQuery } = await import('../gateway-query.ts')
  const page = await withCore((core) =>
    core.payments.list({
      ...(options.limit !== undefined && { limit: options.limit }),
      ...(options.cursor !== undefined && { cursor: options.cursor }),
      ...(options.status !== undefined && { status: options.status }),
      ...gatewayQuery(core, options.gateway),
    }),
  )
  if (options.json === true) printJson(pageView(page, paymentView))
  else if (page.data.length === 0) print('No payments.')
  else {
    const rows = page.data.map((payment) => [
      payment.id,
      payment.status,
      money(payment),
      shortTime(payment.createdAt),
      payment.gateway,
    ])
    printTable(['id', 'status', 'amount', 'created (UTC)', 'gateway'], rows)
    if (page.nextCursor !== null) print(`more: --cursor ${page.nextCursor}`)
  }
}
