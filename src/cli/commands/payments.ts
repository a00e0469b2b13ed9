import { Option, type Command } from 'commander'
import { QuittanceError } from '../../kernel/errors.ts'
import { paymentStatuses, type Payable, type PaymentStatus } from '../../payments/payment.ts'
import { addExamples } from '../examples.ts'
import { print, printJson, printTable, shortTime } from '../output.ts'
import { addPaging, type PagingOptions } from '../paging.ts'
import { readPayable } from '../read-payable.ts'
import { addCreatePayment } from './create-payment.ts'

interface ListOptions extends PagingOptions {
  readonly gateway?: string
  readonly status?: PaymentStatus
  readonly payable?: Payable
  readonly customer?: string
  readonly json?: boolean
}

export function addPayments(program: Command): void {
  const payments = program.command('payments').description('payments: create, show, list, cancel')
  addCreatePayment(payments)
  const showCommand = payments
    .command('show')
    .description(
      'one payment with its transitions, events (deferred ones too), refunds, disputes, reviews, cards',
    )
    .argument('<id>')
    .action(show)
  addExamples(showCommand, [['payments show 0190163d-8694-739b-aea5-966c26f8ad90']])
  const listCommand = addPaging(payments.command('list').description('newest first'))
    .option('--gateway <name>', 'only of this gateway')
    .addOption(new Option('--status <status>', 'only these').choices(paymentStatuses))
    .option('--payable <type:id>', 'only of this object, e.g. order:42', readPayable)
    .option('--customer <text>', 'only of the customer with this id or email')
    .action(list)
  addExamples(listCommand, [
    ['payments list'],
    ['payments list --status pending --limit 100'],
    ['payments list --payable order:42'],
  ])
  const cancelCommand = payments
    .command('cancel')
    .description('close the checkout of an unpaid payment, and make it canceled')
    .argument('<id>')
    .action(cancel)
  addExamples(cancelCommand, [['payments cancel 0190163d-8694-739b-aea5-966c26f8ad90']])
}

async function show(id: string, _options: unknown, command: Command): Promise<void> {
  const { paymentDetailsView } = await import('../../wire/payment-details.ts')
  const { withCore } = await import('../open-core.ts')
  const { standingsOf } = await import('../../billing/standings-of.ts')
  const { payment, standing } = await withCore(async (core) => {
    const found = await core.payments.get(id)
    if (found === undefined) {
      throw new QuittanceError('payment_not_found', `there is no payment ${JSON.stringify(id)}`)
    }
    return { payment: found, standing: (await standingsOf(core, [found]))(found) }
  })
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
    printJson(paymentDetailsView(payment))
    return
  }
  const { printHistory, printPayment, printRefund } = await import('../print-payment.ts')
  if (payment.type === 'refund') printRefund(payment)
  else printPayment(payment, standing)
  printHistory(payment)
}

async function cancel(id: string, _options: unknown, command: Command): Promise<void> {
  const { paymentView } = await import('../../wire/payment.ts')
  const { printPayment } = await import('../print-payment.ts')
  const { withCore } = await import('../open-core.ts')
  const payment = await withCore(async (core, { warnAbout }) => {
    const canceled = await core.payments.cancel(id)
    warnAbout(canceled.gateway)
    return canceled
  })
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) printJson(paymentView(payment))
  else printPayment(payment)
}

async function list(_options: unknown, command: Command): Promise<void> {
  const options = command.optsWithGlobals<ListOptions>()
  const { listedPaymentView } = await import('../../wire/listed-payment.ts')
  const { pageView } = await import('../../wire/page.ts')
  const { withCore } = await import('../open-core.ts')
  const { gatewayQuery } = await import('../gateway-query.ts')
  const { standingsOf } = await import('../../billing/standings-of.ts')
  const { page, standingOf } = await withCore(async (core) => {
    const found = await core.payments.list({
      ...(options.limit !== undefined && { limit: options.limit }),
      ...(options.cursor !== undefined && { cursor: options.cursor }),
      ...(options.status !== undefined && { status: options.status }),
      ...(options.payable !== undefined && { payable: options.payable }),
      ...(options.customer !== undefined && { customer: options.customer }),
      ...gatewayQuery(core, options.gateway),
    })
    return { page: found, standingOf: await standingsOf(core, found.data) }
  })
  if (options.json === true) printJson(pageView(page, listedPaymentView))
  else if (page.data.length === 0 && page.nextCursor === null) print('No payments.')
  else if (page.data.length === 0) print(`None so far. Look further: --cursor ${page.nextCursor}`)
  else {
    const { moneyText } = await import('../../kernel/money.ts')
    const { refundsText } = await import('../print-payment.ts')
    const { standingText } = await import('../../payments/standing.ts')
    const rows = page.data.map((payment) => [
      payment.id,
      standingText(standingOf(payment)),
      moneyText(payment),
      shortTime(payment.createdAt),
      payment.gateway,
    ])
    const refunds = page.data.map((payment) => [refundsText(payment)])
    printTable({
      headings: ['id', 'status', 'amount', 'created (UTC)', 'gateway'],
      rows,
      ...(refunds.some(([text]) => text !== '') && {
        notes: { headings: ['refunds'], rows: refunds },
      }),
    })
    if (page.nextCursor !== null) print(`more: --cursor ${page.nextCursor}`)
  }
}
