import type { Command } from 'commander'
import { print, printJson, styled } from '../output.ts'

export function addGateways(program: Command): void {
  program
    .command('gateways')
    .description('show every gateway: callback URL, and whether it is configured')
    .action(async (_options: unknown, command: Command) => {
      const { describeGateways } = await import('../describe-gateways.ts')
      const gateways = await describeGateways()
      if (command.optsWithGlobals<{ json?: boolean }>().json === true) {
        printJson(Object.fromEntries(gateways.map(({ name, view }) => [name, view])))
        return
      }
      for (const { name, view, state } of gateways) {
        print(`${styled('bold', name)}  ${state}`)
        if (view.aliases.length > 0) print(`  also        ${view.aliases.join(', ')}`)
        print(`  callbacks   ${view.webhook_url}`)
        if (view.webhook_requires_dashboard_setup) {
          print('              must be registered on the gateway’s side')
        }
        print(`  signature   ${view.scheme}`)
      }
    })
}
