import type { Command } from 'commander'
import { cardName, paymentMethodFilters } from '../../payments/payment-method.ts'
import { addExamples } from '../examples.ts'
import { addList, printPage, queryOf } from '../noun.ts'
import { print, printJson, visible } from '../output.ts'

export function addPaymentMethods(program: Command): void {
  const methods = program.command('payment-methods').description('saved cards: list, remove')
  const listCommand = addList(methods, paymentMethodFilters).action(list)
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
  const { withCore } = await import('../open-core.ts')
  const page = await withCore(async (core) =>
    core.paymentMethods.list(await queryOf(core, command, paymentMethodFilters)),
  )
  const { paymentMethodNoun } = await import('../../wire/payment-method.ts')
  await printPage(page, command, paymentMethodNoun)
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
  } else print(`Removed ${visible(cardName(method))}.`)
}
