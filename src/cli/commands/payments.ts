import type { Command } from 'commander'
import { paymentFilters } from '../../payments/payment.ts'
import { addExamples } from '../examples.ts'
import { addList, found, printPage, queryOf } from '../noun.ts'
import { printJson } from '../output.ts'
import { addCreatePayment } from './create-payment.ts'

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
  const listCommand = addList(payments, paymentFilters).action(list)
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
    const one = found(await core.payments.get(id), 'payment', id)
    return { payment: one, standing: (await standingsOf(core, [one]))(one) }
  })
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
    printJson(paymentDetailsView(payment))
    return
  }
  const { printHistory, printPayment, printRefund } = await import('../print-payment.ts')
  if (payment.type === 'refund') printRefund(payment)
  else printPayment({ ...payment, standing })
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
  const { withCore } = await import('../open-core.ts')
  const { withStandings } = await import('../../billing/standings-of.ts')
  const page = await withCore(async (core) => {
    const listed = await core.payments.list(await queryOf(core, command, paymentFilters))
    return { ...listed, data: await withStandings(core, listed.data) }
  })
  const { paymentNoun } = await import('../../wire/listed-payment.ts')
  const hasRefunds = page.data.some(({ refunded }) => refunded > 0n)
  await printPage(page, command, hasRefunds ? paymentNoun : { ...paymentNoun, notes: [] })
}
