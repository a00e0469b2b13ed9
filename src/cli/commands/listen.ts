import type { Command } from 'commander'
import { addExamples } from '../examples.ts'
import type { ListenOptions } from '../forward-feed.ts'
import { readTypes } from '../read-types.ts'

export function addListen(program: Command): void {
  const listen = program
    .command('listen')
    .description('send each event from now on to an app on this machine, signed, until Ctrl-C')
    .requiredOption('--forward-to <url>', 'where they go')
    .option('--secret <secret>', 'signs them: whsec_ and base64 (default: one made for this run)')
    .option('--type <names>', 'only these, separated by commas', readTypes)
    .option('--gateway <name>', 'only about what this gateway carries')
    .action(async (_options: unknown, command: Command) => {
      const { forwardFeed } = await import('../forward-feed.ts')
      await forwardFeed(command.optsWithGlobals<ListenOptions>())
    })
  addExamples(listen, [
    ['listen --forward-to http://localhost:8000/hooks'],
    ['listen --forward-to http://localhost:8000/hooks --type PaymentSucceeded --json'],
  ])
}
