import type { Command } from 'commander'
import { addExamples } from '../examples.ts'
import { print, printJson, styled } from '../output.ts'

export function addGateways(program: Command): void {
  const gatewaysCommand = program
    .command('gateways')
    .description('show every gateway: callback URL, set-up, and whether it is configured')
    .action(gateways)
  addExamples(gatewaysCommand, [['gateways']])
}

async function gateways(_options: unknown, command: Command): Promise<void> {
  const { describeGateways } = await import('../describe-gateways.ts')
  const described = await describeGateways()
  if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
    printJson(Object.fromEntries(described.map(({ name, view }) => [name, view])))
    return
  }
  for (const { name, view, state } of described) {
    print(`${styled('bold', name)}  ${state}`)
    if (view.driver !== name) print(`  account of  ${view.driver}`)
    if (view.aliases.length > 0) print(`  also        ${view.aliases.join(', ')}`)
    print(`  callbacks   ${view.webhook_url}`)
    if (view.webhook_requires_dashboard_setup) {
      print('              register this URL in the gateway’s dashboard')
    } else if (view.callback_url_field !== null) {
      print(`              no set-up: goes along as ${view.callback_url_field} of each payment`)
    }
    print(`  signature   ${view.scheme}`)
  }
}
