import { connect } from '../../src/database/connect.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { createEventNumberer } from '../../src/outbound/number-events.ts'

/** Numbers what others commit, until it is killed. */
const database = connect({
  target: { kind: 'postgres', url: process.env['NUMBERED_URL'] ?? '' },
  log: silentLog,
  poolSize: 2,
  applicationName: 'quittance test',
})
const numberer = createEventNumberer({ database, log: silentLog, every: 1 })
setInterval(numberer.ask, 2)
process.stdout.write('numbering\n')
