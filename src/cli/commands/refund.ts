import type { Command } from 'commander'
import { QuittanceError } from '../../kernel/errors.ts'
import { addExamples } from '../examples.ts'
import { printJson } from '../output.ts'
import { readAmount } from '../read-amount.ts'

interface RefundOptions {
  readonly id?: string
  readonly amount?: number
  readonly reason?: string
  readonly json?: boolean
}

const example = 'refund 0190163d-8694-739b-aea5-966c26f8ad90'

export function addRefund(program: Command): void {
  const refundCommand = program
    .command('refund')
    .description('refund a paid payment, all of it or a part')
    .argument('<payment>', 'its id')
    .option('--amount <units>', 'minor units (default: all that is left)', readAmount)
    .option('--reason <text>', 'for the provider and the operator')
    .option('--id <uuid>', 'an id of your own: makes the command repeatable')
    .action(refund)
  addExamples(refundCommand, [[example], [`${example} --amount 500 --reason damaged`]])
}

async function refund(payment: string, _options: unknown, command: Command): Promise<void> {
  const { id, amount, reason, json } = command.optsWithGlobals<RefundOptions>()
  const { paymentView } = await import('../../wire/payment.ts')
  const { printRefund } = await import('../print-payment.ts')
  const { withCore } = await import('../open-core.ts')
  const made = await withCore(async (core, { warnAbout }) => {
    const done = await core.refunds.create(payment, { id, amount, reason })
    warnAbout(done.gateway)
    return done
  })
  if (json === true) printJson(paymentView(made))
  else printRefund(made)
  // A repeated command shows the result of the first one.
  if (made.status !== 'failed') return
  process.exitCode = 1
  if (json === true) return
  const said = made.operationError ?? 'it has failed'
  throw new QuittanceError('refund_refused', `refund ${made.id}: ${said}`)
}
