import type { Command } from 'commander'
import type { OutcomeResult } from '../../payments/outcome.ts'
import { addExamples } from '../examples.ts'
import { print, printJson, visible } from '../output.ts'

export function addPoll(program: Command): void {
  const pollCommand = program
    .command('poll')
    .description('ask the provider what became of a payment, and apply the answer')
    .argument('<payment>', 'its id')
    .action(poll)
  addExamples(pollCommand, [['poll 0190163d-8694-739b-aea5-966c26f8ad90']])
}

async function poll(payment: string, _options: unknown, command: Command): Promise<void> {
  const { pollView } = await import('../../wire/poll.ts')
  const { printPayment } = await import('../print-payment.ts')
  const { withCore } = await import('../open-core.ts')
  const { standingsOf } = await import('../../billing/standings-of.ts')
  const { polled, standing } = await withCore(async (core, { warnAbout }) => {
    const done = await core.payments.poll(payment)
    warnAbout(done.payment.gateway)
    return { polled: done, standing: (await standingsOf(core, [done.payment]))(done.payment) }
  })
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
    printJson(pollView(polled))
    return
  }
  printPayment({ ...polled.payment, standing })
  print(`standing    ${polled.standing}`)
  for (const result of polled.results) print(visible(`result      ${resultText(result)}`))
}

function resultText(result: OutcomeResult): string {
  const why = 'reason' in result ? [result.reason] : []
  const detail = result.detail === undefined ? [] : [`(${result.detail})`]
  return [result.type, result.result, ...why, ...detail].join(' ')
}
