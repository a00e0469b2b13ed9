import { Option, type Command } from 'commander'
import type { CreatePaymentInput } from '../../checkout/payment-input.ts'
import { addExamples, exampleGateway } from '../examples.ts'
import { printJson } from '../output.ts'
import { readAmount } from '../read-amount.ts'
import { readJson } from '../read-json.ts'
import { readPayable } from '../read-payable.ts'
import { readTime } from '../read-time.ts'

type SameName = Omit<CreatePaymentInput, 'live' | 'amount' | 'checkout' | 'paymentMethodId'>

interface CreateOptions extends SameName {
  readonly amount: number
  readonly live?: boolean
  readonly test?: boolean
  /** False with `--no-checkout`, otherwise true. */
  readonly checkout: boolean
  readonly paymentMethod?: string
  readonly json?: boolean
  readonly verbose?: boolean
}

const order = '--amount 1999 --currency UAH --payable order:42'

export function addCreatePayment(payments: Command): void {
  const createCommand = payments
    .command('create')
    .description('create a pending payment and open its checkout')
    .requiredOption('--gateway <name>', 'gateway that takes the payment')
    .requiredOption('--amount <units>', 'minor units, e.g. 1999 for 19.99', readAmount)
    .requiredOption('--currency <code>', 'ISO 4217 code, e.g. UAH')
    .requiredOption('--payable <type:id>', 'what is paid for, e.g. order:42', readPayable)
    .option('--id <uuid>', 'an id of your own: makes the command repeatable')
    .option('--description <text>', 'what the payer and the operator read')
    .option('--return-url <url>', 'where the browser goes afterwards')
    .option('--customer <json>', 'a JSON object', readJson)
    .option('--metadata <json>', 'a JSON object', readJson)
    .option('--merchant-account <id>', 'the provider’s id of the account that gets the money')
    .addOption(new Option('--live', 'live money').conflicts('test'))
    .option('--test', 'the provider’s test mode')
    .option('--no-checkout', 'open no checkout: the payment starts elsewhere')
    .option('--checkout-reference <id>', 'the provider’s id of a checkout that started elsewhere')
    .option('--provider-reference <id>', 'the provider’s id of the charge')
    .option('--expires-at <time>', 'end of the checkout (default: in 24 hours)', readTime)
    .option('--save-card', 'save the card, so that it can be charged again')
    .option('--payment-method <id>', 'a saved card to charge at once, without a checkout')
    .addOption(
      new Option('--initiated-by <who>', 'who charges the saved card (default: customer)').choices([
        'customer',
        'merchant',
      ]),
    )
    .action(create)
  addExamples(createCommand, [
    [`payments create --gateway ${exampleGateway} ${order}`],
    [`payments create --gateway ${exampleGateway} ${order} --no-checkout`],
  ])
}

async function create(_options: unknown, command: Command): Promise<void> {
  const { json, ...options } = command.optsWithGlobals<CreateOptions>()
  const { paymentView } = await import('../../wire/payment.ts')
  const { printPayment } = await import('../print-payment.ts')
  const { withCore } = await import('../open-core.ts')
  const payment = await withCore((core, { warnAbout }) => {
    warnAbout(options.gateway)
    return core.payments.create(inputOf(options))
  })
  if (json === true) printJson(paymentView(payment))
  else printPayment(payment)
}

function inputOf(options: Omit<CreateOptions, 'json'>): CreatePaymentInput {
  const { live, test, checkout, paymentMethod, verbose: _, ...same } = options
  const mode = live === true ? { live: true } : test === true ? { live: false } : {}
  return {
    ...same,
    ...mode,
    ...(!checkout && { checkout }),
    ...(paymentMethod !== undefined && { paymentMethodId: paymentMethod }),
  }
}
