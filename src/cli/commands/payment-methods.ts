import { Option, type Command } from 'commander'
import type { Payable } from '../../payments/payment.ts'
import {
  paymentMethodStatuses,
  type PaymentMethod,
  type PaymentMethodStatus,
} from '../../payments/payment-method.ts'
import { addExamples } from '../examples.ts'
import { print, printJson, printTable, shortTime, visible } from '../output.ts'
import { readPayable } from '../read-payable.ts'
import { addPaging, type PagingOptions } from '../paging.ts'

interface ListOptions extends PagingOptions {
  readonly payable?: Payable
  readonly customer?: string
  readonly payment?: string
  readonly gateway?: string
  readonly status?: PaymentMethodStatus
  readonly json?: boolean
}

export function addPaymentMethods(program: Command): void {
  const methods = program.command('payment-methods').description('saved cards: list, remove')
  const listCommand = addPaging(methods.command('list').description('newest first'))
    .option(
      '--payable <type:id>',
      'only those saved with a payment of this object, e.g. account:7',
      readPayable,
    )
    .option(
      '--customer <id>',
      'only of this customer: the id or email of the customer of your payments',
    )
    .option('--payment <id>', 'only those that were saved with this payment')
    .option('--gateway <name>', 'only of this gateway')
    .addOption(new Option('--status <status>', 'only these').choices(paymentMethodStatuses))
    .action(list)
  addExamples(listCommand, [
    ['payment-methods list --customer 7 --status attached'],
    ['payment-methods list --payable account:7'],
  ])
  const removeCommand = methods
    .command('remove')
    .description('remove a saved card, here and at the provider')
    .argument('<id>')
    .action(remove)
  addExamples(removeCommand, [['payment-methods remove 0190163d-8694-739b-aea5-966c26f8ad90']])
}

async function list(_options: unknown, command: Command): Promise<void> {
  const { json, gateway, payment, ...rest } = command.optsWithGlobals<ListOptions>()
  const { payable, customer, cursor, limit, status } = rest
  const { pageView } = await import('../../wire/page.ts')
  const { paymentMethodView } = await import('../../wire/payment-method.ts')
  const { withCore } = await import('../open-core.ts')
  const { gatewayQuery } = await import('../gateway-query.ts')
  const page = await withCore((core) =>
    core.paymentMethods.list({
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
      ...(status !== undefined && { status }),
      ...(payable !== undefined && { payable }),
      ...(customer !== undefined && { customer }),
      ...(payment !== undefined && { paymentId: payment }),
      ...gatewayQuery(core, gateway),
    }),
  )
  if (json === true) printJson(pageView(page, paymentMethodView))
  else if (page.data.length === 0) print('No saved cards.')
  else {
    const rows = page.data.map((method) => [
      method.id,
      method.status,
      nameOf(method),
      shortTime(method.createdAt),
      method.gateway,
    ])
    printTable({ headings: ['id', 'status', 'card', 'saved (UTC)', 'gateway'], rows })
    if (page.nextCursor !== null) print(`more: --cursor ${page.nextCursor}`)
  }
}

async function remove(id: string, _options: unknown, command: Command): Promise<void> {
  const { paymentMethodView } = await import('../../wire/payment-method.ts')
  const { withCore } = await import('../open-core.ts')
  const method = await withCore(async (core, { warnAbout }) => {
    const removed = await core.paymentMethods.remove(id)
    warnAbout(removed.gateway)
    return removed
  })
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
    printJson(paymentMethodView(method))
  } else print(`Removed ${nameOf(method)}.`)
}

/** What people know a card by, e.g. `visa 4242`. */
function nameOf({ details, providerReference }: PaymentMethod): string {
  const { kind, brand = kind, lastFour } = details
  const known = [brand, lastFour].filter((part) => part !== undefined)
  return visible(known.length === 0 ? providerReference : known.join(' '))
}
